"""The files that a host downloads, packed as upstream packs them: phase 2 sees no difference."""

from __future__ import annotations

from collections.abc import Mapping

from airgap.gobuild import GoBuild
from airgap.mirror.oci import Entry
from airgap.recipes import cluster as recipes


def packed(build: GoBuild, folder: str) -> tuple[Entry, ...]:
    """All programs of a build in one folder of an archive."""
    return tuple(
        Entry(path=f"{folder}/{name}", content=build.program(name)) for name in build.programs()
    )


def contents() -> Mapping[str, tuple[Entry, ...]]:
    """What is in each archive, by its name in the version table; one without a path is no tar."""
    return {
        "containerd": packed(recipes.CONTAINERD, "bin"),
        "runc": (Entry(path="", content=recipes.RUNC.program("runc")),),
        "cni-plugins": packed(recipes.CNI_PLUGINS, "."),
    }
