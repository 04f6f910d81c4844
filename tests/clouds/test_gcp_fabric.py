"""What a simulated Google account means on this computer, without Docker."""

from __future__ import annotations

import pytest

from tests.clouds.bench import SETTINGS, change, make
from tests.clouds.core.account import Account
from tests.clouds.core.kind import CloudError
from tests.clouds.fabric.model import Disk, Fabric, Nat, Probe, Rule
from tests.clouds.gcp import CLOUD, links
from tests.clouds.gcp.fabric import fabric
from tests.clouds.gcp.sample import (
    OTHER_ZONE,
    ZONE,
    allow,
    balancer,
    group,
    instance,
    join,
    network,
)

SUBNET = "projects/simulated-project/regions/us-central1/subnetworks/subnet"


@pytest.fixture
def account() -> Account:
    """A network with a subnet."""
    made = Account()
    network(made)
    return made


def inbound(found: Fabric, name: str) -> set[tuple[str, tuple[int, int] | None, frozenset[str]]]:
    (machine,) = (one for one in found.machines.values() if one.name == name)
    return {(rule.protocol, rule.ports, frozenset(rule.peers)) for rule in machine.inbound}


def test_nothing_comes_in_and_everything_goes_out_without_rules(account: Account) -> None:
    instance(account, "machine", tags=["a"])
    (machine,) = fabric(account).machines.values()
    assert machine.inbound == ()
    assert machine.outbound == (Rule(protocol="any", ports=None, peers=("0.0.0.0/0",)),)


def test_a_machine_is_what_its_instance_says(account: Account) -> None:
    disk = make(account, links.DISK, name="disk", zone=ZONE, type="pd-balanced", size=10)
    instance(
        account,
        "machine",
        public=True,
        attachedDisks=[{"source": disk["selfLink"], "deviceName": "etcd"}],
        metadata={
            "ssh-keys": "ubuntu:ssh-ed25519 AAAA one\ncore:ssh-ed25519 BBBB\nubuntu:ssh-rsa CCCC",
            "user-data": "#cloud-config\nruncmd: [true]\n",
        },
    )
    found = fabric(account)
    (machine,) = found.machines.values()
    assert (machine.network, machine.address, machine.mtu) == (SUBNET, "10.0.0.2", 1460)
    assert machine.public_address == "198.18.32.18"
    assert machine.login_keys == {
        "ubuntu": ("ssh-ed25519 AAAA one", "ssh-rsa CCCC"),
        "core": ("ssh-ed25519 BBBB",),
    }
    assert machine.user_data == "#cloud-config\nruncmd: [true]\n"
    assert machine.disks == (Disk(id=disk.id, size_gb=10, path="/dev/disk/by-id/google-etcd"),)
    assert (machine.running, machine.forwards, machine.local_addresses) == (True, False, ())
    (there,) = found.networks.values()
    assert (there.id, there.cidr, there.mtu, there.internet) == (SUBNET, "10.0.0.0/24", 1460, True)


def test_os_login_makes_metadata_keys_worthless(account: Account) -> None:
    keys = {"ssh-keys": "ubuntu:ssh-ed25519 AAAA", "enable-oslogin": "TRUE"}
    instance(account, "machine", metadata=keys)
    (machine,) = fabric(account).machines.values()
    assert machine.login_keys == {}


def test_a_rule_is_for_the_machines_with_its_target_tag(account: Account) -> None:
    instance(account, "master", tags=["master"])
    instance(account, "node", tags=["node"])
    allow(account, "ssh", "22", sourceRanges=["203.0.113.7/32"], targetTags=["master"])
    allow(account, "all", "80-90", protocol="udp", sourceRanges=["203.0.113.0/24"])
    found = fabric(account)
    everybody = ("udp", (80, 90), frozenset({"203.0.113.0/24"}))
    assert inbound(found, "node") == {everybody}
    assert inbound(found, "master") == {
        everybody,
        ("tcp", (22, 22), frozenset({"203.0.113.7/32"})),
    }


