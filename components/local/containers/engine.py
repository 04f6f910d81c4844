"""The Docker engine, by its command line: what several kinds of objects need."""

from __future__ import annotations

import io
import json
import sys
import tarfile
import time
from typing import TYPE_CHECKING, Any, Literal

from components.local.containers.shell import CommandError, run, say
from components.local.image.build import ensure_image as make_image
from components.local.image.build import image_tag

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LABEL = "io.kubernetes-anywhere"
CLUSTER, NETWORK, ROLE = f"{LABEL}.cluster", f"{LABEL}.network", f"{LABEL}.role"
ADDRESS, PORT = f"{LABEL}.address", f"{LABEL}.port"
PUBLISHED = f"{LABEL}.published"  # on a network: its containers are reached by published ports only

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

    They travel over standard input: keys must be in no argument list and in no `docker inspect`.
    """
    if not files:
        return
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
        else:
            return


def listed(kind: Kind, *filters: str) -> list[str]:
    """The ids (of volumes: the names) of all objects that pass the filters."""
    every = ["--all"] if kind == "container" else []
    chosen = [option for text in filters for option in ("--filter", text)]
    return docker(kind, "ls", "--quiet", *every, *chosen).split()


def needs_published_ports() -> bool:
    """Whether the host cannot reach containers by their addresses.

    Docker Desktop, on every system, keeps them in a virtual machine: only ports that are published
    on the loopback address can be reached there.
    """
    system = docker("info", "--format", "{{.OperatingSystem}}").strip()
    return sys.platform != "linux" or "Docker Desktop" in system


def create(arguments: Sequence[str], image: str) -> None:
    """Run `docker create`; the machine image is made first when it is the one that is missing."""
    try:
        docker("create", "--pull=never", *arguments)
    except CommandError as error:
        if "no such image" not in str(error).lower():
            raise
        if image != image_tag():
            raise CommandError(f"there is no image {image} on this Docker engine") from None
        say(f"the image {image} is not there yet, so it is made now")
        make_image()
        docker("create", "--pull=never", *arguments)
