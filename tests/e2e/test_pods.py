"""Two pods on different nodes: by address, by Service, by name, and from outside."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from tests.e2e.cluster import Cluster
from versions import RELEASES

pytestmark = pytest.mark.e2e

NAMESPACE = "pods"
PORT = 8080


class Pair:
    """The two pods, on two nodes or else on two masters, and their Services."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        hosts = cluster.nodes if len(cluster.nodes) > 1 else cluster.masters
        self.names = dict(zip(("left", "right"), hosts, strict=False))

    def make(self) -> None:
        """Make them, and wait until both are ready and their Services are known on their nodes.

        kube-proxy learns of a ready pod like everybody else: after the pod is.
        """
        image = RELEASES[self.cluster.config.kubernetes_version].images["agnhost"]
        objects = [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
            *(pod(name, node, image) for name, node in self.names.items()),
            *(service(name) for name in self.names),
        ]
        document = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        self.cluster.kubectl("apply", "-f", "-", stdin=document)
        self.cluster.wait("both pods to be ready", self._ready, 120)
        self.cluster.wait("both Services to be known on both hosts", self._known, 30)

    def _ready(self) -> bool:
        pods = self.cluster.items("pods", "-n", NAMESPACE)
        conditions = [c for p in pods for c in p["status"].get("conditions", [])]
        return [c["status"] for c in conditions if c["type"] == "Ready"] == ["True", "True"]

    def _known(self) -> bool:
        addresses = {name: self.service(name)["spec"]["clusterIP"] for name in self.names}
        return all(
            self.asked(asking, address) == answering
            for asking in self.names
            for answering, address in addresses.items()
        )

    def pod(self, name: str) -> Any:
        """A pod as it is."""
        return self.cluster.get("pod", "-n", NAMESPACE, name)

    def service(self, name: str) -> Any:
        """A Service as it is."""
        return self.cluster.get("service", "-n", NAMESPACE, name)

    def inside(self, name: str, *command: str) -> str:
        """What a command prints in a pod: `kubectl exec`."""
        return self.cluster.kubectl("exec", "-n", NAMESPACE, name, "--", *command).strip()

    def asked(self, name: str, host: str, port: int = 80) -> str:
        """Who answers when a pod asks at that host: the answering pod's name."""
        url = f"http://{host}:{port}/hostname"
        return self.inside(name, "curl", "-sS", "--max-time", "10", url)


def pod(name: str, node: str, image: str) -> dict[str, Any]:
    """A web server that tells its name, on that node."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": name}},
        "spec": {
            "nodeSelector": {"kubernetes.io/hostname": node},
            "tolerations": [{"operator": "Exists"}],
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "server",
                    "image": image,
                    "args": ["netexec", f"--http-port={PORT}"],
                    "readinessProbe": {
                        "httpGet": {"port": PORT, "path": "/healthz"},
                        "periodSeconds": 1,
                    },
                }
            ],
        },
    }


def service(name: str) -> dict[str, Any]:
    """A Service for the pod of that name, with a port on every node as well."""
    spec = {
        "type": "NodePort",
        "selector": {"app": name},
        "ports": [{"port": 80, "targetPort": PORT}],
    }
    meta = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec}


@pytest.fixture(scope="module")
def made() -> Iterator[list[Pair]]:
    """The pair once it is made; the namespace goes at the end."""
    pairs: list[Pair] = []
    yield pairs
    for pair in pairs:
        pair.cluster.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


@pytest.fixture
def pair(cluster: Cluster, made: list[Pair]) -> Pair:
    if not made:
        fresh = Pair(cluster)
        fresh.make()
        made.append(fresh)
    return made[0]


WAYS = [("left", "right"), ("right", "left")]


@pytest.mark.parametrize(("asking", "answering"), WAYS)
def test_by_address(pair: Pair, asking: str, answering: str) -> None:
    found = pair.pod(answering)
    assert found["spec"]["nodeName"] != pair.pod(asking)["spec"]["nodeName"]
    assert pair.asked(asking, found["status"]["podIP"], PORT) == answering


@pytest.mark.parametrize(("asking", "answering"), WAYS)
def test_by_service_address(pair: Pair, asking: str, answering: str) -> None:
    assert pair.asked(asking, pair.service(answering)["spec"]["clusterIP"]) == answering


@pytest.mark.parametrize(("asking", "answering"), WAYS)
def test_by_name(pair: Pair, asking: str, answering: str) -> None:
    for name in (
        answering,
        f"{answering}.{NAMESPACE}",
        f"{answering}.{NAMESPACE}.svc.cluster.local",
    ):
        assert pair.asked(asking, name) == answering, name


def test_the_name_of_the_api(pair: Pair) -> None:
    for asking in pair.names:
        name = "kubernetes.default.svc.cluster.local"
        first = str(pair.cluster.config.kubernetes_service_address)
        assert pair.inside(asking, "dig", "+short", "+time=5", name).split() == [first]
        resolver = pair.inside(asking, "cat", "/etc/resolv.conf")
        assert f"nameserver {pair.cluster.config.dns_service_address}" in resolver
        # The API server behind it: 401, since this request shows no token.
        url = "https://kubernetes.default/version"
        asked = ("curl", "-sk", "--max-time", "10", "-o", "/dev/null", "-w", "%{http_code}", url)
        assert pair.inside(asking, *asked) == "401"


def test_a_pod_reaches_itself_through_its_service(pair: Pair) -> None:
    # Its bare name is in its own /etc/hosts, and leads to itself directly.
    assert pair.asked("left", pair.service("left")["spec"]["clusterIP"]) == "left"


def test_from_outside_by_every_nodes_port(pair: Pair) -> None:
    port = pair.service("right")["spec"]["ports"][0]["nodePort"]

    def answer(host: str) -> str:
        url = f"http://{pair.cluster.address(host)}:{port}/hostname"
        try:
            with urllib.request.urlopen(url, timeout=10) as response:
                return str(response.read().decode().strip())
        except urllib.error.URLError as error:
            raise AssertionError(f"{url}: {error}") from error

    for host in pair.cluster.hosts:
        found = pair.cluster.wait(f"an answer from {host}", partial(answer, host), 30)
        assert found == "right", host


def test_pod_addresses_come_from_the_nodes_piece_of_the_range(pair: Pair) -> None:
    for name, node in pair.names.items():
        piece = pair.cluster.get("node", node)["spec"]["podCIDR"]
        assert pair.pod(name)["status"]["podIP"].rsplit(".", 1)[0] == piece.rsplit(".", 1)[0]


def test_logs_of_a_pod_on_every_node(pair: Pair) -> None:
    """The API server reaches each kubelet and verifies it, or there would be no answer."""
    for name in pair.names:
        assert f"Started HTTP server on port {PORT}" in pair.cluster.kubectl(
            "logs", "-n", NAMESPACE, name
        )
    for master in pair.cluster.masters:
        assert pair.cluster.kubectl("logs", "-n", "kube-system", f"etcd-{master}", "--tail=1")
