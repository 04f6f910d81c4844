"""Hosts that exist already: what of them is refused, and what follows from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import configdoc
from model import Role
from tests.components.metal.cases import (
    HOST_KEY,
    Bad,
    Raw,
    expect,
    good,
    host,
    keys,
    problems,
    public_key,
)
from validation import parse

MASTER = host("m1", "master")
NODE = host("n1")
TWO = (MASTER, NODE)


def with_node(**changes: Any) -> Raw:
    return keys(MASTER, {**NODE, **changes})


def with_more(**more: Any) -> Raw:
    return keys(*TWO, more=more)


def masters(count: int) -> list[Raw]:
    return [host(f"m{index}", "master") for index in range(count)]


LEAVE_OUT = "leave it out, or choose another platform"
BAD: dict[str, Bad] = {
    # Where the hosts are listed.
    "no-hosts": Bad(keys(), "metal.hosts", None, "nobody says which hosts", "add hosts, or inv"),
    "both": Bad(
        keys(*TWO, inventory={"terraform": "o.json"}),
        "metal.inventory",
        {"terraform": "o.json"},
        "is there beside metal.hosts",
        "leave out one of the two",
    ),
    "two-files": Bad(
        keys(inventory={"terraform": "o.json", "ansible": "i.ini"}),
        "metal.inventory",
        {"terraform": "o.json", "ansible": "i.ini"},
        "names both files",
        "write {terraform: outputs.json} or {ansible: inventory.yaml}",
    ),
    "no-file": Bad(keys(inventory={}), "metal.inventory", {}, "names no file", "write {terraform"),
    "unknown-tool": Bad(
        keys(*TWO, inventory={"chef": "x"}),
        "metal.inventory.chef",
        "x",
        "is not a known key",
        "known keys here are terraform and ansible",
    ),
    "section-of-text": Bad(
        {**keys(), "metal": "hosts.ini"},
        "metal",
        "hosts.ini",
        "is text, but must be an object",
        "known keys are hosts, inventory, apiHost",
    ),
    # The forms of a host's keys.
    "no-role": Bad(
        keys(MASTER, {k: v for k, v in NODE.items() if k != "role"}),
        "metal.hosts[1].role",
        None,
        "is missing",
        "add role: master (What a host is for)",
    ),
    "role-of-etcd": Bad(
        with_node(role="etcd"),
        "metal.hosts[1].role",
        "etcd",
        "is not one of the choices",
        "write master or node",
    ),
    "full-name": Bad(
        with_node(name="n1.example.com"),
        "metal.hosts[1].name",
        "n1.example.com",
        "is not made of lower-case letters, digits and dashes",
        "write one like web-1",
    ),
    "long-name": Bad(
        with_node(name="n" * 64),
        "metal.hosts[1].name",
        "n" * 64,
        "has 64 characters",
        "write at most 63",
    ),
    "internal-name": Bad(
        with_node(internalAddress="n1.local"),
        "metal.hosts[1].internalAddress",
        "n1.local",
        "is not an IPv4 address",
        "write one like 10.0.0.11",
    ),
    "port": Bad(
        with_node(port=0), "metal.hosts[1].port", 0, "is out of range", "a whole number from 1"
    ),
    "rsa-host-key": Bad(
        with_node(hostKey=public_key("x", "ssh-rsa")),
        "metal.hosts[1].hostKey",
        public_key("x", "ssh-rsa"),
        "is an RSA key",
        "write the host's ssh-ed25519 or ecdsa-sha2-nistp256 key",
    ),
    "fingerprint": Bad(
        with_node(hostKey="SHA256:abc"),
        "metal.hosts[1].hostKey",
        "SHA256:abc",
        "is no public host key",
        "ssh_host_ed25519_key.pub",
    ),
    "half-a-host-key": Bad(
        with_node(hostKey=HOST_KEY[:60]),
        "metal.hosts[1].hostKey",
        HOST_KEY[:60],
        "is no public host key",
        "ssh-ed25519 AAAA...",
    ),
    "two-lines-of-path": Bad(
        keys(*TWO, keyFile="a\nb"),
        "metal.keyFile",
        "a\nb",
        "on one line",
        "write one like ~/.ssh/id_ed25519",
    ),
    "label": Bad(
        with_node(labels={"kubernetes.io/rack": "7"}),
        'metal.hosts[1].labels["kubernetes.io/rack"]',
        "7",
        "is a label that no kubelet may give its own node",
        "write node.kubernetes.io/rack",
    ),
    "user": Bad(
        keys(*TWO, user="Admin"), "metal.user", "Admin", "is not made of", "write one like ubuntu"
    ),
    "bastion-without-address": Bad(
        keys(*TWO, bastion={"user": "x"}),
        "metal.bastion.address",
        None,
        "is missing",
        "add address: 203.0.113.5",
    ),
    # How many there are.
    "no-master": Bad(
        keys(NODE), "metal.hosts", None, "has no master", "give one host role: master"
    ),
    "two-masters": Bad(
        keys(*masters(2), NODE, apiHost="api.example.com"),
        "metal.hosts[1].role",
        "master",
        "is the role of 2 hosts (m0, m1), and etcd survives no more losses",
        "give 1, 3, 5 or 7 hosts role: master",
    ),
    "nine-masters": Bad(
        keys(*masters(9), apiHost="api.example.com"),
        "metal.hosts[8].role",
        "master",
        "is the role of 9 hosts",
        "give 1, 3, 5 or 7 hosts role: master",
    ),
    "count-of-masters": Bad(
        with_more(masters={"count": 3}),
        "masters.count",
        3,
        "contradicts the hosts, of which 1 are masters",
        "leave it out: the hosts are counted",
    ),
    "count-of-pool": Bad(
        with_more(pools=[{"name": "node", "count": 2}]),
        "pools[0].count",
        2,
        "contradicts the hosts, of which 1 are in the pool node",
        "leave it out: the hosts are counted",
    ),
    "pool-of-nobody": Bad(
        with_more(pools=[{"name": "nodes"}]),
        "pools[0].name",
        "nodes",
        "is a pool that no host is in",
        "write pool: nodes at its hosts",
    ),
    "master-in-a-pool": Bad(
        keys({**MASTER, "pool": "big"}, NODE),
        "metal.hosts[0].pool",
        "big",
        "has no effect: masters are in no pool",
        "write role: node",
    ),
    "thousands-of-pods": Bad(
        with_more(network={"podCidr": "10.0.0.0/24"}),
        "network.nodePrefix",
        24,
        "must be longer than the prefix of network.podCidr",
        "write nodePrefix 25 or more",
    ),
    # What only one host can have.
    "same-name": Bad(
        with_node(name="m1"),
        "metal.hosts[1].name",
        "m1",
        "is the name of the host m1 too",
        "write what only this host has",
    ),
    "same-address": Bad(
        with_node(address=MASTER["address"], port=2222),
        "metal.hosts[1].address",
        MASTER["address"],
        "is the address of the host m1 too",
        "write what only this host has",
    ),
    "same-internal-address": Bad(
        with_node(internalAddress=MASTER["address"]),
        "metal.hosts[1].internalAddress",
        MASTER["address"],
        "is the address of the host m1 too",
        "write what only this host has",
    ),
    # Addresses.
    "address-by-name": Bad(
        with_node(address="n1.example.com"),
        "metal.hosts[1].address",
        "n1.example.com",
        "is a name",
        "add internalAddress: 10.0.0.11",
    ),
    "loopback": Bad(
        with_node(address="127.0.0.1", port=2222),
        "metal.hosts[1].address",
        "127.0.0.1",
        "is every host's own",
        "by which the other hosts reach it",
    ),
    "multicast": Bad(
        with_node(internalAddress="224.0.0.5"),
        "metal.hosts[1].internalAddress",
        "224.0.0.5",
        "is no host's address",
        "by which the other hosts reach it",
    ),
    "host-in-pods": Bad(
        with_more(network={"podCidr": "192.0.0.0/16"}),
        "network.podCidr",
        "192.0.0.0/16",
        f"holds the address {MASTER['address']} of m1 and 1 more",
        "write a free range, such as 10.0.0.0/16",
    ),
    "host-in-services": Bad(
        with_node(internalAddress="10.96.3.4"),
        "network.serviceCidr",
        "10.96.0.0/16",
        "holds the address 10.96.3.4 of n1",
        "write a free range, such as 10.0.0.0/16",
    ),
    "endpoint-in-services": Bad(
        keys(*TWO, apiHost="10.96.0.9"),
        "network.serviceCidr",
        "10.96.0.0/16",
        "holds the address 10.96.0.9 of the API endpoint",
        "write a free range",
    ),
    "no-endpoint": Bad(
        keys(*masters(3)),
        "metal.apiHost",
        None,
        "is missing: there are 3 masters",
        "add apiHost: the address or name of a load balancer",
    ),
    "endpoint-here": Bad(
        keys(*TWO, apiHost="localhost"),
        "metal.apiHost",
        "localhost",
        "is every host's own",
        "write what nodes and this computer reach the masters by",
    ),
    # What the platform has no use for.
    "region": Bad(with_more(region="eu"), "region", "eu", "the hosts exist already", LEAVE_OUT),
    "account": Bad(with_more(account="a"), "account", "a", "has no effect", LEAVE_OUT),
    "zones": Bad(with_more(zones=["a"]), "zones", ["a"], "has no effect", LEAVE_OUT),
    "tags": Bad(with_more(tags={"a": "b"}), "tags", {"a": "b"}, "has no effect", LEAVE_OUT),
    "machine-type": Bad(
        with_more(masters={"machineType": "big"}),
        "masters.machineType",
        "big",
        "has no effect",
        LEAVE_OUT,
    ),
    "etcd-disk": Bad(
        with_more(masters={"etcdDiskGb": 10}), "masters.etcdDiskGb", 10, "has no effect", LEAVE_OUT
    ),
    "disk": Bad(
        with_more(pools=[{"name": "node", "diskGb": 50}]),
        "pools[0].diskGb",
        50,
        "has no effect",
        LEAVE_OUT,
    ),
    "image": Bad(
        with_more(pools=[{"name": "node", "image": "u"}]),
        "pools[0].image",
        "u",
        "has no effect",
        LEAVE_OUT,
    ),
    "spot": Bad(
        with_more(pools=[{"name": "node", "spot": True}]),
        "pools[0].spot",
        value=True,
        message="has no effect",
        remedy=LEAVE_OUT,
    ),
    "host-range": Bad(
        with_more(network={"hostCidr": "192.0.2.0/24"}),
        "network.hostCidr",
        "192.0.2.0/24",
        "has no effect: the hosts exist already, with their addresses",
        LEAVE_OUT,
    ),
    "network": Bad(
        with_more(network={"existing": "vpc-1"}),
        "network.existing",
        "vpc-1",
        "has no effect",
        LEAVE_OUT,
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_input(case: Bad) -> None:
    """H20: among others, a host or the endpoint in the pods' or the Services' range."""
    expect(case)


@pytest.mark.parametrize("platform", ["local", "gce", "aws", "azure"])
def test_another_platform_has_no_use_for_the_section(platform: str) -> None:
    raw = {**keys(leftovers="remove"), "platform": platform}
    assert "has no effect: the machines are " in problems(raw)["metal"].message


def test_access_is_of_clouds() -> None:
    found = problems(with_more(access={"sshFrom": ["192.0.2.0/24"], "private": True}))
    assert found.keys() == {"access"}
    assert "has no effect" in found["access"].message


def test_a_mirror_is_served_by_the_user(tmp_path: Path) -> None:
    (tmp_path / "catalog.json").write_text(
        '{"release": "v1.37.2", "images": {}, "archives": {}, "unavailable": {}}'
    )
    (problem,) = problems(with_more(mirror={"directory": str(tmp_path)})).values()
    assert problem.path == "mirror.url"
    assert "can be reached by the hosts" in problem.message
    good(with_more(mirror={"directory": str(tmp_path), "url": "http://mirror.example.com:5000"}))


def test_all_problems_at_once() -> None:
    """One host's faulty key hides nothing of the others, and no default is blamed for it."""
    raw = keys(
        {**MASTER, "hostKey": "x"},
        {**NODE, "address": "10.244.0.9", "keyFile": "/nowhere"},
        {**host("n2"), "name": "n1"},
        more={
            "region": "eu",
            "masters": {"count": 3},
            "network": {"podCidr": "172.30.0.0/16", "serviceCidr": "10.244.0.0/24"},
        },
    )
    assert list(problems(raw)) == [
        "masters.count",
        "metal.hosts[0].hostKey",
        "metal.hosts[1].keyFile",
        "metal.hosts[2].name",
        "network.serviceCidr",
        "region",
    ]


