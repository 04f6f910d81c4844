"""Takes away the locks of `pulumi` commands that were killed, so that the next one just goes on.

    python -m airgap.locks STACK

A command that ends takes its lock away itself. One that was killed cannot, and Pulumi then refuses
every other one until somebody has looked whether it still runs. Here that is looked at: only locks
of processes that ran on this computer and run no more go. Of backends, only files are known.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import yaml

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "pulumi"


def lock_files(backend: str, project: str, stack: str) -> list[Path]:
    """The locks of a stack, by its backend's URL; none where these are no files."""
    url = urlsplit(backend)
    if url.scheme != "file":
        return []
    folder = Path(unquote(url.netloc + url.path)).expanduser()
    return sorted(folder.glob(f".pulumi/locks/organization/{project}/{stack}/*.json"))


def is_dead(lock: Path, processes: Path = Path("/proc")) -> bool:
    """Whether the command that took the lock ran here, and has ended without giving it back."""
    try:
        said = json.loads(lock.read_text())
        here, process = said["hostname"] == socket.gethostname(), processes / str(int(said["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False  # given back just now, or nothing that we know
    if not here or not (processes / "self").exists():
        return False
    try:
        return (process / "comm").read_text().strip() != PROGRAM
    except OSError:
        return True


def remove_dead(locks: Iterable[Path]) -> list[Path]:
    """Remove the locks of dead commands; those that were removed."""
    dead = [lock for lock in locks if is_dead(lock)]
    for lock in dead:
        lock.unlink(missing_ok=True)
    return dead


def main() -> int:
    """Entry point."""
    project = str(yaml.safe_load((ROOT / "Pulumi.yaml").read_text())["name"])
    (stack,) = sys.argv[1:]
    # `make` always sets it.
    if remove_dead(lock_files(os.environ["PULUMI_BACKEND_URL"], project, stack)):
        print(f"an earlier command on the stack {stack} was killed; this one goes on from there")
    return 0


if __name__ == "__main__":
    sys.exit(main())