def test_a_source_tag_is_private_addresses_and_no_public_one(account: Account) -> None:
    instance(account, "master", tags=["master"], public=True)
    instance(account, "first", tags=["node"], public=True)
    instance(account, "second", tags=["node"], public=True)
    allow(account, "api", "6443", sourceTags=["node"], targetTags=["master"])
    found = fabric(account)
    assert inbound(found, "master") == {
        ("tcp", (6443, 6443), frozenset({"10.0.0.3/32", "10.0.0.4/32"}))
    }
    assert inbound(found, "first") == set()


def test_a_source_tag_of_no_machine_lets_nobody_in(account: Account) -> None:
    instance(account, "master", tags=["master"])
    allow(account, "api", "6443", sourceTags=["node"], targetTags=["master"])
    assert inbound(fabric(account), "master") == set()


def test_rules_of_another_network_say_nothing_here(account: Account) -> None:
    make(account, links.NETWORK, name="other", autoCreateSubnetworks=False)
    instance(account, "machine")
    rule = {"allows": [{"protocol": "all"}], "sourceRanges": ["0.0.0.0/0"]}
    make(account, links.FIREWALL, name="elsewhere", network="other", **rule)
    assert inbound(fabric(account), "machine") == set()
    make(account, links.FIREWALL, name="here", network="net", **rule)
    assert inbound(fabric(account), "machine") == {("any", None, frozenset({"0.0.0.0/0"}))}


def test_a_balancer_has_the_members_of_all_its_groups(account: Account) -> None:
    groups = group(account), group(account, zone=OTHER_ZONE)
    masters = instance(account, "first"), instance(account, "second", zone=OTHER_ZONE)
    instance(account, "node")
    for of, machine in zip(groups, masters, strict=True):
        join(account, of, machine)
    rule = balancer(account, *groups)
    found = fabric(account)
    (made,) = found.balancers.values()
    assert made.backends == tuple(machine.id for machine in masters)
    assert (made.address, made.port, made.backend_port) == (rule["ipAddress"], 6443, 6443)
    assert (made.translate, made.clients, made.network) == (False, None, SUBNET)
    assert made.probe == Probe(
        protocol="https",
        port=6443,
        path="/readyz",
        source="35.191.0.1",
        interval_seconds=5,
        healthy=2,
        unhealthy=2,
    )
    local = {machine.name: machine.local_addresses for machine in found.machines.values()}
    assert local == {"first": (rule["ipAddress"],), "second": (rule["ipAddress"],), "node": ()}


def test_nat_is_for_the_listed_subnets(account: Account) -> None:
    make(account, links.SUBNETWORK, name="other", network="net", ipCidrRange="10.9.0.0/24")
    make(account, links.ROUTER, name="router", network="net")
    address = make(account, links.ADDRESS, name="nat")
    make(
        account,
        links.ROUTER_NAT,
        name="nat",
        router="router",
        natIpAllocateOption="MANUAL_ONLY",
        natIps=[address["selfLink"]],
        sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS",
        subnetworks=[{"name": SUBNET, "sourceIpRangesToNats": ["PRIMARY_IP_RANGE"]}],
    )
    assert fabric(account).nats == {
        SUBNET: Nat(network=SUBNET, sources=("10.0.0.0/24",), address=address["address"])
    }


def test_the_existing_network_can_have_our_subnet(account: Account) -> None:
    made = make(
        account, links.SUBNETWORK, name="ours", network="existing", ipCidrRange="10.30.0.0/24"
    )
    instance(account, "machine", networkInterfaces=[{"subnetwork": made["selfLink"]}], tags=["a"])
    rule = {"allows": [{"protocol": "tcp", "ports": ["22"]}], "sourceRanges": ["203.0.113.7/32"]}
    make(account, links.FIREWALL, name="ssh", network="existing", **rule)
    found = fabric(account)
    assert found.networks[made.id].mtu == 1460
    assert inbound(found, "machine") == {("tcp", (22, 22), frozenset({"203.0.113.7/32"}))}


