"""Container images by hand: layers, a config, a manifest, each a blob named by its hash."""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any

from backports import zstd

MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json"
CONFIG_TYPE = "application/vnd.oci.image.config.v1+json"
LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar+zstd"

_CHUNK = 1 << 20
# Each host unpacks every layer: from zstd in a fifth of the time that gzip takes. Archives are what
# upstream's names say.
_ZSTD_LEVEL, _GZIP_LEVEL = 3, 1
PACKING = f"zstd {_ZSTD_LEVEL}, gzip {_GZIP_LEVEL}"  # in the name of whatever is kept of them
_BEGINNING = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, kw_only=True, slots=True)
class Blob:
    """Bytes in the store."""

    digest: str  # sha256:...
    size: int
    diff_id: str = ""  # of a layer: the digest before compression


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A file, folder (no content) or symbolic link (target) of a layer."""

    path: str  # without a leading slash
    content: bytes | Path | None = None
    target: str = ""
    mode: int = 0o755

    def info(self) -> tarfile.TarInfo:
        """The tar header."""
        found = tarfile.TarInfo(self.path)
        found.mode = self.mode
        if self.target:
            found.type, found.linkname = tarfile.SYMTYPE, self.target
        elif self.content is None:
            found.type = tarfile.DIRTYPE
        elif isinstance(self.content, Path):
            found.size = self.content.stat().st_size
        else:
            found.size = len(self.content)
        return found


@dataclass(frozen=True, kw_only=True, slots=True)
class ImageConfig:
    """How a container of the image is started."""

    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""
    environment: tuple[str, ...] = field(
        default=("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",)
    )

    def document(self) -> dict[str, Any]:
        """As the specification spells it."""
        found: dict[str, Any] = {
            "Entrypoint": list(self.entrypoint),
            "Cmd": list(self.command),
            "User": self.user,
            "Env": list(self.environment),
        }
        return {name: value for name, value in found.items() if value}


class Store:
    """A folder of blobs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, digest: str) -> Path:
        """Where a blob is."""
        return self._folder / digest.replace(":", "/")

    def put(self, content: bytes) -> Blob:
        """Keep some bytes."""
        with self._writing() as (name, file):
            file.write(content)
        return self._keep(name, file)

    def put_layer(self, entries: Iterable[Entry]) -> Blob:
        """Keep a layer of files. The same files always give the same blob."""
        return self._put_tar(lambda tar: _add_all(tar, entries), _zstd)

    def put_archive(self, entries: Iterable[Entry]) -> Blob:
        """Keep a .tar.gz of files. The same files always give the same blob."""
        return self._put_tar(lambda tar: _add_all(tar, entries), _gzip)

    def put_tree(self, root: Path, paths: Iterable[Path]) -> Blob:
        """Keep a layer of what lies below a folder, owners and modes included."""

        def fill(tar: tarfile.TarFile) -> None:
            for path in sorted(paths):
                found = tar.gettarinfo(path, arcname=str(path.relative_to(root)))
                found.uname = found.gname = ""
                found.mtime = 0
                if found.islnk():  # a file with two names is two files: order does not matter
                    found.type, found.linkname, found.size = (
                        tarfile.REGTYPE,
                        "",
                        path.stat().st_size,
                    )
                _add(tar, found, path if found.isreg() else None)

        return self._put_tar(fill, _zstd)

    def put_image(self, layers: Sequence[Blob], config: ImageConfig, architecture: str) -> Blob:
        """Keep the config and the manifest of an image; returns the manifest."""
        document = {
            "architecture": architecture,
            "os": "linux",
            "created": _BEGINNING,
            "config": config.document(),
            "rootfs": {"type": "layers", "diff_ids": [layer.diff_id for layer in layers]},
            "history": [{"created": _BEGINNING} for _ in layers],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST_TYPE,
            "config": _descriptor(self.put(_json(document)), CONFIG_TYPE),
            "layers": [_descriptor(layer, LAYER_TYPE) for layer in layers],
        }
        return self.put(_json(manifest))

    def _put_tar(self, fill: Callable[[tarfile.TarFile], None], pack: _Pack) -> Blob:
        with self._writing() as (name, file), pack(file) as packed:
            plain = _Hashing(packed)
            with tarfile.open(fileobj=plain, mode="w|", bufsize=_CHUNK) as tar:  # type: ignore[call-overload]
                fill(tar)
        return dataclasses.replace(self._keep(name, file), diff_id=plain.digest())

    @contextlib.contextmanager
    def _writing(self) -> Iterator[tuple[Path, _Hashing]]:
        self._folder.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".partial-", dir=self._folder)
        with os.fdopen(handle, "wb") as file:
            yield Path(name), _Hashing(file)

    def _keep(self, partial: Path, file: _Hashing) -> Blob:
        target = self.path(file.digest())
        target.parent.mkdir(parents=True, exist_ok=True)
        partial.chmod(0o644)
        if target.exists():  # and has other names on mirrors already
            partial.unlink()
        else:
            partial.rename(target)
        return Blob(digest=file.digest(), size=target.stat().st_size)


class _Hashing:
    """As much of a file as packers and tar write to, hashed on the way."""

    def __init__(self, file: IO[bytes] | gzip.GzipFile | zstd.ZstdFile) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def write(self, content: bytes) -> int:
        self._hash.update(content)
        return self._file.write(content)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """Nothing: whoever opened the file closes it."""

    def digest(self) -> str:
        return f"sha256:{self._hash.hexdigest()}"


_Pack = Callable[[_Hashing], gzip.GzipFile | zstd.ZstdFile]


def _zstd(file: _Hashing) -> zstd.ZstdFile:
    return zstd.ZstdFile(file, "wb", level=_ZSTD_LEVEL)


def _gzip(file: _Hashing) -> gzip.GzipFile:
    return gzip.GzipFile("", "wb", _GZIP_LEVEL, file, mtime=0)


def with_parents(entries: Iterable[Entry]) -> list[Entry]:
    """The entries in order of path, with the folders that they lie in."""
    found: dict[str, Entry] = {}
    for entry in entries:
        for parent in PurePosixPath(entry.path).parents:
            if str(parent) != ".":
                found.setdefault(str(parent), Entry(path=str(parent)))
        found[entry.path] = entry
    return [found[path] for path in sorted(found)]


def blobs_of(manifest: bytes) -> list[str]:
    """The digests that a manifest names."""
    document = json.loads(manifest)
    return [part["digest"] for part in (document["config"], *document["layers"])]


def _add_all(tar: tarfile.TarFile, entries: Iterable[Entry]) -> None:
    for entry in with_parents(entries):
        _add(tar, entry.info(), entry.content)


def _add(tar: tarfile.TarFile, info: tarfile.TarInfo, content: bytes | Path | None) -> None:
    if isinstance(content, Path):
        with content.open("rb") as file:
            tar.addfile(info, file)
    else:
        tar.addfile(info, io.BytesIO(content) if content is not None else None)


def _descriptor(blob: Blob, media_type: str) -> dict[str, str | int]:
    return {"mediaType": media_type, "digest": blob.digest, "size": blob.size}


def _json(document: object) -> bytes:
    return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
