"""Networks: VPCs, subnets, and their gateways to the internet."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING

from tests.clouds.aws import world
from tests.clouds.aws.shared import arn, find, missing, numbered, others, row, unknown
from tests.clouds.aws.tokens import (
    BALANCER,
    GATEWAY,
    GROUP,
    INSTANCE,
    NAT,
    RESERVATION,
    ROUTE_TABLE,
    SUBNET,
    VPC,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Request

LARGEST, SMALLEST = 16, 28  # prefix lengths of networks and subnets


def _range_faults(inputs: Inputs, code: str) -> Iterator[str]:
    cidr = inputs.get("cidrBlock")
    if cidr is None:
        return
    try:
        prefix = IPv4Network(cidr).prefixlen
    except ValueError:
        yield f"InvalidParameterValue: Value ({cidr}) for parameter cidrBlock is invalid."
        return
    if not LARGEST <= prefix <= SMALLEST:
        yield f"{code}: The CIDR '{cidr}' is invalid."


def _vpc_blocks(account: Account, vpc: Thing) -> str | None:
    inside = (SUBNET, GATEWAY, ROUTE_TABLE, GROUP)
    if any(account.find(token, "vpcId", vpc.id) for token in inside):
        return f"DependencyViolation: The vpc '{vpc.id}' has dependencies and cannot be deleted."
    return None


def _subnet_rules(request: Request) -> Iterator[str]:
    yield from missing(request, "cidrBlock", "availabilityZone")
    yield from unknown(request, "vpcId", VPC, "InvalidVpcID.NotFound", "vpc ID")
    yield from _place_faults(request)
    zone, known = request.inputs.get("availabilityZone"), world.zones(request.settings["region"])
    if zone not in known:
        yield (
            f"InvalidParameterValue: Value ({zone}) for parameter availabilityZone is invalid. "
            "Subnets can currently only be created in the following availability zones: "
            f"{', '.join(known)}."
        )


def _place_faults(request: Request) -> Iterator[str]:
    vpc, cidr = find(request.account, VPC, request.inputs["vpcId"]), request.inputs.get("cidrBlock")
    if vpc is None or cidr is None:
        return
    if not IPv4Network(cidr).subnet_of(IPv4Network(vpc["cidrBlock"])):
        yield f"InvalidSubnet.Range: The CIDR '{cidr}' is invalid."
    for other in others(request, SUBNET, vpcId=vpc.id):
        if IPv4Network(cidr).overlaps(IPv4Network(other["cidrBlock"])):
            yield f"InvalidSubnet.Conflict: The CIDR '{cidr}' conflicts with another subnet"


def _subnet_blocks(account: Account, subnet: Thing) -> str | None:
    inside = [
        *account.find(INSTANCE, "subnetId", subnet.id),
        *account.find(NAT, "subnetId", subnet.id),
    ]
    if inside or any(subnet.id in item["subnets"] for item in account.of(BALANCER)):
        return (
            f"DependencyViolation: The subnet '{subnet.id}' has dependencies and cannot be deleted."
        )
    return None


def _reservation_check(inputs: Inputs) -> Iterator[str]:
    if inputs.get("reservationType", "explicit") != "explicit":
        yield "the simulation has no reservations but explicit ones"


def _reservation_rules(request: Request) -> Iterator[str]:
    """It may be of addresses that something has already. (But for the codes, words of ours.)"""
    yield from missing(request, "reservationType")
    yield from unknown(request, "subnetId", SUBNET, "InvalidSubnetID.NotFound", "subnet ID")
    subnet = find(request.account, SUBNET, request.inputs["subnetId"])
    cidr = request.inputs["cidrBlock"]
    if subnet is None:
        return
    if not IPv4Network(cidr).subnet_of(IPv4Network(subnet["cidrBlock"])):
        yield f"InvalidParameterValue: The CIDR '{cidr}' is not within the subnet {subnet.id}"
    for other in others(request, RESERVATION, subnetId=subnet.id):
        if IPv4Network(cidr).overlaps(IPv4Network(other["cidrBlock"])):
            yield f"InvalidParameterValue: The CIDR '{cidr}' overlaps the reservation {other.id}"


def _gateway_rules(request: Request) -> Iterator[str]:
    vpc_id = request.inputs.get("vpcId")
    yield from unknown(request, "vpcId", VPC, "InvalidVpcID.NotFound", "vpc ID")
    if vpc_id and others(request, GATEWAY, vpcId=vpc_id):
        yield (
            f"Resource.AlreadyAssociated: Network {vpc_id} already has an internet gateway attached"
        )


def _gateway_blocks(account: Account, gateway: Thing) -> str | None:
    vpc_id = gateway["vpcId"]
    subnets = {subnet.id for subnet in account.find(SUBNET, "vpcId", vpc_id)}
    machines = [thing for token in (INSTANCE, NAT) for thing in account.of(token)]
    mapped = any(thing["subnetId"] in subnets and thing["publicIp"] for thing in machines)
    if mapped or any(subnets & set(item["subnets"]) for item in account.of(BALANCER)):
        return (
            f"DependencyViolation: Network {vpc_id} has some mapped public address(es). Please "
            "unmap those public address(es) before detaching the gateway."
        )
    return None


NETWORKS = (
    row(
        VPC,
        "cidrBlock tags",
        numbered("vpc"),
        immutable="cidrBlock",
        check=lambda inputs: _range_faults(inputs, "InvalidVpc.Range"),
        rules=lambda request: missing(request, "cidrBlock"),
        computed=arn("ec2", "vpc/{id}"),
        blocks=_vpc_blocks,
    ),
    row(
        SUBNET,
        "vpcId cidrBlock availabilityZone mapPublicIpOnLaunch tags",
        numbered("subnet"),
        immutable="vpcId cidrBlock availabilityZone",
        defaults={"mapPublicIpOnLaunch": False},
        check=lambda inputs: _range_faults(inputs, "InvalidSubnet.Range"),
        rules=_subnet_rules,
        computed=arn("ec2", "subnet/{id}"),
        blocks=_subnet_blocks,
    ),
    row(
        RESERVATION,
        "subnetId cidrBlock reservationType description",
        numbered("scr"),
        immutable="subnetId cidrBlock reservationType description",
        check=_reservation_check,
        rules=_reservation_rules,
    ),
    row(
        GATEWAY,
        "vpcId tags",
        numbered("igw"),
        rules=_gateway_rules,
        computed=arn("ec2", "internet-gateway/{id}"),
        blocks=_gateway_blocks,
    ),
)
