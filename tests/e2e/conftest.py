"""Two clusters of these tests' own, on networks of their own, away from a person's stacks.

`cluster` is made once and changed by tests one after another: each test starts from the config
that it finds, and asks for what it needs of it. `healed` is small, and its add-ons are the
addon-manager's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e import machine
from tests.e2e.cluster import Cluster
from tests.engine.cli import Config, environment

# Two pools, so that a change of one has somebody to leave alone.
CONFIG: Config = {
    "name": "e2e",
    "masters": {"count": 1},
    "pools": [
        {"name": "node", "count": 1, "kubelet": {"config": {"maxPods": 60}}},
        {"name": "big", "count": 1, "labels": {"example.com/size": "big"}},
    ],
    "network": {"hostCidr": "172.31.77.0/24"},
}
HEALED_CONFIG: Config = {
    "name": "healed",
    "masters": {"count": 1},
    "pools": [],
    "network": {"hostCidr": "172.31.78.0/24"},
    "addons": {"delivery": "addon-manager"},
}


# Only to save time: a test that finds no cluster, or not the one that it needs, has it made.
ORDER = ("hosts", "identity", "pods", "metrics", "secrets", "changes", "delivery", "destroy")
# With clusters of their own, one after another.
CLOUDS = (
    "metal",
    "members",
    "interruptions",
    "renewal",
    "clouds",
    "private",
    "spot",
    "destroy_owned",
    "rules",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Other folders' tests before all, then those that only look, last those that destroy.

    A cluster is gone before the next is made: two at once are much for two cores.
    """

    def rank(item: pytest.Item) -> tuple[int, int]:
        name = item.path.stem.removeprefix("test_")
        if item.path.parent != Path(__file__).parent:
            return 0, 0
        if name in CLOUDS:
            return 3, CLOUDS.index(name)
        return 2 if "healed" in getattr(item, "fixturenames", ()) else 1, ORDER.index(name)

    items.sort(key=rank)


@pytest.fixture(scope="session")
def variables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What plain `pulumi` and `kubectl` commands need."""
    return environment(tmp_path_factory.mktemp("e2e"))


def sweep(name: str) -> None:
    """Remove what is left of a cluster of ours, such as by a run that was killed."""
    for kind in ("container", "network", "volume"):
        for found in machine.listed(kind, name):
            force = ["--force", "--volumes"] if kind == "container" else []
            machine.run("docker", kind, "rm", *force, found, check=False)


def clusters(
    config: Config, variables: dict[str, str], factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    """A cluster that is not up yet, and that is gone afterwards."""
    sweep(config["name"])
    made = Cluster(factory.mktemp(config["name"]), variables, json.loads(json.dumps(config)))
    yield made
    if made.is_up or made.has_failed:
        made.pulumi.destroy(check=False)
    sweep(config["name"])


@pytest.fixture(scope="session")
def e2e(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from clusters(CONFIG, variables, tmp_path_factory)


@pytest.fixture(scope="session")
def healed_by_itself(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Cluster]:
    yield from clusters(HEALED_CONFIG, variables, tmp_path_factory)


@pytest.fixture
def cluster(e2e: Cluster) -> Cluster:
    """One master and two nodes, up, with whatever config the tests before have left."""
    e2e.ensure_up()
    return e2e


@pytest.fixture
def healed(healed_by_itself: Cluster) -> Cluster:
    """One master alone, up, whose add-ons are the addon-manager's."""
    healed_by_itself.ensure_up()
    return healed_by_itself


@pytest.fixture
def metrics(cluster: Cluster) -> Cluster:
    """The cluster with metrics-server."""
    if cluster.config.addons.metrics != "metrics-server":
        addons = {**cluster.wanted.get("addons", {}), "metrics": "metrics-server"}
        cluster.wanted = {**cluster.wanted, "addons": addons}
        cluster.up()
    return cluster
