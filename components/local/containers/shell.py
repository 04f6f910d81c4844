"""Runs other programs, and says in words what went wrong when one of them fails."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_TAIL = 2000  # characters of a failed program's output that are worth reading
_TITLE = 120  # and of what ran


if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


class CommandError(RuntimeError):
    """Something that this program needed from the machine failed; the text is for people."""


def run(
    argv: Sequence[str],
    *,
    stdin: bytes | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> str:
    """Run a program and return its standard output; `stdin` is never shown, it may hold keys."""
    try:
        done = subprocess.run(
            argv,
            input=b"" if stdin is None else stdin,
            env={**os.environ, **env} if env else None,
            cwd=cwd,
            timeout=timeout,
            capture_output=True,
            check=False,
        )
    except FileNotFoundError:
        raise CommandError(f"{argv[0]} is not installed or not on PATH") from None
    except subprocess.TimeoutExpired:
        raise CommandError(f"`{_words(argv)}` did not end within {timeout:g} s") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip()).decode(errors="replace")
        raise CommandError(
            f"`{_words(argv)}` failed with code {done.returncode}: "
            f"{said[-_TAIL:] or 'it said nothing'}"
        )
    return done.stdout.decode(errors="replace")


def _words(argv: Sequence[str]) -> str:
    """What ran, short enough for a message."""
    text = " ".join(argv)
    return text if len(text) <= _TITLE else f"{text[:_TITLE]} …"


def say(text: str) -> None:
    """Tell people what goes on; standard output is for answers."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def can_apt() -> bool:
    """Whether this process may install Debian packages."""
    return bool(shutil.which("apt-get")) and is_root()


def is_root() -> bool:
    """Whether this process has the rights of root (never so on Windows)."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def apt_install(*packages: str) -> None:
    """Install Debian packages with as little else as possible."""
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "--no-install-recommends", *packages]
    try:
        run(command, env=quiet)
    except CommandError:  # the lists of a fresh machine are empty or old
        run(["apt-get", "update"], env=quiet)
        run(command, env=quiet)


def state_folder() -> Path:
    """Where this program keeps what is about this machine; made for the user alone."""
    return _folder("XDG_STATE_HOME", ".local/state")


def cache_folder() -> Path:
    """Where this program keeps what can be made again."""
    return _folder("XDG_CACHE_HOME", ".cache")


def _folder(variable: str, default: str) -> Path:
    base = os.environ.get(variable)
    folder = (Path(base) if base else Path.home() / default) / "kubernetes-anywhere"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock while this process lives. Its file stays, since removing it would race."""
    with path.open("w") as file:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
