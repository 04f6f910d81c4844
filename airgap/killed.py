"""Takes away what `pulumi` commands that were killed have left, so that the next one just goes on.

    python -m airgap.killed STACK

A command that ends takes its lock away itself. One that was killed cannot, and Pulumi then refuses
every other one until somebody has looked whether it still runs. Here that is looked at: only locks
of processes that ran on this computer and run no more go.

It also leaves what it was doing in the stack's state, as pending operations. The next update drops
them, but for creations: these it keeps, and warns of them, until somebody has looked what is there.
Where everything that was being made is such that making it again does no harm, nobody has to look.
Of backends, only files are known: of others nothing says whether a command is still at work.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = "pulumi"
# The packages whose resources can be made again, whether the first time had come to its end or not:
# steps are written so, keys and certificates are made anew, Kubernetes objects are applied.
REPEATABLE = frozenset({"command", "kubernetes", "pulumi", "tls"})

Document = Mapping[str, Any]  # what `pulumi stack export` prints: {"version", "deployment": {...}}


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
        found = (process / "stat").read_text()
    except OSError:
        return True
    # `10 (pulumi) S 1 ...`; Z is one that has ended, and that its parent does not ask for.
    name, _, rest = found.partition("(")[2].rpartition(")")
    return name != PROGRAM or rest.split()[0] == "Z"


def remove_dead(locks: Iterable[Path]) -> list[Path]:
    """Remove the locks of dead commands; those that were removed."""
    dead = [lock for lock in locks if is_dead(lock)]
    for lock in dead:
        lock.unlink(missing_ok=True)
    return dead


def pending_operations(document: Document) -> list[Document]:
    """What a command had begun when it was killed: {"type": "creating", "resource": {...}}."""
    return (document.get("deployment") or {}).get("pending_operations") or []


def is_repeatable(operation: Document) -> bool:
    """Whether it can just be begun again: it made something new, which may be there, or did not."""
    resource = operation["resource"]
    package = resource["type"].partition(":")[0]
    # A component is nothing outside of the state.
    is_real = resource.get("custom", False) and package not in REPEATABLE
    return operation["type"] != "creating" or not is_real


def without_pending(document: Document) -> Document:
    """The same state, in which nothing has been begun."""
    deployment = {k: v for k, v in document["deployment"].items() if k != "pending_operations"}
    return {**document, "deployment": deployment}


def forget_pending(
    stack: str, folder: Path, environment: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Forget what a command had begun. All of it or, where something has to be looked at, nothing.

    Its URNs: those that were forgotten, and those to look at. `pulumi stack import` knows only all
    or nothing. The state is in memory and on pipes only, its secrets encrypted as they are in it.
    Raises CalledProcessError; the command has said why.
    """

    def pulumi(verb: str, text: str | None = None) -> str:
        command = (PROGRAM, "stack", verb, "--stack", stack, "--non-interactive")
        return subprocess.run(
            command,
            cwd=folder,
            env=dict(environment),
            input=text,
            check=True,
            text=True,
            stdout=subprocess.PIPE,
        ).stdout

    document: Document = json.loads(pulumi("export"))
    begun = pending_operations(document)
    unsure = [item["resource"]["urn"] for item in begun if not is_repeatable(item)]
    if unsure or not begun:
        return [], unsure
    pulumi("import", json.dumps(without_pending(document)))
    return [item["resource"]["urn"] for item in begun], []


def go_on(stack: str, folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Take away what keeps the next command from going on; what to tell of it, line by line.

    `folder`: where Pulumi.yaml is. Nothing is touched while another command is at work.
    Raises CalledProcessError.
    """
    project = str(yaml.safe_load((folder / "Pulumi.yaml").read_text())["name"])
    backend = environment["PULUMI_BACKEND_URL"]
    locks = lock_files(backend, project, stack)
    removed = remove_dead(locks)
    if urlsplit(backend).scheme != "file" or removed != locks:
        return []
    forgotten, unsure = forget_pending(stack, folder, environment)
    lines = []
    if removed or forgotten:
        lines = [f"an earlier command on the stack {stack} was killed; this one goes on from there"]
    if unsure:
        lines += [
            "a command that was killed was making these; only their cloud knows if they are there:",
            *(f"  {urn}" for urn in unsure),
            "look in the account, and say what is so to `pulumi refresh`, which asks about each;",
            "an `up` before that makes them once more: it fails, or there are two",
        ]
    return lines


def main() -> int:
    """Entry point."""
    (stack,) = sys.argv[1:]
    try:
        # The backend is in it: `make` always sets it.
        lines = go_on(stack, ROOT, os.environ)
    except subprocess.CalledProcessError:
        return 1  # the command has said why
    print("\n".join(lines), end="\n" if lines else "", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
