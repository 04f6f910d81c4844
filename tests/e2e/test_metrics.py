"""kubectl top: metrics-server reads kubelets whose certificates it verifies."""

from __future__ import annotations

import pytest

from tests.e2e.cluster import Cluster

pytestmark = pytest.mark.e2e


def test_top_nodes_shows_every_host(metrics: Cluster) -> None:
    def shown() -> bool:
        lines = metrics.kubectl("top", "nodes", "--no-headers").splitlines()
        # A node that is not read yet shows as <unknown>.
        return {line.split()[0] for line in lines if "<unknown>" not in line} >= set(metrics.hosts)

    assert metrics.wait("kubectl top nodes", shown, 90)


def test_top_pods_shows_the_api_server(metrics: Cluster) -> None:
    def use() -> list[str]:
        lines = metrics.kubectl("top", "pods", "-n", "kube-system", "--no-headers").splitlines()
        return [line for line in lines if line.startswith("kube-apiserver-")]

    (line,) = metrics.wait("kubectl top pods", use, 90)
    cpu, memory = line.split()[1:]
    assert int(cpu.removesuffix("m")) > 0
    assert int(memory.removesuffix("Mi")) > 50


def test_metrics_server_trusts_no_kubelet_blindly(metrics: Cluster) -> None:
    deployment = metrics.get("deployment", "-n", "kube-system", "metrics-server")
    arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert not [flag for flag in arguments if "insecure" in flag]
