"""What a change of the config touches: what it must, one host at a time, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.cluster import Cluster, Start
from tests.engine.cli import Config

pytestmark = pytest.mark.e2e

STEPS = ("reachable", "prepare", "identity", "activate")
HEADER = re.compile(r"^\s*\S{1,2} [\w.:/-]+: \((?P<op>[a-z]+)\)$")
NAME = re.compile(r"^\s*\[urn=.*::(?P<name>[^\]]+)\]$")
CHANGE = re.compile(r"^\s*(?P<sign>[-+]) (?P<text>.*)$")


def changed_lines(diff: str) -> dict[str, list[tuple[str, str]]]:
    """{resource: [(sign, line)]} of everything that `preview --diff` shows as changed."""
    found: dict[str, list[tuple[str, str]]] = {}
    name = ""
    for line in diff.partition("\nResources:")[0].splitlines():
        if HEADER.match(line):
            continue
        if named := NAME.match(line):
            name = named["name"]
        elif change := CHANGE.match(line):
            found.setdefault(name, []).append((change["sign"], change["text"]))
    return found


def with_pool(config: Config, name: str, **changes: object) -> Config:
    """The config with other keys for one pool."""
    pools = [{**pool, **changes} if pool["name"] == name else pool for pool in config["pools"]]
    return {**config, "pools": pools}


def pool(cluster: Cluster, name: str) -> dict[str, Any]:
    """A pool as the stack file has it."""
    (found,) = [pool for pool in cluster.wanted["pools"] if pool["name"] == name]
    return dict(found)


def system_pods(cluster: Cluster) -> dict[str, str]:
    """The running containers of what the program put into the cluster."""
    return {name: c for name, c in cluster.pods_running().items() if name.startswith("kube-")}


def test_a_second_up_changes_nothing(cluster: Cluster) -> None:
    """A02: not even a connection shows as changed."""
    before = cluster.starts()
    plan = cluster.up_steps()
    assert plan.changed() == set()
    assert set(plan.changes) == {"same"}
    assert cluster.starts() == before


def test_a_kubelet_setting_of_a_pool_restarts_the_kubelets_of_that_pool(cluster: Cluster) -> None:
    host = f"{cluster.name}-node-0"
    old = pool(cluster, "node")["kubelet"]["config"]["maxPods"]
    new = 115 - old  # 60, 55, 60, ...
    before, pods = cluster.starts(), system_pods(cluster)
    cluster.write_config(with_pool(cluster.wanted, "node", kubelet={"config": {"maxPods": new}}))
    assert changed_lines(cluster.pulumi.diff()) == {
        f"{host}-activate": [("-", f"maxPods: {old}"), ("+", f"maxPods: {new}")]
    }
    plan = cluster.up_steps()
    gate = ("update", f"{cluster.name}-cluster-ready")
    assert plan.changed() == {("update", f"{host}-activate"), gate}
    after = cluster.starts()
    assert {name for name in after if after[name].kubelet != before[name].kubelet} == {host}
    assert {name for name in after if after[name].runtime != before[name].runtime} == set()
    assert pods.items() <= system_pods(cluster).items(), "a pod was restarted"
    cluster.wait(
        "the node to have room for as many pods as the setting says",
        lambda: cluster.get("node", host)["status"]["capacity"]["pods"] == str(new),
        30,
    )


def own_resources(host: str) -> set[str]:
    """The names of all resources that a node costs."""
    steps = {f"{host}-{step}" for step in STEPS}
    return {host, f"{host}-host-key", f"{host}-kubelet", *steps}


@pytest.fixture
def bigger(cluster: Cluster) -> Iterator[tuple[Cluster, set[tuple[str, str]], dict[str, Start]]]:
    """The cluster with one node more, what that changed, and the starts before."""
    before = cluster.starts()
    smaller = cluster.wanted
    cluster.wanted = with_pool(smaller, "big", count=2)
    changed = cluster.up_steps().changed()
    yield cluster, changed, before
    if cluster.wanted != smaller:
        cluster.wanted = smaller
        cluster.up()


def test_a_node_more_and_a_node_less_touch_no_other_host(
    bigger: tuple[Cluster, set[tuple[str, str]], dict[str, Start]],
) -> None:
    cluster, changed, before = bigger
    host, gate = f"{cluster.name}-big-1", ("update", f"{cluster.name}-cluster-ready")
    assert changed == {*(("create", name) for name in own_resources(host)), gate}
    after = cluster.starts()
    assert host in after
    assert {name: after[name] for name in before} == before
    conditions = {c["type"]: c["status"] for c in cluster.get("node", host)["status"]["conditions"]}
    assert conditions["Ready"] == "True"

    cluster.wanted = with_pool(cluster.wanted, "big", count=1)
    assert cluster.up_steps().changed() == {
        *(("delete", name) for name in own_resources(host)),
        gate,
    }
    assert cluster.starts() == before
    names = {node["metadata"]["name"] for node in cluster.items("nodes")}
    assert names == set(cluster.hosts), "a node is still registered whose machine is gone"


def test_another_backend_of_the_pod_network_touches_its_objects_only(cluster: Cluster) -> None:
    """Beside them, whether the hosts are fit for it is asked again, and whether all pods work."""
    network = {**cluster.wanted["network"], "backend": "host-gw"}
    kept = cluster.wanted
    cluster.write_config({**kept, "network": network})
    changed = cluster.pulumi.preview().changed()
    cluster.write_config(kept)
    assert changed == {
        ("update", "kube-flannel/kube-flannel-cfg"),
        ("update", "kube-flannel/kube-flannel-ds"),
        *(("update", f"{host}-reachable") for host in cluster.hosts),
        ("update", f"{cluster.config.name}-cluster-ready"),
    }


def test_an_add_on_less_touches_no_host(metrics: Cluster) -> None:
    before = metrics.starts()
    addons = {**metrics.wanted.get("addons", {}), "metrics": "none"}
    metrics.wanted = {**metrics.wanted, "addons": addons}
    plan = metrics.up_steps()
    assert ("delete", "kube-system/metrics-server") in plan.changed()
    gate = ("update", f"{metrics.config.name}-cluster-ready")
    assert {found for found in plan.changed() if found[0] != "delete"} == {gate}
    touched = {step.type for step in plan if step.op == "delete"}
    assert not [kind for kind in touched if not kind.startswith("kubernetes:")]
    assert metrics.starts() == before
    metrics.wait("metrics-server to be gone", lambda: not is_there(metrics, "metrics-server"), 60)


def is_there(cluster: Cluster, name: str) -> bool:
    """Whether there is a Deployment of the system of that name."""
    found = cluster.kubectl("get", "deployments", "-n", "kube-system", "-o", "name")
    return f"deployment.apps/{name}" in found.split()