def test_hosts_that_are_not_known_yet_are_not_counted() -> None:
    """172.30.0.0/24, where machines are made by default, is nobody's here."""
    network = {"podCidr": "172.30.0.0/16"}
    raw = keys(hosts=["m1"], more={"masters": {"count": 3}, "network": network})
    assert list(problems(raw)) == ["metal.hosts[0]"]


def test_an_unknown_platform_is_not_taken_for_another() -> None:
    assert list(problems({**keys(*TWO), "platform": "metall"})) == ["platform"]


def test_counts_and_pools_come_from_the_hosts() -> None:
    config = good(
        keys(
            host("z", pool="gpu"),
            *masters(3)[::-1],
            host("b", pool="big", labels={"example.com/rack": "r7", "size": "xl"}),
            host("a", arch="arm64"),
            apiHost="api.example.com",
            more={
                "pools": [
                    {"name": "big", "labels": {"size": "l", "big": "yes"}},
                    {"name": "empty", "count": 0},
                ],
                "kubelet": {"config": {"maxPods": 50}},
            },
        )
    )
    assert config.masters.count == 3
    assert [(pool.name, pool.count) for pool in config.pools] == [
        ("big", 1),
        ("empty", 0),
        ("gpu", 1),
        ("node", 1),
    ]
    assert [(spec.name, spec.role, spec.index) for spec in config.hosts] == [
        ("m0", Role.MASTER, 0),
        ("m1", Role.MASTER, 1),
        ("m2", Role.MASTER, 2),
        ("b", Role.NODE, 0),
        ("z", Role.NODE, 0),
        ("a", Role.NODE, 0),
    ]
    named = {spec.name: spec for spec in config.hosts}
    assert named["b"].labels == {"example.com/rack": "r7", "size": "xl", "big": "yes"}
    assert named["a"].arch == "arm64"
    assert named["b"].arch == "amd64"
    assert named["z"].kubelet.config == {"maxPods": 50}
    assert [taint.key for taint in named["m0"].taints] == ["node-role.kubernetes.io/control-plane"]


