"""What a good config comes to."""

from __future__ import annotations

from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from config import ClusterConfig
from model import Role
from tests.config.cases import OLD, Raw, args, field, network, pool, problems
from validation import parse
from validation.networks import RESERVED
from versions import DEFAULT_RELEASE

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("raw", [None, {}])
def test_defaults(raw: Raw | None, flags: Path) -> None:
    config = parse(raw, flags)
    assert config == ClusterConfig()
    assert config.kubernetes_version == DEFAULT_RELEASE
    assert [host.name for host in config.hosts] == [
        "kubernetes-master-0",
        "kubernetes-node-0",
        "kubernetes-node-1",
    ]
    assert [host.role for host in config.hosts] == [Role.MASTER, Role.NODE, Role.NODE]


GOOD: dict[str, Raw] = {
    "seven-masters-no-pools": {"masters": {"count": 7}, "pools": []},
    "empty-pool": pool(count=0),
    "thousand-nodes": {
        "pools": [{"name": "node", "count": 1000}],
        "network": {"podCidr": "10.128.0.0/14", "hostCidr": "10.0.0.0/20"},
    },
    "labels-a-kubelet-may-have": pool(
        labels={
            "disk": "",
            "example.com/disk": "ssd",
            "node.kubernetes.io/any": "x",
            "a.node.kubernetes.io/any": "x",
            "topology.kubernetes.io/zone": "a",
            "notkubernetes.io/x": "y",
        }
    ),
    "taints-of-one-key": pool(
        taints=[{"key": "gpu", "effect": "NoSchedule"}, {"key": "gpu", "effect": "NoExecute"}]
    ),
    "known-flags": {
        **args("apiserver", "audit-log-maxage", "5"),
        **args("etcd", "quota-backend-bytes", "1"),
    },
    "own-admission-plugins": args(
        "apiserver", "enable-admission-plugins", "PodNodeSelector,NodeRestriction"
    ),
    "flag-of-the-older-version": {"kubernetesVersion": OLD, **args("kubelet", "containerd", "x")},
    "field-of-the-newer-version": field("defaultPodSysctls", {}),
    "kubelet-fields": {
        "kubelet": {
            "config": {
                "maxPods": 50,
                "failSwapOn": False,
                "evictionHard": {"memory.available": "5%"},
                "memoryThrottlingFactor": 1,
                "imageMaximumGCAge": "24h",
                "clusterDNS": ["169.254.20.10"],
            }
        }
    },
    "forward": {"addons": {"logging": {"output": "forward", "forward": {"host": "logs"}}}},
    "heapster": {"arch": "amd64", "addons": {"metrics": "heapster"}},
    "certificates-of-two-hours": {"certificates": {"validHours": 2, "renewHours": 1}},
    "no-mirror": {"mirror": None},
    "ranges-side-by-side": network(
        podCidr="10.0.0.0/16", serviceCidr="10.1.0.0/16", hostCidr="10.2.0.0/24"
    ),
    "beside-docker": network(hostCidr="172.18.0.0/24", podCidr="172.16.0.0/16"),
}


@pytest.mark.parametrize("raw", GOOD.values(), ids=GOOD)
def test_good_input(raw: Raw, flags: Path) -> None:
    assert isinstance(parse(raw, flags), ClusterConfig)


def test_names_are_camel_case_outside_only(flags: Path) -> None:
    assert parse({"kubernetesVersion": OLD}, flags) == ClusterConfig(kubernetes_version=OLD)


def test_the_config_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(ClusterConfig(), "name", "other")  # noqa: B010 - mypy knows that it is frozen


@pytest.mark.parametrize("count", [1, 10, 11, 100, 101, 1000])
@pytest.mark.parametrize("cluster", [1, 20, 40])
def test_the_longest_name_that_fits_fits_and_one_more_does_not(
    cluster: int, count: int, flags: Path
) -> None:
    """E04: 63 characters, whatever the digits of the last index."""
    digits = len(str(count - 1))
    room = 63 - cluster - digits - 2
    network = {"podCidr": "10.128.0.0/14", "hostCidr": "10.0.0.0/20"}

    def named(length: int) -> Raw:
        item = {"name": "p" * length, "count": count}
        return {"name": "c" * cluster, "pools": [item], "network": network}

    fits = min(room, 40)
    longest = max(len(host.name) for host in parse(named(fits), flags).hosts)
    assert longest == (63 if room <= 40 else cluster + 40 + digits + 2)
    assert [problem.path for problem in problems(named(fits + 1), flags)] == ["pools[0].name"]


@pytest.mark.parametrize(
    ("cidr", "first", "tenth"),
    [
        ("10.96.0.0/12", "10.96.0.1", "10.96.0.10"),
        ("172.20.0.128/25", "172.20.0.129", "172.20.0.138"),
        ("10.96.0.240/28", "10.96.0.241", "10.96.0.250"),
    ],
)
def test_service_addresses(cidr: str, first: str, tenth: str, flags: Path) -> None:
    config = parse(network(serviceCidr=cidr), flags)
    assert config.kubernetes_service_address == IPv4Address(first)
    assert config.dns_service_address == IPv4Address(tenth)


@pytest.mark.parametrize("bits", range(1, 9))
def test_exactly_as_many_hosts_as_there_are_pieces(bits: int, flags: Path) -> None:
    """H19: 2^bits hosts fit, one more does not."""
    network = {"podCidr": f"10.128.0.0/{24 - bits}", "hostCidr": "172.30.0.0/16"}

    def hosts(count: int) -> Raw:
        return {"network": network, "pools": [{"name": "node", "count": count - 1}]}

    assert len(parse(hosts(1 << bits), flags).hosts) == 1 << bits
    assert [p.path for p in problems(hosts((1 << bits) + 1), flags)] == ["network.podCidr"]


@pytest.mark.parametrize("prefix", [29, 28, 27])
def test_exactly_as_many_hosts_as_there_are_addresses(prefix: int, flags: Path) -> None:
    room = (1 << (32 - prefix)) - 5

    def hosts(count: int) -> Raw:
        network = {"hostCidr": f"172.30.0.0/{prefix}"}
        return {"network": network, "pools": [{"name": "node", "count": count - 1}]}

    assert len(parse(hosts(room), flags).hosts) == room
    assert [p.path for p in problems(hosts(room + 1), flags)] == ["network.hostCidr"]


@pytest.mark.parametrize("reserved", RESERVED.values(), ids=str)
def test_no_advice_collides(reserved: Any, flags: Path) -> None:
    """What a remedy about ranges proposes is accepted."""
    cidr = f"{reserved.network_address}/24"
    (problem,) = problems(network(podCidr=cidr, nodePrefix=26), flags)
    advice = problem.remedy.rsplit(" ", 1)[-1]
    assert parse(network(podCidr=advice, nodePrefix=26), flags).network.pod_cidr == advice


def test_settings_of_a_pool_win_over_those_of_all(flags: Path) -> None:
    raw: Raw = {
        "kubelet": {"config": {"maxPods": 50, "failSwapOn": False}, "extraArgs": {"v": "2"}},
        "pools": [{"name": "small", "kubelet": {"config": {"maxPods": 9}}}],
    }
    master, node = parse(raw, flags).hosts
    assert master.kubelet.config == {"maxPods": 50, "failSwapOn": False}
    assert node.kubelet.config == {"maxPods": 9, "failSwapOn": False}
    assert node.kubelet.extra_args == {"v": "2"}
