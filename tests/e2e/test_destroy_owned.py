"""What a cluster has made in the cloud by itself is gone before `destroy` takes its machines.

The cloud is simulated, and so are the cloud controller and the storage driver: a thread here does
what they do, as far as a finalizer tells. No load balancer and no disk stands behind it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from bootstrap.owned import PROVISIONED_BY
from tests.e2e.clouds import CloudCluster, cluster_in_a_cloud
from versions import RELEASES

pytestmark = [pytest.mark.e2e, pytest.mark.long]

PLATFORM = "aws"
SCHEDULED = 120  # seconds until a pod has a node, at most
CLOUD_SECONDS = 3.0  # that the simulated cloud takes to remove something
DEAD_SECONDS = 180  # a minute until it is taken for dead, and what `destroy` takes by itself
LOAD_BALANCER = "service.kubernetes.io/load-balancer-cleanup"
PROVISIONER = "external-provisioner.volume.kubernetes.io/finalizer"
SOON = "--request-timeout=5s"  # or nothing: the API goes while the controllers look
DRIVER = "simulated.example.com"
SERVICE, CLAIM, VOLUME = "web", "data-db-0", "simulated"


@pytest.fixture(scope="module")
def made(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudCluster]:
    """One master and one node, not up yet."""
    folder, pools = tmp_path_factory.mktemp("owned"), [{"name": "node", "count": 1}]
    with cluster_in_a_cloud(folder, variables, PLATFORM, pools=pools) as cluster:
        yield cluster


@pytest.fixture
def cluster(made: CloudCluster) -> CloudCluster:
    """The cluster, up, with a load balancer, and a volume that a pod uses."""
    made.ensure_up()
    image = RELEASES[made.config.kubernetes_version].images["pause"]
    objects = {"apiVersion": "v1", "kind": "List", "items": [*outside(), stateful_set(image)]}
    made.kubectl("apply", "-f", "-", stdin=json.dumps(objects))
    made.wait("the pod on a node", lambda: placed(made), SCHEDULED)
    return made


def service(name: str) -> dict[str, Any]:
    """A Service for which the simulated cloud controller has made a load balancer."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "finalizers": [LOAD_BALANCER]},
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}], "selector": {"app": name}},
    }


def outside() -> list[dict[str, Any]]:
    """What stands for something in the cloud, as controllers leave it: made here by hand."""
    claimed = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "name": CLAIM}
    size = {"storage": "1Gi"}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {
            "name": VOLUME,
            "annotations": {PROVISIONED_BY: DRIVER},
            "finalizers": [PROVISIONER],
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": size,
            "claimRef": {**claimed, "namespace": "default"},
            "csi": {"driver": DRIVER, "volumeHandle": VOLUME},
            "persistentVolumeReclaimPolicy": "Delete",
            "storageClassName": "",
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": size},
            "storageClassName": "",
            "volumeName": VOLUME,
        },
    }
    return [service(SERVICE), volume, claim]


def stateful_set(image: str) -> dict[str, Any]:
    """What would make the claim anew. Its pod gets a node, and waits there for the volume."""
    labels = {"app": "db"}
    mounts = [{"name": "data", "mountPath": "/data"}]
    template = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "serviceName": "db",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "db", "image": image, "volumeMounts": mounts}]},
            },
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": template}],
        },
    }


def found(cluster: CloudCluster, kind: str, name: str) -> dict[str, Any]:
    """An object; empty if there is none, or nobody to ask."""
    done = cluster.kubectl_as(
        cluster.kubeconfig, "get", kind, name, "-o", "json", "--ignore-not-found", SOON
    )
    answer: dict[str, Any] = json.loads(done.stdout) if done.code == 0 and done.stdout else {}
    return answer


def released(cluster: CloudCluster) -> bool:
    """Whether the volume's claim is gone: then its driver has to remove it."""
    return bool(found(cluster, "pv", VOLUME).get("status", {}).get("phase") == "Released")


def placed(cluster: CloudCluster) -> bool:
    """Whether the pod has a node: from then on its claim waits for it."""
    return bool(found(cluster, "pod", "db-0").get("spec", {}).get("nodeName"))


class SimulatedControllers(threading.Thread):
    """Stands in for a cloud controller and a storage driver, and for an operator that heals."""

    def __init__(self, cluster: CloudCluster) -> None:
        super().__init__(daemon=True)
        self._cluster, self._ended = cluster, threading.Event()
        self.accounts: dict[str, set[str]] = {}  # what the account had when each was let go
        self.refused = ""  # what the operator was told

    def run(self) -> None:
        """Look, and act on what is on its way out, until told to stop."""
        while not self._ended.wait(0.5):
            if "deletionTimestamp" in found(self._cluster, "service", SERVICE).get("metadata", {}):
                self._let_go("service", SERVICE)
                self.refused = self._heal()
            if released(self._cluster):
                self._kubectl("delete", "pv", VOLUME, "--wait=false")
                self._let_go("pv", VOLUME)

    def stop(self) -> None:
        """End it."""
        self._ended.set()
        self.join()

    def _let_go(self, kind: str, name: str) -> None:
        self._ended.wait(CLOUD_SECONDS)
        self.accounts[kind] = set(self._cluster.account.things)
        patch = json.dumps({"metadata": {"finalizers": None}})
        self._kubectl("patch", kind, name, "--type=merge", "--patch", patch)

    def _heal(self) -> str:
        return self._kubectl("create", "-f", "-", stdin=json.dumps(service("anew")))

    def _kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        cluster = self._cluster
        return cluster.kubectl_as(cluster.kubeconfig, SOON, *arguments, stdin=stdin).output


def test_what_the_cluster_made_is_gone_before_anything_of_it_is(cluster: CloudCluster) -> None:
    before = set(cluster.account.things)
    assert cluster.instance(cluster.masters[0]).id in before
    controllers = SimulatedControllers(cluster)
    controllers.start()
    done = cluster.destroy_all()
    controllers.stop()
    assert controllers.accounts == {"service": before, "pv": before}
    assert "this cluster is being destroyed" in controllers.refused
    assert f"waiting until these are gone: PersistentVolume {VOLUME}" in done.output
    assert cluster.account.things == {}
    assert cluster.pulumi.resources() == []


def test_destroy_of_a_dead_cluster_warns_and_does_not_wait(cluster: CloudCluster) -> None:
    for name in cluster.masters:
        cluster.mishap("terminate", cluster.instance(name).id)
    done = cluster.destroy_all()
    assert "warning: the API does not answer; load balancers and volumes" in done.output
    assert done.seconds < DEAD_SECONDS, done.explained()
    assert cluster.account.things == {}
    assert cluster.pulumi.resources() == []
