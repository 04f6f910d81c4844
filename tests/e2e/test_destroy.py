"""`pulumi destroy` leaves nothing on this computer, also of a cluster that is dead already."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.e2e import machine
from tests.e2e.cluster import Cluster
from tests.e2e.machine import Footprint
from tests.engine.cli import ROOT

pytestmark = pytest.mark.e2e


def temporary_files() -> set[Path]:
    """What the program keeps for moments, and what its plugins leave where anybody may look."""
    shared, ours = Path("/tmp"), Path(tempfile.gettempdir())
    moments = {path for folder in (shared, ours) for path in folder.glob("kubernetes-anywhere-*")}
    return moments | set(shared.glob("kubeconfig*"))


def assert_nothing_is_left(cluster: Cluster, before: Footprint) -> None:
    """Neither of what the engine made, nor in the state, nor beside the program."""
    assert before.left() == {}
    for kind in ("container", "network", "volume"):
        assert machine.listed(kind, cluster.name) == []
    assert cluster.pulumi.resources() == []
    assert [path.name for path in ROOT.glob(f"*{cluster.name}*")] == []
    assert cluster.pulumi.file.exists(), "a person's config is not ours to remove"


def test_the_footprint_of_a_running_cluster_is_seen(cluster: Cluster) -> None:
    """Or the tests below would look for nothing."""
    seen = machine.footprint(cluster.name).left()
    assert seen.keys() >= {"containers", "networks", "volumes", "processes", "mounts", "files"}
    assert seen.keys() >= {"interfaces", "routes", "rules"}
    assert len(seen["containers"]) >= len(cluster.hosts) + 1


def test_destroy_leaves_nothing(cluster: Cluster) -> None:
    before, temporary = machine.footprint(cluster.name), temporary_files()
    done = cluster.destroy()
    assert_nothing_is_left(cluster, before)
    assert temporary_files() <= temporary
    assert done.seconds < 120, done.explained()


def test_destroy_of_a_dead_cluster_leaves_nothing_either(healed: Cluster) -> None:
    """A08, C04: neither steps nor objects wait for a host or an API that is gone."""
    before = machine.footprint(healed.name)
    machine.run("docker", "rm", "--force", *machine.listed("container", healed.name))
    done = healed.destroy()
    assert_nothing_is_left(healed, before)
    assert done.seconds < 60, done.explained()