def test_an_ephemeral_address_stays_when_the_machine_is_changed(account: Account) -> None:
    interface = [{"subnetwork": SUBNET, "accessConfigs": [{}]}]
    made = instance(account, "machine", networkInterfaces=interface)
    before = made["networkInterfaces"]
    change(account, made, tags=["other"])
    assert made["networkInterfaces"] == before
    (machine,) = fabric(account).machines.values()
    assert machine.public_address == before[0]["accessConfigs"][0]["natIp"]


# --- mishaps


def test_a_terminated_machine_leaves_its_group(account: Account) -> None:
    of, machine = group(account), instance(account, "master")
    join(account, of, machine)
    balancer(account, of)
    assert len(fabric(account).balancers) == 1
    CLOUD.mishaps["terminate"](account, "master")
    assert (account.of(links.INSTANCE), account.of(links.MEMBERSHIP)) == ([], [])
    assert (fabric(account).machines, fabric(account).balancers) == ({}, {})


@pytest.mark.parametrize(("action", "left"), [("DELETE", []), ("STOP", [False])])
def test_a_spot_machine_is_taken_back_as_it_says(
    account: Account, action: str, left: list[bool]
) -> None:
    scheduling = {
        "provisioningModel": "SPOT",
        "preemptible": True,
        "automaticRestart": False,
        "instanceTerminationAction": action,
    }
    machine = instance(account, "spot", scheduling=scheduling)
    CLOUD.mishaps["reclaim"](account, machine.id)
    assert [one.running for one in fabric(account).machines.values()] == left


def test_no_other_machine_is_taken_back(account: Account) -> None:
    instance(account, "machine")
    with pytest.raises(CloudError, match="is no spot machine"):
        CLOUD.mishaps["reclaim"](account, "machine")
    assert len(account.of(links.INSTANCE)) == 1


def test_a_zone_fails_with_all_that_is_in_it(account: Account) -> None:
    instance(account, "here")
    instance(account, "there", zone=OTHER_ZONE)
    CLOUD.mishaps["fail-zone"](account, ZONE)
    running = {one.name: one.running for one in fabric(account).machines.values()}
    assert running == {"here": False, "there": True}


def test_a_rule_that_is_revoked_lets_nobody_in(account: Account) -> None:
    instance(account, "machine")
    allow(account, "ssh", "22", sourceRanges=["0.0.0.0/0"])
    CLOUD.mishaps["revoke"](account, "ssh")
    assert inbound(fabric(account), "machine") == set()
    with pytest.raises(CloudError, match="there are 0 of ssh"):
        CLOUD.mishaps["revoke"](account, "ssh")


# --- what a program can ask


def ask(function: str, **arguments: object) -> object:
    return CLOUD.functions[f"gcp:compute/{function}:{function}"](arguments, SETTINGS["gcp"])


def test_functions_answer_as_google_does() -> None:
    zones = ask("getZones", region="us-east1")
    assert isinstance(zones, dict)
    assert zones["names"] == ["us-east1-b", "us-east1-c", "us-east1-d"]
    image = ask("getImage", project="ubuntu-os-cloud", family="ubuntu-2404-lts-amd64")
    assert isinstance(image, dict)
    assert image["selfLink"].endswith("global/images/ubuntu-2404-noble-amd64-v20260401")
    types = ask(
        "getMachineTypes",
        zone="us-central1-c",
        filter='(name = "e2-medium") OR (name = "t2a-standard-2")',
    )
    assert isinstance(types, dict)
    assert [kind["name"] for kind in types["machineTypes"]] == ["e2-medium"]
    there = ask("getNetwork", name="existing")
    assert isinstance(there, dict)
    assert there["selfLink"].endswith("projects/simulated-project/global/networks/existing")


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("getZones", {"region": "us-central9"}),
        ("getImage", {"project": "ubuntu-os-cloud", "family": "ubuntu-2404-lts"}),
        ("getNetwork", {"name": "other"}),
    ],
)
def test_functions_know_nothing_else(function: str, arguments: dict[str, str]) -> None:
    with pytest.raises(CloudError, match="was not found, notFound"):
        ask(function, **arguments)
