"""What the simulated Azure refuses, in Azure's words, and what it makes of what it takes."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.clouds.azure import CLOUD
from tests.clouds.azure.functions import FUNCTIONS
from tests.clouds.azure.ids import (
    ADDRESS,
    BALANCER,
    DISK,
    GROUP,
    INTERFACE,
    MACHINE,
    NAT,
    NETWORK,
    ROLE,
    RULE,
    SUBNET,
    look_up,
)
from tests.clouds.azure.offers import EXISTING, EXISTING_CIDR, EXISTING_GROUP
from tests.clouds.azure.sample import Bench, Cluster
from tests.clouds.bench import SUBSCRIPTION
from tests.clouds.core import sdk
from tests.clouds.core.kind import CloudError

if TYPE_CHECKING:
    from tests.clouds.core.account import Inputs
    from tests.clouds.core.kind import Kind

STANDARD = {"name": "Standard"}
STATIC = {"sku": STANDARD, "publicIPAllocationMethod": "Static"}
FLOATING = {"enableFloatingIP": True}
ANYBODY = {"sourceAddressPrefix": "*", "destinationAddressPrefix": "*"}
PLATFORM_KEY = {"creationData": {"createOption": "Empty"}, "sku": {"name": "Premium_LRS"}}


def space(*cidrs: str) -> Inputs:
    return {"addressSpace": {"addressPrefixes": [*cidrs]}}


def subnet(cidr: str, **more: object) -> Inputs:
    named = {"virtualNetworkName": "net", "addressPrefix": cidr, "defaultOutboundAccess": False}
    return {**named, **more}


def rule(priority: int = 200, **more: object) -> Inputs:
    return Cluster.rule(priority, **{**ANYBODY, **more})


class Bad(NamedTuple):
    """A thing that is asked for, and what is said against it."""

    token: str
    name: str
    inputs: Inputs
    words: str


BAD: dict[str, Bad] = {
    # Names, tags, places.
    "name-with-a-slash": Bad(ROLE, "a/b", {}, "InvalidResourceName"),
    "name-too-long": Bad(ROLE, "n" * 81, {}, "InvalidResourceName"),
    "network-name-too-long": Bad(NETWORK, "n" * 65, space("10.0.0.0/16"), "InvalidResourceName"),
    "group-name-ends-with-a-dot": Bad(GROUP, "group.", {}, "InvalidResourceName"),
    "name-taken-in-capitals": Bad(ROLE, "MASTER", {}, "cannot create already existing resource"),
    "tag-with-a-slash": Bad(ROLE, "r", {"tags": {"a/b": ""}}, "InvalidTagNameCharacters"),
    "tag-of-azure-s": Bad(ROLE, "r", {"tags": {"azure-x": ""}}, "ReservedTagNamePrefix"),
    "tag-twice": Bad(ROLE, "r", {"tags": {"team": "a", "Team": "b"}}, "InvalidTag"),
    "no-such-region": Bad(ROLE, "r", {"location": "mars"}, "LocationNotAvailable"),
    "no-such-group": Bad(ROLE, "r", {"resourceGroupName": "other"}, "ResourceGroupNotFound"),
    "no-such-zone": Bad(ADDRESS, "a", {**STATIC, "zones": ["4"]}, "InvalidAvailabilityZone"),
    "region-without-zones": Bad(
        ADDRESS,
        "a",
        {**STATIC, "zones": ["1"], "location": "westus"},
        "LocationNotSupportAvailabilityZones",
    ),
    # What the SDK does not know, and what the simulation does not act on.
    "no-such-property": Bad(ROLE, "r", {"colour": "red"}, "is no property"),
    "wrong-type": Bad(ROLE, "r", {"location": 1}, "and not a text"),
    "wrong-enum": Bad(RULE, "r", rule(access="Maybe"), "not one of"),
    "not-simulated": Bad(NETWORK, "n", {"subnets": []}, "does not act on subnets"),
    "not-simulated-inside": Bad(
        NETWORK,
        "n",
        {**space("10.0.0.0/16"), "tags": {}, "dhcpOptions": {"dnsServers": ["10.0.0.4"]}},
        "does not act on dhcpOptions",
    ),
    "not-simulated-in-a-list": Bad(
        BALANCER,
        "lb",
        {"loadBalancingRules": [{"name": "r", "protocol": "Tcp", "frontendPort": 1, **FLOATING}]},
        "loadBalancingRules.enableFloatingIP: the simulation does not act on it",
    ),
    "not-what-the-sdk-sends": Bad(
        NETWORK,
        "n",
        {**space("10.0.0.0/16"), "enableDdosProtection": True},
        "enableDdosProtection: the simulation does not act on it",
    ),
    # Ranges.
    "no-network-address": Bad(NETWORK, "n", space("10.0.0.1/16"), "InvalidCIDRNotation"),
    "no-range": Bad(NETWORK, "n", space("10.0.0.0.0/16"), "InvalidAddressPrefixFormat"),
    "too-small": Bad(SUBNET, "s", subnet("10.10.0.0/30"), "InvalidAddressPrefix"),
    "reserved": Bad(NETWORK, "n", space("169.254.0.0/24"), "InvalidAddressPrefix"),
    "subnet-outside": Bad(SUBNET, "s", subnet("10.11.0.0/24"), "NetcfgInvalidSubnet"),
    "subnet-overlaps": Bad(SUBNET, "s", subnet("10.10.0.0/25"), "NetcfgInvalidSubnet"),
    "subnet-of-no-network": Bad(
        SUBNET, "s", subnet("10.10.0.0/25", virtualNetworkName="no"), "ParentResourceNotFound"
    ),
    "subnet-with-a-default-way-out": Bad(
        SUBNET, "s", subnet("10.10.0.0/25", defaultOutboundAccess=True), "write false"
    ),
    # References.
    "no-such-security-group": Bad(
        SUBNET,
        "s",
        subnet("10.10.0.0/25", networkSecurityGroup={"id": "/nothing"}),
        "InvalidResourceReference",
    ),
    "no-such-role": Bad(
        RULE,
        "r",
        Cluster.rule(
            200,
            sourceApplicationSecurityGroups=[{"id": "/nothing"}],
            destinationAddressPrefix="*",
        ),
        "InvalidResourceReference",
    ),
    # Public addresses and NAT gateways.
    "basic-address": Bad(ADDRESS, "a", {"publicIPAllocationMethod": "Static"}, "Standard only"),
    "dynamic-address": Bad(ADDRESS, "a", {"sku": STANDARD}, "are Static"),
    "nat-waits-too-long": Bad(
        NAT, "n", {"sku": STANDARD, "idleTimeoutInMinutes": 121}, "InvalidIdleTimeout"
    ),
    # Security rules.
    "priority-too-small": Bad(RULE, "r", rule(99), "SecurityRuleInvalidPriority"),
    "priority-of-azure-s": Bad(RULE, "r", rule(65000), "SecurityRuleInvalidPriority"),
    "priority-taken": Bad(RULE, "r", rule(4096), "SecurityRuleConflict"),
    "two-sources": Bad(
        RULE, "r", rule(sourceAddressPrefixes=["10.0.0.0/8"]), "SecurityRuleInvalidFormat"
    ),
    "no-destination": Bad(
        RULE, "r", rule(destinationAddressPrefix=None), "SecurityRuleInvalidFormat"
    ),
    "no-such-tag": Bad(
        RULE, "r", rule(sourceAddressPrefix="Everybody"), "SecurityRuleInvalidAddressPrefix"
    ),
    "tag-among-ranges": Bad(
        RULE,
        "r",
        rule(sourceAddressPrefix=None, sourceAddressPrefixes=["Internet", "10.0.0.0/8"]),
        "SecurityRuleParameterContainsUnsupportedValue",
    ),
    "ranges-overlap": Bad(
        RULE,
        "r",
        rule(sourceAddressPrefix=None, sourceAddressPrefixes=["10.0.0.0/8", "10.1.0.0/16"]),
        "OverlappingSubnetsNotPermittedInSecurityRule",
    ),
    "bad-port": Bad(RULE, "r", rule(destinationPortRange="http"), "SecurityRuleInvalidPortRange"),
    "long-description": Bad(
        RULE, "r", rule(description="d" * 141), "SecurityRuleInvalidDescription"
    ),
    # Disks.
    "disk-without-a-size": Bad(DISK, "d", PLATFORM_KEY, "disk.diskSizeGB"),
    "disk-of-a-type-that-is-not-there": Bad(
        DISK, "d", {**PLATFORM_KEY, "sku": {"name": "Fast_LRS"}}, "not one of"
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_azure_refuses(case: Bad) -> None:
    cluster = Cluster()
    cluster.refuse_others()
    given = {key: value for key, value in case.inputs.items() if value is not None}
    inputs = cluster.inputs(case.token, case.name, **given)
    assert case.words in " ".join(cluster.faults(case.token, inputs))


def machine(cluster: Cluster, path: str, value: object) -> list[str]:
    """What is said against a machine with another value somewhere, such as `osProfile.x`."""
    interface = cluster.make_interface("m", "node")
    inputs: Any = cluster.inputs(MACHINE, "m", **cluster.machine("m", interface))
    *folders, last = path.split(".")
    place = inputs
    for folder in folders:
        place = place[int(folder) if folder.isdigit() else folder]
    place[last] = value
    return cluster.faults(MACHINE, inputs)


SSH = "osProfile.linuxConfiguration.ssh.publicKeys.0"
BAD_MACHINES: dict[str, tuple[str, object, str]] = {
    "size": ("hardwareProfile.vmSize", "Standard_X1", "provided for the VM size is not valid"),
    "arm-size": ("hardwareProfile.vmSize", "Standard_B2pls_v2", "CPU Architecture of 'Arm64'"),
    "nvme-size": (
        "storageProfile.diskControllerType",
        "NVMe",
        "cannot boot with OS image or disk",
    ),
    "image": ("storageProfile.imageReference.sku", "no", "PlatformImageNotFound"),
    "version": ("storageProfile.imageReference.version", "1.0", "PlatformImageNotFound"),
    "small-disk": ("storageProfile.osDisk.diskSizeGB", 20, "smaller than the size of the"),
    "kept-disk": ("storageProfile.osDisk.deleteOption", "Detach", "stays behind"),
    "user": ("osProfile.adminUsername", "root", "Admin Username specified is not allowed"),
    "password": (
        "osProfile.linuxConfiguration.disablePasswordAuthentication",
        False,
        "'adminPassword' is missing",
    ),
    "key-path": (f"{SSH}.path", "/root/.ssh/authorized_keys", "Destination path for SSH public"),
    "key-type": (f"{SSH}.keyData", "ecdsa-sha2-nistp256 AAAA", "publicKeys.keyData is invalid"),
    "user-data": ("osProfile.customData", "#cloud-config", "must be in Base64 encoding"),
    "long-user-data": (
        "osProfile.customData",
        base64.b64encode(b"a" * 65536).decode(),
        "maximum length of 87380",
    ),
    "eviction": ("evictionPolicy", "Delete", "only on Azure Spot"),
    "interface": (
        "networkProfile.networkInterfaces.0.id",
        "/nothing",
        "InvalidResourceReference",
    ),
    "interface-goes": (
        "networkProfile.networkInterfaces.0.deleteOption",
        "Delete",
        "would not find its interface",
    ),
    "location": ("location", "westeurope", "in the same region"),
    "name": ("vmName", "m-", "InvalidResourceName"),
}


@pytest.mark.parametrize("case", BAD_MACHINES.values(), ids=BAD_MACHINES)
def test_azure_makes_no_machine_like_that(case: tuple[str, object, str]) -> None:
    path, value, words = case
    assert words in " ".join(machine(Cluster(), path, value))


def test_trusted_launch_needs_an_image_of_the_second_generation() -> None:
    cluster = Cluster()
    interface = cluster.make_interface("m", "node")
    inputs: Any = cluster.inputs(MACHINE, "m", **cluster.machine("m", interface))
    inputs["securityProfile"] = {"securityType": "TrustedLaunch"}
    assert cluster.faults(MACHINE, inputs) == []
    inputs["storageProfile"]["imageReference"]["sku"] = "server-gen1"
    assert "TrustedLaunch" in " ".join(cluster.faults(MACHINE, inputs))


def test_a_disk_is_in_its_machine_s_zone_and_of_a_kind_that_its_size_takes() -> None:
    cluster = Cluster()
    interface, disk = cluster.make_interface("m", "master"), cluster.make_disk("d", zones=["1"])
    inputs: Any = cluster.inputs(MACHINE, "m", **cluster.machine("m", interface, disk))
    assert "in zone ['1'], and the VM in None" in " ".join(cluster.faults(MACHINE, inputs))
    inputs["zones"] = ["1"]
    assert cluster.faults(MACHINE, inputs) == []
    inputs["hardwareProfile"]["vmSize"] = "Standard_D2_v5"
    assert "does not support the storage account type Premium_LRS" in " ".join(
        cluster.faults(MACHINE, inputs)
    )


def test_disks_interfaces_and_addresses_belong_to_one_thing_only() -> None:
    cluster = Cluster()
    disk = cluster.make_disk("d")
    one = cluster.make_interface("one", "master")
    cluster.make(MACHINE, "one", **cluster.machine("one", one, disk))
    two = cluster.make_interface("two", "master")
    again = cluster.inputs(MACHINE, "two", **cluster.machine("two", one))
    assert "NicInUse" in " ".join(cluster.faults(MACHINE, again))
    stolen = cluster.inputs(MACHINE, "two", **cluster.machine("two", two, disk))
    assert "ConflictingUserInput" in " ".join(cluster.faults(MACHINE, stolen))
    inputs = cluster.inputs(INTERFACE, "three", ipConfigurations=one.inputs["ipConfigurations"])
    assert "PublicIPAddressInUse" in " ".join(cluster.faults(INTERFACE, inputs))


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("sku", {"name": "Basic"}, "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed"),
        ("frontendIPConfigurations", [], "LoadBalancerWithoutFrontendIPCantHaveChildResources"),
        ("backendAddressPools", [{"name": "other"}], "InvalidResourceReference"),
        ("probes", [{"name": "ready", "protocol": "Tcp", "port": 1, "requestPath": "/"}], "Probe"),
    ],
)
def test_a_load_balancer_is_checked_as_a_whole(path: str, value: object, words: str) -> None:
    cluster = Cluster()
    inputs = {**cluster.balancer(cluster.make_address("a")), path: value}
    assert words in " ".join(cluster.faults(BALANCER, cluster.inputs(BALANCER, "api", **inputs)))


def test_a_frontend_translates_for_one_rule_only() -> None:
    cluster = Cluster()
    inputs: Any = cluster.inputs(BALANCER, "api", **cluster.balancer(cluster.make_address("a")))
    del inputs["loadBalancingRules"][0]["disableOutboundSnat"]
    assert "MustDisableSNAT" in " ".join(cluster.faults(BALANCER, inputs))
    inputs["outboundRules"] = []
    assert cluster.faults(BALANCER, inputs) == []


def test_an_interface_joins_only_pools_that_are_there() -> None:
    cluster = Cluster()
    interface = cluster.make_interface("m", "master")
    joined = {**interface.inputs["ipConfigurations"][0]}
    joined["loadBalancerBackendAddressPools"] = [{"id": cluster.pool}]
    assert "InvalidResourceReference" in " ".join(
        cluster.change(interface, ipConfigurations=[joined])
    )
    cluster.make_balancer()
    assert cluster.change(interface, ipConfigurations=[joined]) == []


def test_an_interface_gets_the_next_free_address_and_keeps_it() -> None:
    cluster = Cluster(cidr="10.10.0.0/29")
    found = [cluster.make_interface(f"m{number}", "node") for number in range(3)]
    addresses = [interface["ipConfigurations"][0]["privateIPAddress"] for interface in found]
    assert addresses == ["10.10.0.4", "10.10.0.5", "10.10.0.6"]
    configuration = {**found[1].inputs["ipConfigurations"][0]}
    inputs = cluster.inputs(INTERFACE, "more", ipConfigurations=[configuration])
    del configuration["publicIPAddress"]
    assert "SubnetIsFull" in " ".join(cluster.faults(INTERFACE, inputs))
    assert cluster.change(found[1], ipConfigurations=[configuration]) == []
    assert found[1]["ipConfigurations"][0]["privateIPAddress"] == "10.10.0.5"


def test_no_address_comes_twice() -> None:
    cluster = Cluster()
    first = cluster.make_address("a")
    del cluster.account.things[first.id]
    assert cluster.make_address("a")["ipAddress"] != first["ipAddress"]
    assert first["ipAddress"].startswith("198.18.48.")


def test_a_machine_made_anew_is_another_one() -> None:
    cluster = Cluster()
    interface = cluster.make_interface("m", "node")
    first = cluster.make(MACHINE, "m", **cluster.machine("m", interface))
    identity = first["vmId"]
    assert cluster.change(first, tags={"c": "d"}) == []
    assert first["vmId"] == identity
    del cluster.account.things[first.id]
    assert cluster.make(MACHINE, "m", **cluster.machine("m", interface))["vmId"] != identity


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("osProfile.customData", "PropertyChangeNotAllowed: osProfile.customData"),
        ("osProfile.computerName", "PropertyChangeNotAllowed"),
        ("storageProfile.imageReference.sku", "PropertyChangeNotAllowed"),
        ("storageProfile.osDisk.diskSizeGB", "ResizeDiskError"),
        ("zones", "PropertyChangeNotAllowed"),
        ("priority", "PropertyChangeNotAllowed"),
    ],
)
def test_an_update_that_azure_native_tries_in_vain(path: str, words: str) -> None:
    cluster = Cluster()
    made = cluster.make_machine("m", "node")
    top, *rest = path.split(".")
    changed: Any = {**made.inputs.get(top, {})} if rest else ["2"] if top == "zones" else "Spot"
    if rest:
        place = changed
        for folder in rest[:-1]:
            place[folder] = {**place[folder]}
            place = place[folder]
        place[rest[-1]] = 64 if rest[-1] == "diskSizeGB" else "eA=="
    assert words in " ".join(cluster.change(made, **{top: changed}))


def test_a_machine_changes_its_size_where_it_is() -> None:
    cluster = Cluster()
    made = cluster.make_machine("m", "node")
    assert cluster.change(made, hardwareProfile={"vmSize": "Standard_D2s_v5"}) == []


def test_a_disk_only_grows() -> None:
    cluster = Cluster()
    disk = cluster.make_disk("d")
    assert "OperationNotAllowed" in " ".join(cluster.change(disk, diskSizeGB=8))
    assert cluster.change(disk, diskSizeGB=20) == []


def test_a_subnet_in_use_keeps_its_range() -> None:
    cluster = Cluster()
    assert cluster.change(cluster.subnet, addressPrefix="10.10.0.0/25") == []
    cluster.make_interface("m", "node")
    found = cluster.change(cluster.subnet, addressPrefix="10.10.0.0/24")
    assert "InUsePrefixCannotBeDeleted" in " ".join(found)


def test_what_is_in_use_cannot_go() -> None:
    cluster = Cluster(private=True)
    balancer = cluster.make_balancer()
    disk = cluster.make_disk("d")
    interface = cluster.make_interface("m", "master", pools=(cluster.pool,))
    made = cluster.make(MACHINE, "m", **cluster.machine("m", interface, disk))
    written = cluster.refuse_others()
    things = cluster.account.things
    group = next(thing for thing in things.values() if thing.token == GROUP)
    addresses = {name: thing for thing in things.values() if (name := thing["publicIpAddressName"])}
    assert cluster.gateway is not None
    expected = {
        group.id: "CannotDeleteResource",
        cluster.network.id: "CannotDeleteResource",
        cluster.subnet.id: "InUseSubnetCannotBeDeleted",
        cluster.security_group.id: "InUseNetworkSecurityGroupCannotBeDeleted",
        cluster.roles["master"].id: "ApplicationSecurityGroupInUse",
        cluster.gateway.id: "CannotDeleteNatGatewayAssociatedToSubnet",
        addresses["nat-address"].id: "PublicIPAddressCannotBeDeleted",
        addresses["api-address"].id: "PublicIPAddressCannotBeDeleted",
        addresses["m-address"].id: "PublicIPAddressCannotBeDeleted",
        interface.id: "NicInUse",
        disk.id: "OperationNotAllowed",
    }
    for identity, words in expected.items():
        assert words in (cluster.blocks(things[identity]) or ""), identity
    for thing in (made, written, balancer, cluster.roles["node"]):
        assert cluster.blocks(thing) is None


def test_an_account_can_be_emptied_from_the_end() -> None:
    cluster = Cluster(private=True)
    cluster.make_balancer()
    cluster.make_machine("m", "master", pools=(cluster.pool,))
    cluster.refuse_others()
    order = [MACHINE, INTERFACE, BALANCER, SUBNET, NAT, ADDRESS, RULE, ROLE]
    order += [kind.token for kind in CLOUD.kinds if kind.token not in {*order, GROUP}] + [GROUP]
    for token in order:
        for thing in cluster.account.of(token):
            assert cluster.blocks(thing) is None, thing.id
            del cluster.account.things[thing.id]
    assert cluster.account.things == {}


def test_ids_are_the_same_in_capitals() -> None:
    cluster = Cluster()
    assert look_up(cluster.account, cluster.subnet.id.upper()) is cluster.subnet
    shouted = cluster.rule(
        300,
        sourceApplicationSecurityGroups=[{"id": cluster.roles["node"].id.upper()}],
        destinationAddressPrefix="*",
    )
    assert cluster.faults(RULE, cluster.inputs(RULE, "shouted", **shouted)) == []


def test_there_is_somebody_s_network_in_every_account() -> None:
    look = FUNCTIONS["azure-native:network:getVirtualNetwork"]
    settings = {"subscriptionId": SUBSCRIPTION}
    names = {"resourceGroupName": EXISTING_GROUP.upper(), "virtualNetworkName": EXISTING}
    found = look(names, settings)
    assert EXISTING_CIDR in found["addressSpace"]["addressPrefixes"]
    with pytest.raises(CloudError, match="ResourceNotFound"):
        look({**names, "virtualNetworkName": "other"}, settings)
    bench = Bench()
    inputs = subnet("10.60.1.0/24", virtualNetworkName=EXISTING, resourceGroupName=EXISTING_GROUP)
    made = bench.make(SUBNET, "ours", **inputs)
    assert made.id.endswith(
        f"/{EXISTING_GROUP}/providers/Microsoft.Network/virtualNetworks/{EXISTING}/subnets/ours"
    )


@pytest.mark.parametrize("kind", CLOUD.kinds, ids=lambda kind: kind.token)
def test_a_type_is_the_sdk_s(kind: Kind) -> None:
    assert kind.supported <= sdk.names(kind.sdk)
    assert {path.partition(".")[0] for path in (*kind.fixed, *kind.open_enums)} <= kind.supported
