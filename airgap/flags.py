"""The flags that each program knows, read from the programs: `flags/<minor>/<component>.txt`."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from airgap import gobuild, paths, progress
from airgap.gobuild import GoBuild
from airgap.recipes import cluster as recipes
from versions import Release

FOLDER = Path(__file__).resolve().parent.parent / "flags"
_SECONDS = 60
# `  -v, --v Level`, `      --address ip`, etcd's `  --name 'default'`
_FLAG = re.compile(r"^\s+(?:-\w, )?--([a-zA-Z0-9][\w.-]*)", re.MULTILINE)


def components(release: Release) -> Mapping[str, GoBuild]:
    """The programs whose flags are kept, and where each is built."""
    kubernetes = recipes.kubernetes(release)
    names = ("kubelet", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy")
    return {**dict.fromkeys(names, kubernetes), "etcd": recipes.etcd(release)}


def parse(text: str) -> list[str]:
    """The flags in a help text."""
    return sorted(set(_FLAG.findall(text)))


def write(releases: Sequence[Release]) -> None:
    """Build what is missing and write the files of some releases. Raises BuildError."""
    chosen = [components(release) for release in releases]
    builds = {build.folder(): build for known in chosen for build in known.values()}
    progress.run([gobuild.step(build) for build in builds.values()])
    for release, known in zip(releases, chosen, strict=True):
        for name, build in known.items():
            found = parse(_help(build.program(name)))
            if not found:
                raise progress.BuildError(f"{name} --help of {release.kubernetes} shows no flags")
            target = FOLDER / release.minor / f"{name}.txt"
            paths.write(target, "\n".join(found) + "\n")
            progress.say(f"{target.relative_to(FOLDER.parent)}: {len(found)} flags")


def _help(program: Path) -> str:
    done = subprocess.run(
        [program, "--help"], capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    return done.stdout + done.stderr
