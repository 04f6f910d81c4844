"""Files that a local command leaves behind, as assets with the engine's hashes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from airgap.plugins.command.globs import select
from airgap.plugins.protocol import PluginError
from airgap.plugins.values import Asset, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def collect_assets(directory: str, patterns: Sequence[str]) -> dict[str, Value]:
    """Return the files below a directory that the patterns choose."""
    root = directory or "."
    return {
        path: _file_asset(path, str(Path(directory, path)))
        for path in select(sorted(_files(root)), patterns)
    }


def collect_archive(directory: str, patterns: Sequence[str]) -> Asset:
    """Return the same files as one archive."""
    assets = collect_assets(directory, patterns)
    return Asset(archive=True, hash=_archive_hash(assets), assets=assets)


def _files(root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in [*names, *links]:
            path = Path(folder, name)
            if path.is_symlink() or path.is_file():
                yield path.relative_to(root).as_posix()


def _file_asset(path: str, place: str) -> Asset:
    if Path(place).is_dir():
        raise PluginError(f"asset path '{path}' is a directory; try using an archive")
    with Path(place).open("rb") as file:
        return Asset(hash=hashlib.file_digest(file, "sha256").hexdigest(), path=place)


def _archive_hash(assets: dict[str, Value]) -> str:
    # Only compared with itself: any digest of names and contents will do.
    digest = hashlib.sha256()
    for path, asset in sorted(assets.items()):
        content = asset.hash if isinstance(asset, Asset) else ""
        digest.update(f"{path}\0{content}\0".encode())
    return digest.hexdigest()