def test_a_host_less_in_the_middle_renames_nobody() -> None:
    """H13: hosts are known by their names, and not by their places in a list."""
    nodes = [host(name) for name in ("a", "b", "c")]
    before, after = good(keys(MASTER, *nodes)), good(keys(MASTER, nodes[0], nodes[2]))
    assert [spec.name for spec in before.hosts] == ["m1", "a", "b", "c"]
    assert [spec.name for spec in after.hosts] == ["m1", "a", "c"]


def test_the_order_of_the_hosts_makes_no_difference() -> None:
    hosts = [*masters(3), host("b"), host("a", pool="big")]
    configs = [good(keys(*order, apiHost="x")) for order in (hosts, hosts[::-1])]
    assert configs[0].hosts == configs[1].hosts
    assert configs[0].pools == configs[1].pools


def test_hosts_may_be_in_any_range() -> None:
    """What is 172.30.0.0/24 to others is pods' here, and a name as long as DNS allows is no sum."""
    network = {"podCidr": "172.30.0.0/16"}
    good(keys(MASTER, host("n" * 63), more={"network": network, "name": "c" * 40}))


def test_what_show_prints_is_a_stack_file() -> None:
    raw = keys(*TWO, bastion={"address": "b.example.com", "hostKey": HOST_KEY})
    shown = configdoc.effective(raw)
    again = yaml.safe_load(shown)["config"]["kubernetes-anywhere:cluster"]
    assert configdoc.effective(again) == shown
    assert again["masters"]["count"] == 1


def test_the_stack_file_of_the_repository(home: Path) -> None:
    """Its addresses are nobody's (RFC 5737), so that nothing but their keys is missing."""
    file = Path(__file__).parents[3] / "Pulumi.metal.yaml"
    raw = configdoc.stack_file(file)
    assert isinstance(raw, dict)
    raw["mirror"] = None
    known = home / ".ssh" / "known_hosts"
    known.write_text("".join(f"192.0.2.{n} {public_key(str(n))}\n" for n in (11, 12, 13)))
    config = parse(raw)
    assert [spec.name for spec in config.hosts] == ["metal-1", "metal-2", "metal-3"]
    known.unlink()
    assert list(problems(raw)) == [f"metal.hosts[{index}].hostKey" for index in range(3)]
