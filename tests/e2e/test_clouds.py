"""A cluster on each simulated cloud, from an empty stack to an empty account.

Three to five minutes for each.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from components import firewall
from components.firewall import Peer
from tests.clouds.environment import PLATFORMS
from tests.e2e import machine
from tests.e2e.battery import CHECKS
from tests.e2e.clouds import CloudCluster, cluster_in_a_cloud, listening
from tests.e2e.test_changes import changed_lines
from tests.e2e.test_pods import Pair

pytestmark = pytest.mark.e2e

ZONE = "topology.kubernetes.io/zone"
# What a scan asks for: all that Kubernetes, etcd, flannel, SSH and node ports could listen on.
SCANNED = (22, 80, 111, 443, 2379, 2380, 2381, 5000, 6443, 8080, 8472, 9100, 10248, 10249)
SCANNED_HIGH = (10250, 10256, 10257, 10259, 30000, 31234, 32767)


@pytest.fixture(scope="module", params=sorted(PLATFORMS))
def cloud(
    request: pytest.FixtureRequest,
    variables: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CloudCluster]:
    """A cluster that is not up yet, on each cloud in turn."""
    folder = tmp_path_factory.mktemp(request.param)
    with cluster_in_a_cloud(folder, variables, request.param) as made:
        yield made


@pytest.fixture
def up(cloud: CloudCluster) -> CloudCluster:
    """The cluster, up."""
    if cloud.ensure_up():
        Pair(cloud).make()
    return cloud


def test_the_first_preview_lists_everything_and_needs_nothing(cloud: CloudCluster) -> None:
    cloud.write_config(cloud.wanted)
    done = cloud.pulumi.call("preview", "--json")
    steps = json.loads(done.stdout)["steps"]
    assert {step["op"] for step in steps} == {"create"}
    assert not cloud.account.things
    cloud.previewed = {step["urn"] for step in steps}


def test_up_makes_hosts_in_two_zones(up: CloudCluster) -> None:
    nodes = {node["metadata"]["name"]: node for node in up.items("nodes")}
    assert nodes.keys() == set(up.hosts)
    for name, node in nodes.items():
        conditions = {c["type"]: c["status"] for c in node["status"]["conditions"]}
        assert conditions["Ready"] == "True", name
    assert len({node["metadata"]["labels"][ZONE] for node in nodes.values()}) == 2
    made = {item["urn"] for item in up.pulumi.resources()}
    assert {urn for urn in made if "::pulumi:providers:" not in urn} <= up.previewed


@pytest.mark.parametrize("check", CHECKS)
def test_everything_works(up: CloudCluster, check: str) -> None:
    CHECKS[check](up)


def test_a_second_up_changes_nothing(up: CloudCluster) -> None:
    assert up.up_steps().changed() == set()


def open_ports(address: str) -> set[int]:
    """The ports that answer, from this computer."""

    def answers(port: int) -> bool:
        try:
            socket.create_connection((address, port), timeout=1.5).close()
        except OSError:
            return False
        return True

    with ThreadPoolExecutor(32) as pool:
        ports = (*SCANNED, *SCANNED_HIGH)
        return {port for port, found in zip(ports, pool.map(answers, ports), strict=True) if found}


def wanted_ports(up: CloudCluster, sources: set[Peer], target: Peer) -> set[int]:
    """What the table lets through."""
    return {
        rule.port
        for rule in firewall.rules(up.config)
        if rule.source in sources and rule.target is target and rule.protocol == "tcp"
    }


def test_nothing_else_is_open_from_outside(up: CloudCluster) -> None:
    outside = {Peer.ADMINISTRATOR, Peer.CLIENT}
    for name, host in up.hosts.items():
        # By its own public address: the API's clients come by the endpoint, or by both.
        found = open_ports(up.public_address(name))
        wanted = wanted_ports(up, outside, Peer(host.role))
        assert found | {6443} == wanted | {6443}, name
        assert 22 in found, name
    assert open_ports(up.endpoint) == {6443}


def test_nothing_else_is_open_from_a_node(up: CloudCluster) -> None:
    asking = up.nodes[0]
    ports = " ".join(map(str, (*SCANNED, *SCANNED_HIGH)))
    for name in set(up.hosts) - {asking}:
        script = (
            f"for port in {ports}; do "
            f"(timeout 1.5 bash -c 'exec 3<>/dev/tcp/{up.address(name)}/'$port 2>/dev/null "
            "&& echo $port) & done; wait"
        )
        found = {int(port) for port in up.host(asking, script).split()}
        wanted = wanted_ports(up, {Peer.NODE}, Peer(up.hosts[name].role))
        assert found == wanted & (listening(up, name) | {0}), name


def test_a_preview_shows_the_changed_line(up: CloudCluster) -> None:
    kept = up.wanted
    up.write_config({**kept, "kubelet": {"config": {"maxPods": 77}}})
    lines = changed_lines(up.pulumi.diff())
    up.write_config(kept)
    assert lines == {f"{name}-activate": [("+", "maxPods: 77")] for name in up.hosts}


def with_nodes(up: CloudCluster, count: int) -> dict[str, Any]:
    """The config with so many nodes."""
    return {**up.wanted, "pools": [{"name": "node", "count": count}]}


def test_a_node_more_touches_no_other_host(up: CloudCluster) -> None:
    before = up.starts()
    up.wanted = with_nodes(up, 3)
    changed = up.up_steps().changed()
    fresh = f"{up.name}-node-2"
    assert {name for op, name in changed if op == "create" and fresh not in name} == set()
    assert {op for op, _ in changed} <= {"create", "update"}
    after = up.starts()
    assert {name: after[name] for name in before} == before
    CHECKS["kubelets_report"](up)


def test_a_lost_node_comes_back(up: CloudCluster) -> None:
    lost = f"{up.name}-node-2"
    assert lost in up.hosts
    up.mishap("terminate", up.instance(lost).id)
    assert lost not in machine.run("docker", "ps", "--format", "{{.Names}}").split()
    up.pulumi.call("refresh", "--yes", "--skip-preview")
    before = up.starts_of(set(up.hosts) - {lost})
    up.up()
    assert up.starts_of(set(up.hosts) - {lost}) == before
    CHECKS["kubelets_report"](up)


def test_a_node_less_touches_no_other_host(up: CloudCluster) -> None:
    up.wanted = with_nodes(up, 2)
    before = up.starts()
    plan = up.up_steps()
    assert {op for op, _ in plan.changed()} <= {"delete", "update"}
    assert up.starts() == before
    assert {node["metadata"]["name"] for node in up.items("nodes")} == set(up.hosts)


def test_destroy_leaves_an_empty_account_and_nothing_here(up: CloudCluster) -> None:
    footprint = machine.footprint(f"simulated-{up.plugin}")
    up.destroy_all()
    assert up.account.things == {}
    assert footprint.left() == {}
    assert up.pulumi.resources() == []
