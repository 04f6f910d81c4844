"""Virtual networks, their subnets, public addresses and NAT gateways."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from tests.clouds.azure.ids import (
    ADDRESS,
    BALANCER,
    INTERFACE,
    NAT,
    NETWORK,
    SECURITY_GROUP,
    SUBNET,
    find,
    identify,
    inside,
    leaves,
    parent_of,
    same,
    users,
)
from tests.clouds.azure.table import nested, row
from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.core.addresses import public
from tests.clouds.core.kind import Request

LARGEST, SMALLEST = 2, 29  # prefix lengths
RESERVED_FIRST = 4  # the network's own, the gateway, two for the DNS; and the last
RESERVED = [
    IPv4Network(cidr)
    for cidr in (
        "127.0.0.0/8",
        "168.63.129.16/32",
        "169.254.0.0/16",
        "224.0.0.0/4",
        "255.255.255.255/32",
    )
]
LEAST_MINUTES, MOST_MINUTES = 4, 120  # that a NAT gateway waits for a packet
NETWORK_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}[A-Za-z0-9_]")


def cidr_faults(cidr: str) -> Iterator[str]:
    """What is wrong with a range, wherever it stands."""
    try:
        network = IPv4Network(cidr, strict=False)
    except ValueError:
        yield f"InvalidAddressPrefixFormat: Address prefix {cidr} is not formatted correctly."
        return
    if str(network) != cidr:
        yield (
            f"InvalidCIDRNotation: The address prefix {cidr} has an invalid CIDR notation. For the "
            f"given prefix length, the address prefix should be {network}."
        )
    if not LARGEST <= network.prefixlen <= SMALLEST:
        yield f"InvalidAddressPrefix: {cidr} is not between /{LARGEST} and /{SMALLEST}."
    yield from (
        f"InvalidAddressPrefix: {cidr} overlaps {taken}, which is reserved."
        for taken in RESERVED
        if network.overlaps(taken)
    )


def prefixes(network: Thing) -> list[IPv4Network]:
    """The ranges of a virtual network."""
    return [IPv4Network(cidr) for cidr in network["addressSpace"]["addressPrefixes"]]


def subnets(account: Account, network_id: str) -> list[Thing]:
    """The subnets of a virtual network."""
    return [thing for thing in inside(account, network_id) if thing.token == SUBNET]


def interfaces(account: Account, subnet_id: str) -> list[Thing]:
    """The network interfaces that have an address of a subnet."""
    return users(account, subnet_id, INTERFACE)


def free_address(account: Account, subnet: Thing) -> str | None:
    """The next free address of a subnet (as in the real one, mostly)."""
    taken = {
        configuration["privateIPAddress"]
        for interface in interfaces(account, subnet.id)
        for configuration in interface["ipConfigurations"]
    }
    network = IPv4Network(subnet["addressPrefix"])
    first, last = int(network[RESERVED_FIRST]), int(network[-1])
    free = (str(IPv4Address(number)) for number in range(first, last))
    return next((address for address in free if address not in taken), None)


def static_faults(request: Request, identity: str, subnet: Thing, address: str) -> Iterator[str]:
    """What is against an interface having that address of a subnet."""
    network, wanted = IPv4Network(subnet["addressPrefix"]), IPv4Address(address)
    if wanted not in network:
        yield (
            f"PrivateIPAddressNotInSubnet: Private static IP address {address} does not belong to "
            f"the range of subnet prefix {network}."
        )
    elif not network[RESERVED_FIRST] <= wanted < network[-1]:
        yield (
            f"PrivateIPAddressInReservedRange: Private static IP address {address} falls within "
            f"reserved IP range of subnet prefix {network}."
        )
    for other in interfaces(request.account, subnet.id):
        has = [one["privateIPAddress"] for one in other["ipConfigurations"]]
        if address in has and not same(other.id, identity):
            yield (
                f"PrivateIPAddressIsAllocated: IP configuration {identity}/ipConfigurations is "
                f"using the private IP address {address} which is already allocated to resource "
                f"{other.id}."
            )


def _network_check(inputs: Inputs) -> Iterator[str]:
    ranges = (inputs.get("addressSpace") or {}).get("addressPrefixes") or []
    if "addressSpace" in inputs and not ranges:
        yield "InvalidRequestFormat: addressSpace.addressPrefixes is empty."
    for cidr in ranges:
        yield from cidr_faults(cidr)


def _subnet_check(inputs: Inputs) -> Iterator[str]:
    if inputs.get("defaultOutboundAccess") is not False:
        yield (
            "defaultOutboundAccess: the simulation has subnets without a default way out only: "
            "write false"
        )
    if "addressPrefix" in inputs:
        yield from cidr_faults(inputs["addressPrefix"])


def _subnet_rules(request: Request) -> Iterator[str]:
    identity = identify(SUBNET)(request)
    network = find(request.account, NETWORK, parent_of(identity))
    cidr = IPv4Network(request.inputs["addressPrefix"])
    name = request.inputs["subnetName"]
    if network is None:
        return
    within = any(cidr.subnet_of(space) for space in prefixes(network))
    others = (
        other for other in subnets(request.account, network.id) if not same(other.id, identity)
    )
    if not within or any(cidr.overlaps(IPv4Network(other["addressPrefix"])) for other in others):
        yield (
            f"NetcfgInvalidSubnet: Subnet '{name}' is not valid in virtual network "
            f"'{network['virtualNetworkName']}'."
        )
    before = request.old["addressPrefix"] if request.old else str(cidr)
    if before != str(cidr) and interfaces(request.account, identity):
        yield (
            f"InUsePrefixCannotBeDeleted: IpPrefix {before} on Subnet {name} "
            "has active allocations and cannot be deleted."
        )


def _subnet_blocks(account: Account, subnet: Thing) -> str | None:
    found = interfaces(account, subnet.id)
    if not found:
        return None
    return (
        f"InUseSubnetCannotBeDeleted: Subnet {subnet['subnetName']} is in use by {found[0].id} and "
        "cannot be deleted. In order to delete the subnet, delete all the resources within the "
        "subnet."
    )


def _standard(inputs: Inputs) -> Iterator[str]:
    if "sku" in inputs and inputs["sku"].get("name") != "Standard":
        yield "sku.name: the simulation has Standard only; Basic, the default, was retired in 2025"


def _address_check(inputs: Inputs) -> Iterator[str]:
    yield from _standard({"sku": {}, **inputs})
    if inputs.get("publicIPAllocationMethod") != "Static":
        yield "publicIPAllocationMethod: addresses of the Standard SKU are Static"


def _address_computed(request: Request) -> Inputs:
    old: dict[str, Any] = request.old.computed if request.old else {}
    return {"ipAddress": old.get("ipAddress") or public("azure-native", request.account)}


def _address_blocks(account: Account, address: Thing) -> str | None:
    found = users(account, address.id, INTERFACE, NAT, BALANCER)
    if not found:
        return None
    return (
        f"PublicIPAddressCannotBeDeleted: Public IP address {address.id} can not be deleted since "
        f"it is still allocated to resource {found[0].id}."
    )


def address_faults(request: Request, identity: str) -> Iterator[str]:
    """Public addresses that the request refers to and that something else has."""
    for _, value in leaves(request.inputs):
        address = find(request.account, ADDRESS, value)
        used = users(request.account, address.id, INTERFACE, NAT, BALANCER) if address else []
        for other in used:
            if not same(other.id, identity):
                yield (
                    f"PublicIPAddressInUse: Resource {identity} is referencing public IP address "
                    f"{value} that is already allocated to resource {other.id}."
                )


def _nat_check(inputs: Inputs) -> Iterator[str]:
    yield from _standard({"sku": {}, **inputs})
    minutes = inputs.get("idleTimeoutInMinutes", LEAST_MINUTES)
    if not LEAST_MINUTES <= minutes <= MOST_MINUTES:
        yield f"InvalidIdleTimeout: {minutes} is not {LEAST_MINUTES} to {MOST_MINUTES} minutes."


def _nat_blocks(account: Account, gateway: Thing) -> str | None:
    found = users(account, gateway.id, SUBNET)
    if not found:
        return None
    return (
        f"CannotDeleteNatGatewayAssociatedToSubnet: NAT Gateway {gateway.id} is still configured "
        f"on {len(found)} subnets. Remove NAT Gateway from all referenced subnets and then delete "
        "NAT Gateway."
    )


NETWORKS = (
    row(
        NETWORK,
        "resourceGroupName virtualNetworkName location addressSpace.addressPrefixes tags",
        form=NETWORK_FORM,
        sent={"enableDdosProtection": False, "enableVmProtection": False},
        check=_network_check,
        blocks=nested,
    ),
    row(
        SUBNET,
        "resourceGroupName virtualNetworkName subnetName addressPrefix defaultOutboundAccess "
        "networkSecurityGroup.id natGateway.id",
        references={"networkSecurityGroup.id": SECURITY_GROUP, "natGateway.id": NAT},
        sent={
            "privateEndpointNetworkPolicies": "Disabled",
            "privateLinkServiceNetworkPolicies": "Enabled",
        },
        check=_subnet_check,
        rules=_subnet_rules,
        blocks=_subnet_blocks,
        immutable="virtualNetworkName",
        fixed={"defaultOutboundAccess": "DefaultOutboundAccessCannotBeChanged"},
    ),
    row(
        ADDRESS,
        "resourceGroupName publicIpAddressName location sku.name publicIPAllocationMethod zones "
        "idleTimeoutInMinutes tags",
        check=_address_check,
        computed=_address_computed,
        blocks=_address_blocks,
        immutable="sku",
        fixed={"zones": "ResourceAvailabilityZonesCannotBeModified"},
    ),
    row(
        NAT,
        "resourceGroupName natGatewayName location sku.name publicIpAddresses.id "
        "idleTimeoutInMinutes tags",
        references={"publicIpAddresses.id": ADDRESS},
        check=_nat_check,
        rules=lambda request: address_faults(request, identify(NAT)(request)),
        blocks=_nat_blocks,
    ),
)
