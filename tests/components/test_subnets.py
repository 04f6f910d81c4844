"""Which addresses masters have, and when a range is too small for a cluster, on each cloud."""

from __future__ import annotations

import json
from importlib import import_module
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING, Any

import pytest

from components import subnets
from components.aws.facts import KEPT as AWS
from components.azure.facts import KEPT as AZURE
from components.gce.facts import KEPT as GCE
from components.subnets import Kept, Layout
from config import ClusterConfig
from model import MOST_MASTERS
from tests.clouds.mocked import ACCESS, keys

if TYPE_CHECKING:
    from collections.abc import Iterable

    from findings import Finding


def config(platform: str, **more: Any) -> ClusterConfig:
    return ClusterConfig.model_validate_json(json.dumps(keys(platform, arch="amd64", **more)))


def findings(platform: str, **more: Any) -> list[Finding]:
    found: Iterable[Finding] = import_module(f"components.{platform}.rules").rules(
        config(platform, **more)
    )
    return list(found)


def test_a_master_s_address_is_counted_from_the_end_of_what_the_cloud_leaves() -> None:
    first = {kept: subnets.master_address("10.0.0.0/24", kept, 0) for kept in (AWS, GCE, AZURE)}
    assert first == {AWS: "10.0.0.254", GCE: "10.0.0.253", AZURE: "10.0.0.254"}
    assert subnets.master_address("10.0.0.0/24", AWS, 6) == "10.0.0.248"


@pytest.mark.parametrize("kept", [AWS, GCE, AZURE])
@pytest.mark.parametrize("prefix", [16, 24, 28])
def test_no_master_has_an_address_of_the_cloud_s_or_of_another_master(
    kept: Kept, prefix: int
) -> None:
    network = IPv4Network(f"10.20.0.0/{prefix}")
    found = [
        IPv4Address(subnets.master_address(str(network), kept, index))
        for index in range(MOST_MASTERS)
    ]
    assert len({*found}) == MOST_MASTERS
    assert min(found) >= network[kept.first]
    assert max(found) < network[-kept.last]


def test_only_masters_have_addresses_of_their_own() -> None:
    master, node, *_ = config("gce").hosts
    assert subnets.fixed_address(master, "10.0.0.0/24", GCE) == "10.0.0.253"
    assert subnets.fixed_address(node, "10.0.0.0/24", GCE) is None


def test_what_is_in_the_fullest_subnet() -> None:
    layout = Layout(prefix=27, kept=AWS, zones=3, others=3)
    pools = [{"name": "a", "count": 4}, {"name": "b", "count": 1}]
    assert subnets.addresses(layout) == 27
    assert subnets.for_masters(layout) == 3
    assert subnets.for_nodes(config("aws", pools=pools), layout) == 3 + 2 + 1


def pools(count: int) -> dict[str, Any]:
    return {"pools": [{"name": "node", "count": count}]}


PRIVATE = {"access": {**ACCESS, "private": True}}
# (platform, keys, a range that is too small for one node of them, the prefix of one that is not)
FULL: list[tuple[str, dict[str, Any], str, int]] = [
    ("gce", pools(6), "172.30.0.0/28", 27),  # 12 - 7 = 5
    ("azure", pools(5), "172.30.0.0/28", 27),  # 11 - 7 = 4
    ("azure", {**pools(4), **PRIVATE}, "172.30.0.0/28", 27),
    ("gce", pools(246), "172.30.0.0/24", 23),  # 252 - 7 = 245
    # Subnets of /28: 11 - 3 - 3 = 5 in each of three zones.
    ("aws", pools(16), "172.30.0.0/25", 24),
    # The same in the one zone, where all masters would be: 11 - 7 - 3 = 1.
    ("aws", {**pools(2), "zones": ["us-east-1a"]}, "172.30.0.0/25", 24),
]


@pytest.mark.parametrize(("platform", "more", "cidr", "prefix"), FULL)
def test_a_range_has_room_for_all_masters_that_there_can_be(
    platform: str, more: dict[str, Any], cidr: str, prefix: int
) -> None:
    network = {"network": {"hostCidr": cidr}}
    (found,) = findings(platform, **more, **network)
    assert found.at == ("network", "hostCidr")
    assert found.value == cidr
    assert "as many masters as there can be" in found.message
    assert found.remedy == f"write a range of /{prefix} or bigger"
    bigger = {"network": {"hostCidr": f"172.30.0.0/{prefix}"}}
    assert findings(platform, **more, **bigger) == []
    fewer = pools(more["pools"][0]["count"] - 1)
    assert findings(platform, **{**more, **fewer}, **network) == []


@pytest.mark.parametrize("platform", ["gce", "azure"])
def test_the_smallest_subnets_are_too_small_for_the_masters_alone(platform: str) -> None:
    more = {"pools": [], "network": {"hostCidr": "172.30.0.0/29"}}
    (found,) = findings(platform, **more)
    assert "are needed 7 for as many masters as there can be and 0 for all others" in found.message
    assert found.remedy == "write a range of /28 or bigger"


@pytest.mark.parametrize(("platform", "prefix"), [("gce", 30), ("azure", 30), ("aws", 27)])
def test_a_range_that_there_cannot_be_is_named_once(platform: str, prefix: int) -> None:
    (found,) = findings(platform, network={"hostCidr": f"172.30.0.0/{prefix}"}, pools=[])
    assert "as many masters" not in found.message
