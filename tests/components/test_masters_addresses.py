"""Each master has a private address of its own on each cloud, and nothing else can get it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from model import MOST_MASTERS
from tests.clouds.aws import tokens as aws
from tests.clouds.azure import ids as azure
from tests.clouds.azure.offers import EXISTING, EXISTING_GROUP
from tests.clouds.gcp import links as gce
from tests.clouds.mocked import ACCESS, PLATFORMS, CloudAnswers, keys, record_cloud
from tests.conftest import LOCAL_COMMAND, UNKNOWN, Graph, Registered, record, whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulumi.runtime.mocks import MockResourceArgs

VNET = (
    f"subscriptions/{PLATFORMS['azure']['account']}/resourceGroups/{EXISTING_GROUP}"
    f"/providers/Microsoft.Network/virtualNetworks/{EXISTING}"
)


def private_in(existing: str, cidr: str) -> dict[str, Any]:
    """Three masters without public addresses, in a network that is there already."""
    network = {"existing": existing, "hostCidr": cidr}
    return {"masters": 3, "access": {**ACCESS, "private": True}, "network": network}


# {platform: {case: (keys, the masters' addresses)}}
CASES: Mapping[str, Mapping[str, tuple[dict[str, Any], list[str]]]] = {
    "aws": {
        # In the public subnets of three zones: 0-31, 64-95, 128-159, and again from the first.
        "five": ({"masters": 5}, [f"172.30.0.{last}" for last in (30, 93, 156, 27, 90)]),
        # In the private ones: 32-63, 96-127, 160-191.
        "private": (
            private_in("vpc-existing", "10.20.4.0/24"),
            [f"10.20.4.{last}" for last in (62, 125, 188)],
        ),
    },
    "gce": {
        "five": ({"masters": 5}, [f"172.30.0.{last}" for last in (253, 252, 251, 250, 249)]),
        "private": (
            private_in("existing", "10.20.4.0/24"),
            [f"10.20.4.{last}" for last in (253, 252, 251)],
        ),
    },
    "azure": {
        "five": ({"masters": 5}, [f"172.30.0.{last}" for last in (254, 253, 252, 251, 250)]),
        "private": (
            private_in(VNET, "10.60.9.0/24"),
            [f"10.60.9.{last}" for last in (254, 253, 252)],
        ),
    },
}
ALL = [(platform, case) for platform, cases in CASES.items() for case in cases]


@cache
def graph_of(platform: str, case: str) -> Graph:
    return record_cloud(platform, **CASES[platform][case][0])


def asked_for(graph: Graph, platform: str) -> dict[str, str | None]:
    """{machine: the private address that it asks for}."""
    found: dict[str, str | None] = {}
    if platform == "aws":
        for name, item in graph.of_type(aws.INSTANCE).items():
            found[name] = item.inputs.get("privateIp")
    if platform == "gce":
        for name, item in graph.of_type(gce.INSTANCE).items():
            found[name] = item.inputs["networkInterfaces"][0].get("networkIp")
    if platform == "azure":
        for name, item in graph.of_type(azure.INTERFACE).items():
            (one,) = item.inputs["ipConfigurations"]
            static = one["privateIPAllocationMethod"] == "Static"
            assert static is ("privateIPAddress" in one)
            found[name.removesuffix("-interface")] = one.get("privateIPAddress")
    return found


@pytest.mark.parametrize(("platform", "case"), ALL)
def test_masters_ask_for_addresses_of_their_own_and_nobody_else_does(
    platform: str, case: str
) -> None:
    """H12: one that is made anew is the same member of etcd."""
    addresses = CASES[platform][case][1]
    found = asked_for(graph_of(platform, case), platform)
    masters = {f"test-master-{index}": address for index, address in enumerate(addresses)}
    others = {"test-node-0", "test-node-1", *(["test-bastion"] if case == "private" else [])}
    assert found == {**masters, **dict.fromkeys(others)}


def members(addresses: list[str]) -> str:
    """What a master is told of all of them."""
    lines = [f"master test-master-{index} {address}" for index, address in enumerate(addresses)]
    return "\n".join(["", *lines, ""])


@pytest.mark.parametrize(("platform", "case"), ALL)
def test_what_others_are_told_of_a_master_is_that_address(platform: str, case: str) -> None:
    graph, addresses = graph_of(platform, case), CASES[platform][case][1]
    for index, address in enumerate(addresses):
        text = graph.step(f"test-master-{index}-activate").inputs["stdin"]
        assert f"{members(addresses)}founder\nmembers\n" in text
        request = graph.named("tls:index/certRequest:CertRequest", f"test-master-{index}-etcd")
        assert address in request.inputs["ipAddresses"]


@pytest.mark.parametrize("platform", CASES)
def test_a_master_that_is_made_anew_changes_nothing_for_the_others(platform: str) -> None:
    """H12: its address is known while the machine is not; a preview says nothing of the rest.

    Whom the cluster began with is noted once: the engine has the old text, as it ignores a new one.
    """
    more, addresses = CASES[platform]["five"]
    note = graph_of(platform, "five").named(LOCAL_COMMAND, "test-founders")
    assert note.ignore_changes == ("stdin",)

    class Noted(CloudAnswers):
        def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, Any]]:
            if args.name == note.name:
                return "id", dict(note.inputs)
            return super().new_resource(args)

    anew = record(
        whole(**keys(platform, **more)),
        preview=True,
        is_unknown=lambda name: name.startswith("test-master-1"),
        answers=Noted,
    )
    assert anew.step("test-master-1-activate").inputs["stdin"] == UNKNOWN
    assert members(addresses) in anew.step("test-master-0-activate").inputs["stdin"]
    assert anew.step("test-node-0-activate").inputs["stdin"] != UNKNOWN


# --- the addresses of those masters, too, that there are not yet


def reservations(graph: Graph, platform: str) -> dict[str, Registered]:
    """{address: its reservation}, of masters."""
    if platform == "aws":
        items = graph.of_type(aws.RESERVATION).values()
        return {item.inputs["cidrBlock"].removesuffix("/32"): item for item in items}
    items = graph.of_type(gce.ADDRESS).values()
    internal = [item for item in items if item.inputs.get("addressType") == "INTERNAL"]
    return {item.inputs["address"]: item for item in internal}


PRIVATE_AWS = ("aws", "private")
RESERVING = [(platform, case) for platform, case in ALL if platform != "azure"]


@pytest.mark.parametrize(("platform", "case"), RESERVING)
def test_as_many_addresses_are_reserved_as_there_can_be_masters(platform: str, case: str) -> None:
    found = reservations(graph_of(platform, case), platform)
    assert len(found) == MOST_MASTERS
    assert {*CASES[platform][case][1]} <= found.keys()


@pytest.mark.parametrize(("platform", "case"), RESERVING)
def test_nothing_gets_an_address_before_those_are_reserved(platform: str, case: str) -> None:
    graph = graph_of(platform, case)
    urns = {item.urn for item in reservations(graph, platform).values()}
    kinds = [aws.INSTANCE, aws.BALANCER, aws.NAT, gce.INSTANCE]
    items = [item for kind in kinds for item in graph.of_type(kind).values()]
    # On AWS, private hosts have subnets of their own, where nothing else is.
    elsewhere = {"test-api", "test-nat", "test-bastion"} if (platform, case) == PRIVATE_AWS else {}
    before = {item.name for item in items if urns <= graph.ancestors(item)}
    assert before == {item.name for item in items} - {*elsewhere}
    assert {"test-master-0", "test-node-1"} < before


def test_a_reservation_on_aws_is_in_the_subnet_of_the_master_s_zone() -> None:
    graph = graph_of("aws", "five")
    zones = {
        item.name.removeprefix("test-public-"): item for item in graph.of_type(aws.SUBNET).values()
    }
    for index in range(MOST_MASTERS):
        reservation = graph.of_type(aws.RESERVATION)[f"test-master-{index}"]
        zone = zones[f"us-east-1{'abc'[index % 3]}"]
        assert zone.urn in graph.ancestors(reservation)
        assert reservation.inputs["reservationType"] == "explicit"


def test_the_names_of_reservations_on_gce_are_unlike_those_of_public_addresses() -> None:
    items = graph_of("gce", "five").of_type(gce.ADDRESS).values()
    names = [item.inputs["name"] for item in items]
    assert len(names) == len({*names}) == MOST_MASTERS + 5 + 2 + 1
    assert "test-master-6-private" in names
