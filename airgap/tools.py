"""Programs that have to be on this computer before anything can be built."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence

from airgap import paths
from airgap.progress import BuildError

GO_MINIMUM = (1, 26)
_TAIL = 25  # lines of a failed command that are shown


def check_c(headers: Sequence[str] = ()) -> None:
    """Get a C compiler and headers, by pkg-config name. Raises BuildError."""
    missing = [] if shutil.which("gcc") else ["gcc", "libc6-dev"]
    install(missing + (_missing_headers(headers) if headers else []))


def install(packages: list[str]) -> None:
    """Install Debian packages where that is allowed, else say what to do. Raises BuildError."""
    if not packages:
        return
    names = " ".join(packages)
    if not shutil.which("apt-get") or os.geteuid() != 0:
        raise BuildError(f"install these packages first: {names} (apt-get install {names})")
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    lock = ("-o", "DPkg::Lock::Timeout=300")
    with paths.locked("apt"):
        for command in (
            ["apt-get", *lock, "update", "--quiet"],
            ["apt-get", *lock, "install", "--quiet", "--yes", "--no-install-recommends", *packages],
        ):
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise BuildError(f"{' '.join(command)}:\n{tail(done.stdout + done.stderr)}")


def check_go() -> None:
    """Whether Go is there and new enough. Raises BuildError."""
    wanted = ".".join(map(str, GO_MINIMUM))
    hint = f"install Go {wanted} or later (https://go.dev/doc/install) and put it on PATH"
    if not shutil.which("go"):
        raise BuildError(f"Go is needed to build from source and was not found: {hint}")
    text = subprocess.run(["go", "version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"go([0-9]+)\.([0-9]+)", text)
    if not found or (int(found[1]), int(found[2])) < GO_MINIMUM:
        raise BuildError(f"this Go is too old ({text.strip()}): {hint}")


def _missing_headers(names: Sequence[str]) -> list[str]:
    if not shutil.which("pkg-config"):
        return ["pkg-config", *(f"{name}-dev" for name in names)]
    return [
        f"{name}-dev"
        for name in names
        if subprocess.run(["pkg-config", "--exists", name], check=False).returncode
    ]


def tail(text: str) -> str:
    """The last lines of what a command printed."""
    return "\n".join(text.strip().splitlines()[-_TAIL:])
