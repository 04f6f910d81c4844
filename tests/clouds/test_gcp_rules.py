"""The simulated Google refuses what Google refuses, and says so in its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.clouds.bench import change, kind_of, make, remove
from tests.clouds.core.account import Account
from tests.clouds.core.changes import diff
from tests.clouds.core.kind import CloudError
from tests.clouds.gcp import CLOUD, links
from tests.clouds.gcp.sample import (
    ARM_IMAGE,
    IMAGE,
    OTHER_ZONE,
    ZONE,
    allow,
    balancer,
    group,
    instance,
    join,
    network,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def account() -> Account:
    """A network with a subnet."""
    made = Account()
    network(made)
    return made


def subnet(**inputs: Any) -> Callable[[Account], object]:
    defaults = {"name": "second", "network": "net", "ipCidrRange": "10.1.0.0/24"}
    return lambda account: make(account, links.SUBNETWORK, **{**defaults, **inputs})


def machine(**inputs: Any) -> Callable[[Account], object]:
    return lambda account: instance(account, **{"name": "machine", **inputs})


def firewall(**inputs: Any) -> Callable[[Account], object]:
    defaults = {
        "name": "rule",
        "network": "net",
        "allows": [{"protocol": "tcp", "ports": ["22"]}],
        "sourceRanges": ["0.0.0.0/0"],
    }
    return lambda account: make(account, links.FIREWALL, **{**defaults, **inputs})


def disk(**inputs: Any) -> Callable[[Account], object]:
    defaults = {"name": "disk", "zone": ZONE, "type": "pd-balanced", "size": 10}
    return lambda account: make(account, links.DISK, **{**defaults, **inputs})


def boot(**parameters: Any) -> dict[str, Any]:
    defaults = {"image": IMAGE, "type": "pd-balanced", "size": 30}
    return {"initializeParams": {**defaults, **parameters}}


def spot(**inputs: Any) -> dict[str, Any]:
    defaults = {"provisioningModel": "SPOT", "preemptible": True, "automaticRestart": False}
    return {**defaults, "instanceTerminationAction": "DELETE", **inputs}


ACCEPTED: list[Callable[[Account], object]] = [
    subnet(),
    subnet(network=f"{links.API}projects/simulated-project/global/networks/net"),
    subnet(network="existing"),
    firewall(sourceRanges=None, sourceTags=["a"], targetTags=["b"]),
    firewall(allows=[{"protocol": "udp", "ports": ["1-65535"]}, {"protocol": "icmp"}]),
    disk(type="hyperdisk-balanced", size=4),
    machine(),
    machine(scheduling=spot()),
    machine(machineType="t2a-standard-2", bootDisk=boot(image=ARM_IMAGE)),
    machine(machineType="c4-standard-2", bootDisk=boot(type="hyperdisk-balanced")),
]
REFUSED: list[tuple[Callable[[Account], object], str]] = [
    (subnet(name="Second"), "Must be a match of regex"),
    (subnet(name="a" * 64), "Must be a match of regex"),
    (subnet(network="other"), "networks/other' was not found, notFound"),
    (subnet(ipCidrRange="10.1.0.1/24"), "Must be a network with its first address"),
    (subnet(ipCidrRange="10.1.0.0/30"), "from /4 to /29"),
    (subnet(ipCidrRange="169.254.0.0/24"), "Overlaps a range that cannot be used"),
    (subnet(ipCidrRange="10.0.0.128/25"), "conflicts with existing subnetwork"),
    (subnet(network="existing", ipCidrRange="10.20.0.0/16"), "subnetworks/others"),
    (subnet(ipCidrRange=None), "'resource.ipCidrRange' not specified, required"),
    (subnet(name="subnet"), "already exists"),
    (subnet(privateIpGoogleAccess=True), "does not act on privateIpGoogleAccess"),
    (
        lambda account: make(account, links.NETWORK, name="existing", autoCreateSubnetworks=False),
        "Error 409: The resource 'projects/simulated-project/global/networks/existing' already",
    ),
    (lambda account: make(account, links.NETWORK, name="jumbo", mtu=9000), "between 1300 and 8896"),
    (firewall(allows=[]), "'resource.allows' not specified, required"),
    (firewall(allows=[{"protocol": "icmp", "ports": ["1"]}]), "icmp has no ports"),
    (firewall(allows=[{"protocol": "tcp", "ports": ["99999"]}]), "a port or a range of ports"),
    (firewall(allows=[{"protocol": "tls"}]), "Must be a protocol"),
    (firewall(allows=[{"ports": ["22"]}]), "allows[].protocol is required"),
    (firewall(sourceRanges=None), "one of source_tags, source_ranges"),
    (firewall(sourceRanges=["10.0.0.1/8"]), "'resource.sourceRanges': '10.0.0.1/8'"),
    (firewall(targetTags=["Master"]), "'resource.targetTags': 'Master'"),
    (firewall(network="other"), "notFound"),
    (disk(zone="us-central1-z"), "Unknown zone of us-central1"),
    (disk(size=9), "A pd-balanced disk has at least 10 GB"),
    (disk(type="pd-fast"), "diskTypes/pd-fast' was not found"),
    (disk(labels={"Team": "a"}), "'resource.labels.Team'"),
    (disk(labels={"team": "a b"}), "'resource.labels.team': 'a b'"),
    (disk(labels={f"key{n}": "" for n in range(65)}), "At most 64 labels"),
    (disk(size="10"), "size is '10', and not a whole number"),
    (machine(zone="europe-west4-a"), "Unknown zone of us-central1"),
    (machine(machineType="e2-huge"), "Machine type with name 'e2-huge' does not exist in zone"),
    (
        machine(zone="us-central1-c", machineType="t2a-standard-2", bootDisk=boot(image=ARM_IMAGE)),
        "'t2a-standard-2' does not exist in zone",
    ),
    (machine(bootDisk=boot(image=ARM_IMAGE)), "disk architecture (ARM64) is not compatible"),
    (machine(bootDisk=boot(image="projects/p/global/images/no")), "images/no' was not found"),
    (machine(bootDisk=boot(type="hyperdisk-balanced")), "[hyperdisk-balanced] features are not"),
    (machine(bootDisk=boot(labels={"A": ""})), "initializeParams.labels.A"),
    (machine(bootDisk={**boot(), "mode": "READ_ONLY"}), "does not act on bootDisk.mode"),
    (machine(bootDisk=boot(colour="red")), "bootDisk.initializeParams.colour is no property"),
    (machine(tags=["x"] * 65), "At most 64"),
    (machine(tags=["a_b"]), "'resource.tags.items[0]': 'a_b'"),
    (machine(metadata={"startup-script": "true"}), "does not act on metadata.startup-script"),
    (machine(metadata={"user-data": "x" * 262145}), "more than 262144 bytes"),
    (machine(metadata={"ssh-keys": "ssh-ed25519 AAAA"}), "Must be USER:TYPE KEY"),
    (machine(scheduling=spot(automaticRestart=True)), "Must be false when preemptible is true"),
    (machine(scheduling=spot(preemptible=False)), "SPOT machines, and only they"),
    (machine(scheduling={"instanceTerminationAction": "STOP"}), "Is for SPOT machines"),
    (machine(networkInterfaces=[{"subnetwork": "other"}]), "notFound"),
    (
        machine(
            networkInterfaces=[{"subnetwork": "subnet", "accessConfigs": [{"natIp": "1.2.3.4"}]}]
        ),
        "Is not reserved",
    ),
    (machine(attachedDisks=[{"source": "disk"}]), "disks/disk' was not found"),
]


@pytest.mark.parametrize("create", ACCEPTED)
def test_it_makes_what_is_right(account: Account, create: Callable[[Account], object]) -> None:
    before = len(account.things)
    create(account)
    assert len(account.things) == before + 1


@pytest.mark.parametrize(("create", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_it_refuses_what_is_wrong(
    account: Account, create: Callable[[Account], object], words: str
) -> None:
    before = dict(account.things)
    with pytest.raises(CloudError) as refusal:
        create(account)
    assert words in str(refusal.value)
    assert account.things == before


def test_an_address_is_one_machine_s(account: Account) -> None:
    first = instance(account, "first", public=True)
    address = first["networkInterfaces"][0]["accessConfigs"][0]["natIp"]
    interface = {"subnetwork": "subnet", "accessConfigs": [{"natIp": address}]}
    with pytest.raises(CloudError, match=f"External IP address: {address} is already in-use"):
        instance(account, "second", networkInterfaces=[interface])


def test_a_disk_is_one_machine_s_in_its_zone(account: Account) -> None:
    disk()(account)
    (made,) = account.of(links.DISK)
    attached = [{"source": made["selfLink"], "deviceName": "etcd"}]
    with pytest.raises(CloudError, match="Is in another zone"):
        instance(account, "elsewhere", zone=OTHER_ZONE, attachedDisks=attached)
    instance(account, "first", attachedDisks=attached)
    with pytest.raises(CloudError, match="resourceInUseByAnotherResource"):
        instance(account, "second", attachedDisks=attached)


def test_private_addresses_leave_out_what_google_keeps(account: Account) -> None:
    made = make(account, links.SUBNETWORK, name="small", network="net", ipCidrRange="10.2.0.0/29")
    names = ["a", "b", "c", "d"]
    interface = [{"subnetwork": made["selfLink"]}]
    found = [
        instance(account, name, networkInterfaces=interface)["networkInterfaces"][0]["networkIp"]
        for name in names
    ]
    assert found == ["10.2.0.2", "10.2.0.3", "10.2.0.4", "10.2.0.5"]
    with pytest.raises(CloudError, match="IP_SPACE_EXHAUSTED"):
        instance(account, "e", networkInterfaces=interface)


def test_a_group_takes_machines_of_its_zone_and_of_no_other_group(account: Account) -> None:
    first, second = group(account), group(account, "second")
    machine_there = instance(account, "there", zone=OTHER_ZONE)
    with pytest.raises(CloudError, match="Is not in the zone us-central1-a"):
        join(account, first, machine_there)
    machine_here = instance(account, "here")
    join(account, first, machine_here)
    with pytest.raises(CloudError, match="instanceInMultipleLoadBalancedIgs"):
        join(account, second, machine_here)


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"loadBalancingScheme": None}, "acts on EXTERNAL backend services of TCP only"),
        ({"healthChecks": "other"}, "healthChecks/other"),
        ({"backends": [{"group": "group"}]}, "'UTILIZATION'"),
        ({"backends": [{"group": "group", "balancingMode": "CONNECTION"}]}, "a full link"),
        ({"backends": [{"group": f"{links.API}x/y", "balancingMode": "CONNECTION"}]}, "notFound"),
    ],
)
def test_a_backend_service_says_how_it_balances(
    account: Account, inputs: dict[str, Any], words: str
) -> None:
    group(account)
    make(account, links.HEALTH_CHECK, name="check", httpsHealthCheck={"port": 6443})
    right = {"loadBalancingScheme": "EXTERNAL", "protocol": "TCP", "healthChecks": "check"}
    make(account, links.BACKEND_SERVICE, name="right", **right)
    with pytest.raises(CloudError) as refusal:
        make(account, links.BACKEND_SERVICE, name="wrong", **{**right, **inputs})
    assert words in str(refusal.value)


def test_a_forwarding_rule_has_a_reserved_address_of_its_own(account: Account) -> None:
    rule = balancer(account, group(account))
    again = {**rule.inputs, "name": "again"}
    del again["networkTier"]
    with pytest.raises(CloudError, match="resourceInUseByAnotherResource"):
        make(account, links.FORWARDING_RULE, **again)
    with pytest.raises(CloudError, match="Is no address of this region"):
        make(account, links.FORWARDING_RULE, **{**again, "ipAddress": "192.0.2.1"})


def test_what_is_used_cannot_be_deleted(account: Account) -> None:
    """From the first to the last, in the order in which all of it can go."""
    disk()(account)
    (made,) = account.of(links.DISK)
    master = instance(account, "master", public=True, attachedDisks=[{"source": made["selfLink"]}])
    join(account, group(account), master)
    balancer(account, *account.of(links.GROUP))
    allow(account, "ssh", "22", sourceRanges=["0.0.0.0/0"])
    make(account, links.ROUTER, name="router", network="net")
    make(account, links.ADDRESS, name="nat")
    (address,) = account.find(links.ADDRESS, "name", "nat")
    nat = make(
        account,
        links.ROUTER_NAT,
        name="nat",
        router="router",
        natIpAllocateOption="MANUAL_ONLY",
        natIps=[address["selfLink"]],
        sourceSubnetworkIpRangesToNat="LIST_OF_SUBNETWORKS",
        subnetworks=[{"name": "subnet", "sourceIpRangesToNats": ["PRIMARY_IP_RANGE"]}],
    )
    blocked = {
        thing.id
        for thing in list(account.things.values())
        if kind_of(thing.token).blocks(account, thing)
    }
    free = {links.FORWARDING_RULE, links.FIREWALL, links.ROUTER, links.MEMBERSHIP, links.INSTANCE}
    assert {account.things[identity].token for identity in blocked} == {
        kind.token for kind in CLOUD.kinds
    } - free - {links.ROUTER_NAT}
    with pytest.raises(CloudError, match="resourceInUseByAnotherResource"):
        remove(account, account.of(links.NETWORK)[0])
    for token in (
        links.MEMBERSHIP,
        links.FORWARDING_RULE,
        links.BACKEND_SERVICE,
        links.HEALTH_CHECK,
        links.GROUP,
        links.INSTANCE,
        links.DISK,
        links.ROUTER_NAT,
        links.ROUTER,
        links.ADDRESS,
        links.FIREWALL,
        links.SUBNETWORK,
        links.NETWORK,
    ):
        for thing in account.of(token):
            remove(account, thing)
    assert nat.id not in account.things
    assert account.things == {}


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({}, "addresses/address' was not found"),
        ({"name": "x"}, "2 characters or more"),
        ({"router": "other"}, "routers/other' was not found"),
        ({"natIpAllocateOption": "AUTO_ONLY"}, "but MANUAL_ONLY"),
        ({"natIps": []}, "'resource.natIps' not specified"),
    ],
)
def test_nat_takes_what_is_there(account: Account, inputs: dict[str, Any], words: str) -> None:
    make(account, links.ROUTER, name="router", network="net")
    right = {
        "name": "nat",
        "router": "router",
        "natIpAllocateOption": "MANUAL_ONLY",
        "natIps": ["address"],
        "sourceSubnetworkIpRangesToNat": "LIST_OF_SUBNETWORKS",
        "subnetworks": [{"name": "subnet", "sourceIpRangesToNats": ["PRIMARY_IP_RANGE"]}],
    }
    with pytest.raises(CloudError, match=words):
        make(account, links.ROUTER_NAT, **{**right, **inputs})


# --- changes


def replaces(thing: Any, **inputs: Any) -> bool:
    kind = kind_of(thing.token)
    return bool(diff(thing.inputs, {**thing.inputs, **inputs}, kind.immutable).replaces)


def test_a_change_of_these_replaces_a_machine_and_of_those_does_not(account: Account) -> None:
    made = instance(account, "machine", allowStoppingForUpdate=True)
    assert replaces(made, zone=OTHER_ZONE)
    assert replaces(made, bootDisk=boot(size=40))
    assert replaces(made, bootDisk=boot(labels={"a": "b"}))
    assert replaces(made, scheduling=spot())
    assert not replaces(made, machineType="e2-standard-2")
    assert not replaces(made, metadata={"ssh-keys": "ubuntu:ssh-ed25519 BBBB"})
    assert not replaces(made, tags=["other"])
    assert not replaces(made, labels={"a": "b"})


def test_a_new_machine_type_needs_leave_to_stop(account: Account) -> None:
    firm = instance(account, "firm")
    with pytest.raises(CloudError, match="allow_stopping_for_update"):
        change(account, firm, machineType="e2-standard-2")
    soft = instance(account, "soft", allowStoppingForUpdate=True)
    address = soft["networkInterfaces"][0]["networkIp"]
    change(account, soft, machineType="e2-standard-2")
    assert soft["machineType"] == "e2-standard-2"
    assert soft["networkInterfaces"][0]["networkIp"] == address


def test_subnets_and_disks_only_grow(account: Account) -> None:
    (subnet_there,) = account.of(links.SUBNETWORK)
    change(account, subnet_there, ipCidrRange="10.0.0.0/23")
    with pytest.raises(CloudError, match="can only be widened"):
        change(account, subnet_there, ipCidrRange="10.0.0.0/24")
    disk()(account)
    (made,) = account.of(links.DISK)
    change(account, made, size=20)
    with pytest.raises(CloudError, match="can only grow"):
        change(account, made, size=10)


def test_labels_are_secret_outputs_as_in_the_sdk(account: Account) -> None:
    made = make(account, links.ADDRESS, name="address", labels={"team": "a"})
    assert made["effectiveLabels"] == {"team": "a"}
    labelled = {kind.token for kind in CLOUD.kinds if "labels" in kind.supported}
    assert {kind.token for kind in CLOUD.kinds if kind.secret_outputs} == labelled
    assert labelled == {links.ADDRESS, links.FORWARDING_RULE, links.DISK, links.INSTANCE}
