"""Where things are kept on this computer."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_NAME = "kubernetes-anywhere"


def cache() -> Path:
    """What can be made again: builds, blobs, mirrors, the engine."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / _NAME


def state() -> Path:
    """What cannot be made again: stacks, the passphrase."""
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / _NAME


def work() -> Path:
    """Where half-made things lie: below the cache, so that a rename moves them into place."""
    folder = cache() / "work"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextlib.contextmanager
def scratch(name: str, *, unique: bool = True) -> Iterator[Path]:
    """A folder that is gone afterwards, whatever is left in it."""
    if unique:
        folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=work()))
    else:  # for callers that hold a lock; what an ended process left goes first
        folder = work() / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    folder.chmod(0o755)  # what is renamed out of it is read by others, such as a web server
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Only one process at a time makes the thing of that name; the others find it made."""
    import fcntl  # noqa: PLC0415 - not on Windows, where nothing is built

    folder = cache() / "locks"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released when the file is closed, even by a crash
        yield


def place(source: Path, target: Path) -> None:
    """Give a file a second name, at once; a copy where the file system has no links."""
    if target.exists() and target.samefile(source):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        partial.hardlink_to(source)
    except OSError:
        shutil.copy2(source, partial)
    partial.replace(target)


def write(target: Path, text: str, mode: int = 0o644) -> None:
    """Write a small file whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # Another one each time: threads of one process may write the same file.
    handle, partial = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        os.fchmod(handle, mode)
    Path(partial).replace(target)


def size(path: Path) -> int:
    """Bytes below a folder, each file counted once however many names it has."""
    seen: dict[tuple[int, int], int] = {}
    for folder, _, files in os.walk(path):
        for name in files:
            found = os.lstat(Path(folder) / name)
            seen[found.st_dev, found.st_ino] = found.st_size
    return sum(seen.values())
