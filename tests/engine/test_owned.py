"""The real engine: what a cluster has made goes before its machines, and at no other time.

The API server and the controller of the load balancer are simulated; machine and way are files.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bootstrap.api_server import make_keys, serving
from tests.bootstrap.releasing import deletions
from tests.bootstrap.simulated_cluster import SimulatedCluster, cloud_controller, going, service
from tests.engine.cli import ROOT, Pulumi

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).parent / "owned"
TURNS = 3  # that the simulated controller takes


class Cluster:
    """The stack of the small program, its simulated API server and what there is of its cloud."""

    def __init__(self, folder: Path, variables: dict[str, str], request: dict[str, Any]) -> None:
        self.folder = folder / "cloud"
        self.folder.mkdir()
        self.request = request
        program = shutil.copytree(PROGRAM, folder / "program")
        # A step runs modules of the folder that its program is in.
        (program / "bootstrap").symlink_to(ROOT / "bootstrap")
        self.stack = Pulumi(folder, "owned", variables, program)
        self.stack.environment["PYTHONPATH"] = str(ROOT)

    @property
    def parts(self) -> set[str]:
        """What there is of the cloud."""
        return {path.name for path in self.folder.iterdir()}

    def up(self, generation: str) -> None:
        """`pulumi up`; another generation is another machine."""
        values = {**self.request, "folder": str(self.folder), "generation": generation}
        self.stack.configure({f"owned:{key}": value for key, value in values.items()})
        self.stack.up()


@pytest.fixture
def api() -> SimulatedCluster:
    """An API server with one load balancer, and nobody who removes it yet."""
    return SimulatedCluster(objects=service("web"))


@pytest.fixture
def cluster(ready: dict[str, str], api: SimulatedCluster, tmp_path: Path) -> Iterator[Cluster]:
    with serving(api, make_keys(), tmp_path) as request:
        yield Cluster(tmp_path, ready, request)


def test_load_balancers_go_before_machines_and_stay_when_a_machine_is_replaced(
    cluster: Cluster, api: SimulatedCluster
) -> None:
    was_there: list[set[str]] = []

    def controller(simulated: SimulatedCluster) -> None:
        if any(going(found) for _, found in simulated.below("/api/v1/services")):
            was_there.append(cluster.parts)
            if len(was_there) == TURNS:
                cloud_controller(simulated)

    api.controllers.append(controller)
    cluster.up("1")
    (step,) = [r for r in cluster.stack.secrets()["deployment"]["resources"] if is_step(r)]
    request = json.loads(json.loads(step["inputs"]["stdin"]["plaintext"]))
    assert request["urn"] == step["urn"], "what an error says to remove from the state"

    cluster.up("2")
    assert [path for method, path, _ in api.requests if method == "POST"] == []
    assert deletions(api) == []

    cluster.stack.destroy()
    assert was_there == [{"machine", "way"}] * TURNS
    assert api.named("services") == set()
    assert cluster.parts == set()
    assert cluster.stack.resources() == []


def is_step(resource: dict[str, Any]) -> bool:
    return str(resource["urn"]).endswith("::c-owned")
