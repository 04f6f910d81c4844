"""What has been built, and how much room it takes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from airgap import engine, mirror, paths
from airgap.recipes import cluster as recipes
from airgap.recipes.engine import ENGINE
from versions import RELEASES

_UNITS = ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "kB"))


def lines() -> Iterator[str]:
    """The report, line by line."""
    yield f"engine            {_size(engine.bin_folder(), engine.is_ready())}"
    for name in RELEASES:
        yield f"mirror {name:<10} {_size(mirror.folder(name), mirror.is_ready(name))}"
    builds = {recipe.folder(): recipe for recipe in ENGINE}
    for release in RELEASES.values():
        builds |= {recipe.folder(): recipe for recipe in recipes.cluster(release)}
    yield ""
    for folder, recipe in sorted(builds.items(), key=lambda item: item[1].name):
        label = f"{recipe.name} {recipe.version.split('-')[0]}"
        yield f"{label:<38} {_size(folder, folder.exists())}"
    yield f"\n{human(paths.size(paths.cache())):>10}  in all, in {paths.cache()}"


def human(size: int) -> str:
    """A size for people."""
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size} B"


def _size(folder: Path, ready: bool) -> str:  # noqa: FBT001 - private, and clear where called
    return f"{human(paths.size(folder)):>10}" if ready else "not built"
