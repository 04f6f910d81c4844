"""The Docker engine, by its command line: what several kinds of objects need."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import time
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal

from components.local.containers.shell import CommandError, run, say

LABEL = "io.kubernetes-anywhere"
CLUSTER, NETWORK, ROLE = f"{LABEL}.cluster", f"{LABEL}.network", f"{LABEL}.role"
ADDRESS, PORT = f"{LABEL}.address", f"{LABEL}.port"

Kind = Literal["container", "network", "volume"]
GONE_LIMIT = 60.0  # seconds that the engine gets to really remove something


def docker(*arguments: str, stdin: bytes | None = None) -> str:
    """Run the docker CLI."""
    return run(["docker", *arguments], stdin=stdin)


def inspect(kind: Kind, name: str) -> dict[str, Any] | None:
    """What the engine knows about an object, or None when there is no such object."""
    try:
        found: list[dict[str, Any]] = json.loads(docker(kind, "inspect", name))
    except CommandError as error:
        if "no such" in str(error).lower() or "not found" in str(error).lower():
            return None
        raise
    return found[0]


def label_options(labels: Mapping[str, str]) -> list[str]:
    """Labels as options of `docker ... create`."""
    return [option for key in sorted(labels) for option in ("--label", f"{key}={labels[key]}")]


def put_files(container: str, files: Mapping[str, tuple[int, str]]) -> None:
    """Write {path: (mode, text)} into a container, running or not.

    They travel over standard input, so that keys are in no argument list and in no `docker inspect`.
    """
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w") as tar:
        for path, (mode, text) in files.items():
            entry = tarfile.TarInfo(path.lstrip("/"))
            content = text.encode()
            entry.size, entry.mode, entry.mtime = len(content), mode, int(time.time())
            tar.addfile(entry, io.BytesIO(content))
    docker("cp", "-", f"{container}:/", stdin=archive.getvalue())


def remove(kind: Kind, name: str) -> None:
    """Remove an object until it is gone; one that is not there or only half made is no problem."""
    options = {"container": ["--force", "--volumes"], "network": [], "volume": ["--force"]}[kind]
    limit = time.monotonic() + GONE_LIMIT
    while True:
        try:
            docker(kind, "rm", *options, name)
        except CommandError:
            # Somebody else may be removing it, or a container that uses it may still be ending.
            if inspect(kind, name) is None:
                return
            if time.monotonic() > limit:
                raise
            time.sleep(0.2)
            continue
        if inspect(kind, name) is None:
            return


def listed(kind: Kind, *filters: str) -> list[str]:
    """The ids (of volumes: the names) of all objects that pass the filters."""
    every = ["--all"] if kind == "container" else []
    chosen = [option for text in filters for option in ("--filter", text)]
    return docker(kind, "ls", "--quiet", *every, *chosen).split()


@cache
def shares_our_network() -> bool:
    """Whether the host reaches containers by their addresses.

    Docker Desktop, on every system, keeps them in a virtual machine: only ports that are published
    on the loopback address can be reached there.
    """
    system = docker("info", "--format", "{{.OperatingSystem}}").strip()
    return sys.platform == "linux" and "Docker Desktop" not in system


def ensure_image(tag: str) -> None:
    """Make the machine image if that is what is asked for and it is not there yet."""
    from components.local.image import build  # only here: the image's folder is hashed on use

    if build.image_exists(tag):
        return
    if tag != build.image_tag():
        raise CommandError(f"there is no image {tag} on this Docker engine")
    say(f"the image {tag} is not there yet, so it is made now")
    build.ensure_image()
