"""Ways out of a network: route tables, and NAT gateways with their addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clouds.aws.shared import arn, find, missing, numbered, others, row, unknown
from tests.clouds.aws.tokens import (
    ASSOCIATION,
    EIP,
    GATEWAY,
    NAT,
    ROUTE,
    ROUTE_TABLE,
    SUBNET,
    VPC,
)
from tests.clouds.aws.ways import full, gateway_of, private_address
from tests.clouds.core.addresses import public

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Request

_NO_TABLE = (ROUTE_TABLE, "InvalidRouteTableID.NotFound", "routeTable ID")
_NO_SUBNET = (SUBNET, "InvalidSubnetID.NotFound", "subnet ID")
_TARGETS = ("gatewayId", "natGatewayId")


def _table_rules(request: Request) -> Iterator[str]:
    yield from unknown(request, "vpcId", VPC, "InvalidVpcID.NotFound", "vpc ID")


def _table_blocks(account: Account, table: Thing) -> str | None:
    if account.find(ASSOCIATION, "routeTableId", table.id):
        return (
            f"DependencyViolation: The routeTable '{table.id}' has dependencies and cannot be "
            "deleted."
        )
    return None


def _route_rules(request: Request) -> Iterator[str]:
    inputs, account = request.inputs, request.account
    yield from missing(request, "destinationCidrBlock")
    yield from unknown(request, "routeTableId", *_NO_TABLE)
    yield from unknown(request, "gatewayId", GATEWAY, "InvalidGatewayID.NotFound", "gateway ID")
    yield from unknown(
        request, "natGatewayId", NAT, "InvalidNatGatewayID.NotFound", "natGateway ID"
    )
    if sum(inputs.get(name) is not None for name in _TARGETS) != 1:
        yield "InvalidParameterCombination: A route has exactly one target"
    table, gateway = (
        account.get(inputs["routeTableId"]),
        find(account, GATEWAY, inputs.get("gatewayId")),
    )
    if table and gateway and gateway["vpcId"] != table["vpcId"]:
        yield (
            f"InvalidParameterValue: route table {table.id} and network gateway {gateway.id} "
            "belong to different networks"
        )
    identity = {name: inputs.get(name) for name in ("routeTableId", "destinationCidrBlock")}
    if others(request, ROUTE, **identity):
        yield (
            f"RouteAlreadyExists: The route identified by {inputs['destinationCidrBlock']} already "
            "exists."
        )


def _association_rules(request: Request) -> Iterator[str]:
    inputs, account = request.inputs, request.account
    yield from missing(request, "subnetId")
    yield from unknown(request, "subnetId", *_NO_SUBNET)
    yield from unknown(request, "routeTableId", *_NO_TABLE)
    subnet, table = account.get(inputs.get("subnetId", "")), account.get(inputs["routeTableId"])
    if subnet and table and subnet["vpcId"] != table["vpcId"]:
        yield (
            f"InvalidParameterValue: Route table {table.id} and subnet {subnet.id} belong to "
            "different networks"
        )
    if others(request, ASSOCIATION, subnetId=inputs.get("subnetId")):
        yield (
            "Resource.AlreadyAssociated: the specified association for route table "
            f"{inputs['routeTableId']} conflicts with an existing association"
        )


def _eip_check(inputs: Inputs) -> Iterator[str]:
    if inputs.get("domain", "vpc") != "vpc":
        yield f"InvalidParameterValue: Invalid domain {inputs['domain']}"


def _eip_computed(request: Request) -> Inputs:
    return {
        **arn("ec2", "elastic-ip/{id}")(request),
        "allocationId": request.id,
        "publicIp": public("aws", request.account),
    }


def _eip_blocks(account: Account, address: Thing) -> str | None:
    if account.find(NAT, "allocationId", address.id):
        return f"InvalidIPAddress.InUse: Address {address['publicIp']} is in use."
    return None


def _nat_rules(request: Request) -> Iterator[str]:
    inputs, account = request.inputs, request.account
    yield from missing(request, "subnetId", "allocationId")
    yield from unknown(request, "subnetId", *_NO_SUBNET)
    yield from unknown(
        request, "allocationId", EIP, "InvalidAllocationID.NotFound", "allocation ID"
    )
    if others(request, NAT, allocationId=inputs.get("allocationId")):
        yield f"Resource.AlreadyAssociated: {inputs['allocationId']} is already associated"
    subnet = account.get(inputs.get("subnetId", ""))
    if subnet and gateway_of(account, subnet["vpcId"]) is None:
        yield f"Gateway.NotAttached: Network {subnet['vpcId']} has no Internet gateway attached"
    if subnet and request.old is None:
        yield from full(account, subnet.id)


def _nat_computed(request: Request) -> Inputs:
    return {
        "privateIp": private_address(request.account, request.inputs["subnetId"]),
        "publicIp": request.account.things[request.inputs["allocationId"]]["publicIp"],
    }


ROUTES = (
    row(
        ROUTE_TABLE,
        "vpcId tags",
        numbered("rtb"),
        immutable="vpcId",
        rules=_table_rules,
        computed=arn("ec2", "route-table/{id}"),
        blocks=_table_blocks,
    ),
    row(
        ROUTE,
        "routeTableId destinationCidrBlock gatewayId natGatewayId",
        numbered("r-rtb"),
        immutable="routeTableId destinationCidrBlock",
        rules=_route_rules,
    ),
    row(
        ASSOCIATION,
        "routeTableId subnetId",
        numbered("rtbassoc"),
        immutable="subnetId",
        rules=_association_rules,
    ),
    row(
        EIP,
        "domain tags",
        numbered("eipalloc"),
        immutable="domain",
        check=_eip_check,
        computed=_eip_computed,
        blocks=_eip_blocks,
    ),
    row(
        NAT,
        "allocationId subnetId tags",
        numbered("nat"),
        immutable="allocationId subnetId",
        rules=_nat_rules,
        computed=_nat_computed,
    ),
)
