"""The table of what may come in: which rows a cluster has, and that the documentation shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.firewall import TABLE, Peer, Rule, rules
from tests.conftest import cluster

DOCUMENT = Path(__file__).parents[2] / "docs" / "clouds.md"
PUBLIC = {
    "ssh-administrator-master",
    "ssh-administrator-node",
    "api-client-master",
    "api-balancer-master",
    "api-outside-master",
    "api-node-master",
    "kubelet-master-node",
    "kubelet-node-master",
    "kubelet-node-node",
    "vxlan-master-node",
    "vxlan-node-master",
    "vxlan-node-node",
}
MASTERS = {
    "api-master-master",
    "etcd-master-master",
    "members-master-master",
    "kubelet-master-master",
    "vxlan-master-master",
}
PAIRS = ("master-node", "node-master", "node-node")
WITHOUT_NETWORK = {name for name in PUBLIC if not name.startswith("vxlan")}
METRICS = {"kubelet-node-master", "kubelet-node-node"}


def row(rule: Rule) -> str:
    """A row as the documentation has it."""
    return f"| {rule.source} | {rule.target} | {rule.protocol} {rule.port} | {rule.why} |"


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({}, PUBLIC),
        ({"masters": 3}, PUBLIC | MASTERS),
        ({"nodes": 0}, {name for name in PUBLIC if "node" not in name and "outside" not in name}),
        ({"nodes": 1}, {name for name in PUBLIC if not name.endswith("node-node")}),
        ({"addons": {"metrics": "none"}}, PUBLIC - METRICS),
        ({"network": {"plugin": "none"}}, WITHOUT_NETWORK),
        (
            {"network": {"plugin": "manifests", "manifests": ["network.yaml"]}},
            WITHOUT_NETWORK,
        ),
        ({"network": {"backend": "host-gw"}}, WITHOUT_NETWORK),
        (
            {"network": {"plugin": "calico"}},
            WITHOUT_NETWORK | {f"calico-{pair}" for pair in PAIRS},
        ),
        ({"network": {"plugin": "cilium"}}, PUBLIC | {f"health-{pair}" for pair in PAIRS}),
        (
            {"network": {"plugin": "weave"}},
            WITHOUT_NETWORK
            | {f"{way}-{pair}" for way in ("weave", "weave-udp", "weave-fast") for pair in PAIRS},
        ),
        (
            {"access": {"private": True}},
            {name for name in PUBLIC if not name.startswith("ssh")}
            | {"ssh-administrator-bastion", "ssh-bastion-master", "ssh-bastion-node"},
        ),
    ],
)
def test_a_cluster_has_the_rows_that_it_needs(keys: dict[str, object], expected: set[str]) -> None:
    assert {rule.name for rule in rules(cluster(**keys))} == expected  # type: ignore[arg-type] # counts and keys


def test_every_row_has_a_name_of_its_own_that_every_cloud_takes() -> None:
    names = [rule.name for rule in TABLE]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) <= 26


@pytest.mark.parametrize(
    ("plugin", "ports"),
    [
        ("flannel", {("udp", 8472)}),
        ("calico", {("udp", 4789)}),
        ("cilium", {("udp", 8472), ("tcp", 4240)}),
        ("weave", {("tcp", 6783), ("udp", 6783), ("udp", 6784)}),
    ],
)
def test_each_pod_network_has_its_ports_between_all_hosts(
    plugin: str, ports: set[tuple[str, int]]
) -> None:
    found = set(rules(cluster(3, network={"plugin": plugin}))) - set(
        rules(cluster(3, network={"plugin": "none"}))
    )
    hosts = (Peer.MASTER, Peer.NODE)
    assert {(rule.protocol, rule.port, rule.source, rule.target) for rule in found} == {
        (*port, source, target) for port in ports for source in hosts for target in hosts
    }


def test_nobody_from_outside_reaches_more_than_ssh_and_the_api() -> None:
    outside = {Peer.ADMINISTRATOR, Peer.CLIENT, Peer.OUTSIDE, Peer.BALANCER}
    assert {rule.port for rule in TABLE if rule.source in outside} == {22, 6443}


def test_the_documentation_shows_the_table() -> None:
    lines = DOCUMENT.read_text().splitlines()
    start = lines.index("| from | to | port | without it |") + 2
    assert lines[start : start + len(TABLE)] == [row(rule) for rule in TABLE]
    assert lines[start + len(TABLE)] == ""
