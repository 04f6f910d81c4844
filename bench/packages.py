"""What kubeadm needs beside what our own clusters do: its program, and a place to fetch it from."""

from __future__ import annotations

import dataclasses
import hashlib
import shutil
from pathlib import Path

from airgap import gobuild, mirror, paths
from airgap.gobuild import GoBuild
from airgap.recipes import KUBERNETES
from airgap.recipes import cluster as recipes
from bootstrap.render import Download
from config import ClusterConfig
from versions import Release

# On every host of a kubeadm cluster. The last part of a file's name is cut off on a host.
PROGRAMS = ("kubelet", "kubeadm")


def kubeadm(release: Release) -> GoBuild:
    """The program; from the same source as the rest of the release, and only built for this."""
    return dataclasses.replace(
        recipes.kubernetes(release), name="kubeadm", packages=(f"{KUBERNETES}/cmd/kubeadm",)
    )


def _programs(release: Release) -> dict[str, Path]:
    return {
        "kubelet": recipes.kubernetes(release).program("kubelet"),
        "kubeadm": kubeadm(release).program("kubeadm"),
    }


def fill(release: Release) -> Path:
    """The release's mirror and kubeadm's programs, as a folder of links. Raises BuildError."""
    gobuild.make(kubeadm(release))
    source, target = mirror.folder(release.kubernetes), paths.cache() / "bench" / release.kubernetes
    shutil.rmtree(target, ignore_errors=True)
    files = {path.relative_to(source): path for path in source.rglob("*") if path.is_file()}
    programs = {Path("archives", file_of(name)): path for name, path in _programs(release).items()}
    for name, path in (files | programs).items():
        paths.place(path, target / name)
        with path.open("rb") as file:  # from now on nobody waits for a disk
            hashlib.file_digest(file, "sha256")
    return target


def file_of(program: str) -> str:
    """The name of a program's file on the mirror."""
    return f"{program}.program"


def downloads(config: ClusterConfig, mirror_url: str, folder: Path) -> tuple[Download, ...]:
    """The programs as a host fetches them from the mirror, whose folder is given."""
    found = []
    for name in PROGRAMS:
        file = file_of(name)
        with (folder / "archives" / file).open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        version = config.kubernetes_version
        found.append(
            Download(
                folder=f"{name}-{version}",
                file=file,
                url=f"{mirror_url}/archives/{file}",
                sha256=digest,
            )
        )
    return tuple(found)


def flannel_manifest() -> str:
    """The manifest that flannel's documentation has people apply, of the version that we run.

    Raises BuildError.
    """
    build = recipes.FLANNEL
    folder = gobuild.module_source(build.module, build.version)
    return (folder / "Documentation" / "kube-flannel.yml").read_text()
