"""The program that holds a pod's namespaces: a page of C in the Kubernetes module."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from airgap import gobuild, paths
from airgap.progress import BuildError, Step
from airgap.recipes import cluster as recipes
from airgap.tools import check_c, tail
from versions import Release

_FLAGS = ("-Os", "-Wall", "-static", "-s")


def _version(release: Release) -> str:
    return release.images["pause"].rsplit(":", 1)[1]


def program(release: Release) -> Path:
    """Where it is once built."""
    key = hashlib.sha256(repr((_FLAGS, release.kubernetes)).encode()).hexdigest()[:12]
    return paths.cache() / "bin" / "pause" / f"{_version(release)}-{key}" / "pause"


def step(release: Release) -> Step:
    """The build as a step."""
    return Step(
        label=f"pause {_version(release)}",
        made=program(release).exists,
        make=lambda _: _make(release),
    )


def _make(release: Release) -> None:
    check_c()
    build = recipes.kubernetes(release)
    source = gobuild.module_source(build.module, build.version) / "build/pause/linux/pause.c"
    target = program(release)
    with paths.locked("bin-pause"), paths.scratch("pause") as work:
        command = ["gcc", *_FLAGS, f"-DVERSION={_version(release)}", "-o", "pause", str(source)]
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BuildError(f"{' '.join(command)}:\n{tail(done.stderr)}")
        target.parent.mkdir(parents=True, exist_ok=True)
        (work / "pause").rename(target)
