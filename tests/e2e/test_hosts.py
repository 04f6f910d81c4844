"""What runs on a host: one unit, one kubelet, in a container; on masters five static pods."""

from __future__ import annotations

from typing import Any

import pytest

from model import Role
from tests.e2e.cluster import Cluster

pytestmark = pytest.mark.e2e

CONTROL_PLANE = {"kube-apiserver", "kube-controller-manager", "kube-scheduler"}
STATIC_PODS = {"etcd", "addon-manager"} | CONTROL_PLANE
CTR = "ctr=$(ls -d /opt/kubernetes-anywhere/containerd-*/bin/ctr); $ctr -n k8s.io"


def tasks(cluster: Cluster, host: str) -> dict[str, tuple[str, str]]:
    """{id: (pid, status)} of all containers of the runtime."""
    lines = cluster.host(host, f"{CTR} task ls").splitlines()[1:]
    return {name: (pid, status) for name, pid, status in (line.split() for line in lines)}


def test_the_kubelet_is_a_container_and_runs_nowhere_else(cluster: Cluster) -> None:
    for host in cluster.hosts:
        pid, status = tasks(cluster, host)["kubelet"]
        assert status == "RUNNING", host
        assert cluster.host(host, "pgrep -x kubelet").split() == [pid], host
        namespaces = cluster.host(host, f"readlink /proc/{pid}/ns/mnt /proc/1/ns/mnt").split()
        assert namespaces[0] != namespaces[1], f"{host}: the kubelet sees the host's own root"
        groups = cluster.host(host, f"cat /proc/{pid}/cgroup")
        assert "/k8s.io/kubelet" in groups, f"{host}: {groups}"
        # Its binary is the image's: the host has none.
        assert cluster.host(host, "command -v kubelet || true").strip() == "", host


def test_one_unit_runs_it(cluster: Cluster) -> None:
    for host in cluster.hosts:
        listing = "systemctl list-units --all --plain --no-legend --no-pager"
        units = [line.split() for line in cluster.host(host, listing).splitlines()]
        about = [unit[:4] for unit in units if "kube" in unit[0] and unit[0].endswith(".service")]
        assert about == [["kubelet.service", "loaded", "active", "running"]], host
        assert cluster.host(host, "systemctl is-enabled kubelet").strip() == "enabled"
        assert [unit[0] for unit in units if unit[2] == "failed"] == [], host


def test_volumes_reach_the_host(cluster: Cluster) -> None:
    for host in cluster.hosts:
        found = cluster.host(host, "findmnt --noheadings --output PROPAGATION /var/lib/kubelet")
        # Every mount there; a machine that is a container is also a slave of its volume's.
        assert all("shared" in mount.split(",") for mount in found.split()), host
        assert found.split(), host


def static_pods(cluster: Cluster) -> dict[str, dict[str, Any]]:
    """The pods that a file on a host is the source of, by name."""
    return {
        pod["metadata"]["name"]: pod
        for pod in cluster.items("pods", "--all-namespaces")
        if pod["metadata"].get("annotations", {}).get("kubernetes.io/config.source") == "file"
    }


def is_running(pod: dict[str, Any]) -> bool:
    """Whether a static pod runs and is ready."""
    status = pod["status"]
    ready = [container["ready"] for container in status.get("containerStatuses", [])]
    return bool(status["phase"] == "Running" and ready == [True])


def test_masters_run_the_five_static_pods_and_nodes_none(cluster: Cluster) -> None:
    expected = {f"{name}-{master}" for name in STATIC_PODS for master in cluster.masters}

    # The kubelet tells the API of a pod that it has started before there was one, in its own time.
    def all_told() -> bool:
        pods = static_pods(cluster)
        return expected <= pods.keys() and all(map(is_running, pods.values()))

    cluster.wait("every static pod to be told to the API", all_told, 120)
    pods = static_pods(cluster)
    assert pods.keys() == expected
    assert {pod["metadata"]["namespace"] for pod in pods.values()} == {"kube-system"}
    for host in cluster.hosts:
        manifests = cluster.host(host, "ls /etc/kubernetes/manifests").split()
        names = STATIC_PODS if host in cluster.masters else set()
        assert manifests == sorted(f"{name}.yaml" for name in names)


def test_every_node_is_ready_and_has_its_role_and_labels(cluster: Cluster) -> None:
    nodes = {node["metadata"]["name"]: node for node in cluster.items("nodes")}
    assert set(nodes) >= set(cluster.hosts)
    for name, host in cluster.hosts.items():
        labels = nodes[name]["metadata"]["labels"]
        conditions = {c["type"]: c["status"] for c in nodes[name]["status"]["conditions"]}
        assert conditions["Ready"] == "True", name
        assert ("node-role.kubernetes.io/control-plane" in labels) == (host.role is Role.MASTER)
        assert host.labels.items() <= labels.items(), name
        assert (
            nodes[name]["status"]["nodeInfo"]["kubeletVersion"] == cluster.config.kubernetes_version
        )


def test_the_outputs_say_what_was_made(cluster: Cluster) -> None:
    outputs = cluster.pulumi.outputs()
    assert {node["name"]: node["role"] for node in outputs["nodes"]} == {
        name: host.role.value for name, host in cluster.hosts.items()
    }
    assert {n["name"]: n["address"] for n in outputs["nodes"]} == {
        name: cluster.address(name) for name in cluster.hosts
    }
    count = len(cluster.hosts)
    assert outputs["health"].strip() == f"{count} of {count} nodes Ready, DNS available"
