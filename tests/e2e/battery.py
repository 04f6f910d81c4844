"""What must work in any cluster, check by check: each one fails for a reason of its own.

The checks are what a person would do: nothing in them knows which rule or path makes them work.
"""

from __future__ import annotations

import datetime as dt
import json
import time
from collections.abc import Callable, Mapping

import yaml

from interface import API_PORT
from tests.e2e.cluster import Cluster
from tests.e2e.test_pods import PORT, Pair

METRICS = "/apis/metrics.k8s.io/v1beta1/nodes"
LEASE_LIMIT = 40.0  # seconds; a kubelet renews each 10
TOP_LIMIT = 60.0  # seconds; metrics-server may have to start
RETRY_SECONDS = 1.0


def ssh_to_every_host(cluster: Cluster) -> None:
    """Phase 2 can log in: its first step runs again on each host, which changes nothing."""
    for name in cluster.hosts:
        cluster.login(name, "true")


def api_answers(cluster: Cluster) -> None:
    """kubectl reaches the endpoint."""
    assert cluster.kubectl("get", "--raw", "/readyz").strip() == "ok"


def kubelets_report(cluster: Cluster) -> None:
    """Each kubelet renews its lease, by way of the endpoint on nodes."""
    began = dt.datetime.now(dt.UTC)
    until = time.monotonic() + LEASE_LIMIT
    waiting = set(cluster.hosts)
    while waiting:
        for lease in cluster.items("leases", "-n", "kube-node-lease"):
            renewed = dt.datetime.fromisoformat(lease["spec"]["renewTime"])
            if renewed > began:
                waiting.discard(lease["metadata"]["name"])
        assert not waiting or time.monotonic() < until, f"no lease is renewed by {waiting}"
        time.sleep(RETRY_SECONDS)


def logs_of_every_host(cluster: Cluster) -> None:
    """Logs of a pod on each host, by each API server: it reaches each kubelet."""
    pods = cluster.items("pods", "-n", "kube-system", "-l", "k8s-app=kube-proxy")
    assert {pod["spec"]["nodeName"] for pod in pods} == set(cluster.hosts)
    for pod in pods:
        path = f"/api/v1/namespaces/kube-system/pods/{pod['metadata']['name']}/log?tailLines=1"
        for master in cluster.masters:
            assert asked_on(cluster, master, path)


def asked_on(cluster: Cluster, master: str, path: str) -> str:
    """What a master's own API server answers to the administrator."""
    user = yaml.safe_load(cluster.kubeconfig.read_text())["users"][0]["user"]
    certificate, key = (user[f"client-{part}-data"] for part in ("certificate", "key"))
    return cluster.host(
        master,
        f"curl -sSfk --max-time 10 --cert <(base64 -d <<<{certificate}) "
        f"--key <(base64 -d <<<{key}) 'https://127.0.0.1:{API_PORT}{path}'",
    )


def top_of_every_host(cluster: Cluster) -> None:
    """kubectl top: fresh figures of each host, so metrics-server reads each kubelet now."""
    began = dt.datetime.now(dt.UTC)

    def fresh() -> bool:
        answer = json.loads(cluster.kubectl("get", "--raw", METRICS))
        times = {
            item["metadata"]["name"]: dt.datetime.fromisoformat(item["timestamp"])
            for item in answer["items"]
        }
        return {name for name, at in times.items() if at > began} == set(cluster.hosts)

    assert cluster.wait("fresh figures of every host", fresh, TOP_LIMIT)


def exec_in_a_pod(cluster: Cluster) -> None:
    """kubectl exec, in pods on nodes."""
    pair = Pair(cluster)
    for name in pair.names:
        assert pair.inside(name, "hostname") == name


def pods_reach_each_other(cluster: Cluster) -> None:
    """Across nodes, both ways, by address, Service and name."""
    pair = Pair(cluster)
    for asking, answering in (("left", "right"), ("right", "left")):
        assert pair.asked(asking, pair.pod(answering)["status"]["podIP"], PORT) == answering
        assert pair.asked(asking, pair.service(answering)["spec"]["clusterIP"]) == answering
        assert pair.asked(asking, answering) == answering


def pods_reach_the_api(cluster: Cluster) -> None:
    """By the Service `kubernetes`, often enough to meet every master: 401, for want of a token."""
    pair = Pair(cluster)
    url = "https://kubernetes.default.svc.cluster.local/version"
    code = ("-o", "/dev/null", "-w", "%{http_code}")
    tries = 1 if len(cluster.masters) == 1 else 8
    for name in pair.names:
        for _ in range(tries):
            assert pair.inside(name, "curl", "-sk", "--max-time", "5", *code, url) == "401"


Check = Callable[[Cluster], None]
CHECKS: Mapping[str, Check] = {
    check.__name__: check
    for check in (
        api_answers,
        ssh_to_every_host,
        logs_of_every_host,
        exec_in_a_pod,
        pods_reach_each_other,
        pods_reach_the_api,
        top_of_every_host,
        kubelets_report,
    )
}
