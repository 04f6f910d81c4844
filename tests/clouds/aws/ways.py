"""Which way packets go from a subnet, and which of its addresses are free."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from tests.clouds.aws.shared import every
from tests.clouds.aws.tokens import (
    ASSOCIATION,
    BALANCER,
    GATEWAY,
    INSTANCE,
    NAT,
    RESERVATION,
    ROUTE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clouds.core.account import Account, Thing

FIRST_FREE = 4  # after the network's own address, the router, the DNS and one for later
LAST_FREE = -2  # the last address of all is not to be had
ANYWHERE = "0.0.0.0/0"


def gateway_of(account: Account, vpc_id: str) -> Thing | None:
    """The internet gateway that is attached to a network."""
    return next((item for item in every(account, GATEWAY) if item["vpcId"] == vpc_id), None)


def way_out(account: Account, subnet_id: str) -> Thing | None:
    """The route that a subnet's packets to the internet take."""
    for association in account.find(ASSOCIATION, "subnetId", subnet_id):
        for route in account.find(ROUTE, "routeTableId", association["routeTableId"]):
            if route["destinationCidrBlock"] == ANYWHERE:
                return route
    return None


def faces_internet(account: Account, subnet_id: str) -> bool:
    """Whether public addresses work in a subnet: its way out is the network's own gateway."""
    subnet, route = account.get(subnet_id), way_out(account, subnet_id)
    gateway = subnet and gateway_of(account, subnet["vpcId"])
    return bool(route and gateway and route["gatewayId"] == gateway.id)


def _taken(account: Account) -> set[str]:
    """Every private address that something has."""
    found = {thing["privateIp"] for token in (INSTANCE, NAT) for thing in account.of(token)}
    for balancer in account.of(BALANCER):
        found |= {item["privateIpv4Address"] for item in balancer["subnetMappings"]}
    return found


def private_address(account: Account, subnet_id: str) -> str:
    """The lowest free address of a subnet that nobody has reserved; the real one takes any."""
    subnet, taken = IPv4Network(account.things[subnet_id]["cidrBlock"]), _taken(account)
    reservations = account.find(RESERVATION, "subnetId", subnet_id)
    reserved = [IPv4Network(reservation["cidrBlock"]) for reservation in reservations]
    numbers = range(int(subnet[FIRST_FREE]), int(subnet[LAST_FREE]) + 1)
    return next(
        str(address)
        for address in map(IPv4Address, numbers)
        if str(address) not in taken and not any(address in range_ for range_ in reserved)
    )


def address_faults(account: Account, subnet_id: str, address: str) -> Iterator[str]:
    """What is against giving somebody this address of the subnet. A reservation is not."""
    subnet, wanted = IPv4Network(account.things[subnet_id]["cidrBlock"]), IPv4Address(address)
    if wanted not in subnet:
        yield (
            f"InvalidParameterValue: Address {address} does not fall within the subnet's address "
            "range"
        )
    elif not subnet[FIRST_FREE] <= wanted <= subnet[LAST_FREE]:
        yield f"InvalidParameterValue: Address {address} is in subnet's reserved address range"
    elif address in _taken(account):
        yield f"InvalidIPAddress.InUse: Address {address} is in use."


def full(account: Account, subnet_id: str) -> Iterator[str]:
    """The fault of a subnet without a free address."""
    try:
        private_address(account, subnet_id)
    except StopIteration:
        yield f"InsufficientFreeAddressesInSubnet: {subnet_id} has no free addresses"
