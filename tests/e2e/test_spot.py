"""A spot machine is taken back: its pod moves, and the next `pulumi up` makes another machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.battery import CHECKS
from tests.e2e.clouds import CloudCluster, cluster_in_a_cloud
from versions import RELEASES

pytestmark = [pytest.mark.e2e, pytest.mark.long]

PLATFORM = "gce"
SECONDS = 180  # 40 until a node counts as lost, and what it takes to notice and to start a pod


@pytest.fixture(scope="module")
def spot(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudCluster]:
    """One master, one node to stay and one that may go."""
    pools = [{"name": "node", "count": 1}, {"name": "spot", "count": 1, "spot": True}]
    folder = tmp_path_factory.mktemp("spot")
    with cluster_in_a_cloud(folder, variables, PLATFORM, pools=pools) as made:
        made.up()
        yield made


def deployment(image: str) -> dict[str, Any]:
    """One pod that leaves a lost node after five seconds."""
    lost = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    leaves = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5}
        for key in lost
    ]
    labels = {"app": "mover"}
    container = {"name": "server", "image": image, "args": ["netexec"]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "mover"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [container], "tolerations": leaves},
            },
        },
    }


def node_of_the_pod(cluster: CloudCluster) -> str:
    """Where the running pod is; empty if none runs."""
    running = [
        pod["spec"]["nodeName"]
        for pod in cluster.items("pods", "-l", "app=mover")
        if "deletionTimestamp" not in pod["metadata"] and pod["status"]["phase"] == "Running"
    ]
    return running[0] if running else ""


def test_a_pod_of_a_machine_that_is_taken_back_moves(spot: CloudCluster) -> None:
    stays, goes = f"{spot.name}-node-0", f"{spot.name}-spot-0"
    image = RELEASES[spot.config.kubernetes_version].images["agnhost"]
    spot.kubectl("cordon", stays)
    spot.kubectl("apply", "-f", "-", stdin=json.dumps(deployment(image)))
    spot.wait("the pod on the spot machine", lambda: node_of_the_pod(spot) == goes, 60)
    spot.kubectl("uncordon", stays)
    spot.mishap("reclaim", spot.instance(goes).id)
    spot.wait("the pod on the other node", lambda: node_of_the_pod(spot) == stays, SECONDS)


def test_the_pool_comes_back_with_the_next_up(spot: CloudCluster) -> None:
    spot.pulumi.call("refresh", "--yes", "--skip-preview")
    before = spot.start(f"{spot.name}-node-0")
    spot.up()
    assert spot.start(f"{spot.name}-node-0") == before
    CHECKS["kubelets_report"](spot)
