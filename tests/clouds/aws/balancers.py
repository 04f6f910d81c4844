"""Network Load Balancers. Only what the program makes: public ones, that keep clients' addresses.

There is no DNS among simulated machines: a load balancer's name is its address as text. The real
one has an address in each of its zones; here one is enough, since what differs between them (which
masters an address serves) is in `fabric`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.clouds.aws import world
from tests.clouds.aws.shared import digest, find, missing, others, row, unknown
from tests.clouds.aws.tokens import (
    BALANCER,
    GROUP,
    INSTANCE,
    LISTENER,
    SUBNET,
    TARGET,
    TARGET_GROUP,
    VPC,
)
from tests.clouds.aws.ways import full, gateway_of, private_address
from tests.clouds.core.addresses import public

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Request

_NAME = re.compile(r"[0-9A-Za-z]([0-9A-Za-z-]{0,30}[0-9A-Za-z])?")
_CODES = re.compile(r"[2-5]\d\d([,-][2-5]\d\d)*")  # 200 to 599, for a Network Load Balancer
# {member of the health check: its range}
_CHECK_RANGES: Mapping[str, range] = {
    "interval": range(5, 301),
    "timeout": range(2, 121),
    "healthyThreshold": range(2, 11),
    "unhealthyThreshold": range(2, 11),
}
_CHECK_MEMBERS = {*_CHECK_RANGES, "protocol", "path", "matcher"} - {"timeout"}
_CHECK_PROTOCOLS = ("TCP", "HTTPS")  # HTTP, too, which nothing of ours speaks
IDLE_SECONDS = range(60, 6001)
HEALTH_CHECK: Mapping[str, Any] = {  # what is not said
    "protocol": "TCP",
    "path": "/",
    "interval": 30,
    "healthyThreshold": 3,
    "unhealthyThreshold": 3,
}


def _path(request: Request, path: str) -> str:
    region = request.settings["region"]
    return f"arn:aws:elasticloadbalancing:{region}:{world.ACCOUNT_ID}:{path}"


def _name_faults(inputs: Inputs) -> Iterator[str]:
    name = inputs.get("name")
    if name is not None and not _NAME.fullmatch(name):
        yield (
            f"ValidationError: '{name}' must have at most 32 letters, digits and dashes, no dash "
            "first or last"
        )


def _only(inputs: Inputs, name: str, *, value: object) -> Iterator[str]:
    if name in inputs and inputs[name] != value:
        yield f"the simulation has no {name} {inputs[name]}, only {value}"


def _balancer_check(inputs: Inputs) -> Iterator[str]:
    yield from _name_faults(inputs)
    yield from _only(inputs, "loadBalancerType", value="network")
    yield from _only(inputs, "internal", value=False)
    if inputs.get("name", "").startswith("internal-"):
        yield "ValidationError: The load balancer name cannot begin with 'internal-'"


def _balancer_rules(request: Request) -> Iterator[str]:
    inputs, account, old = request.inputs, request.account, request.old
    yield from missing(request, "name", "loadBalancerType", "internal", "subnets")
    if others(request, BALANCER, name=inputs.get("name")):
        yield (
            f"DuplicateLoadBalancerName: A load balancer with the name '{inputs['name']}' already "
            "exists"
        )
    yield from _subnet_faults(request)
    for identity in inputs.get("securityGroups") or ():
        if find(account, GROUP, identity) is None:
            yield f"InvalidSecurityGroup: The security group '{identity}' does not exist"
    # The real one is replaced then, which a table of names cannot say.
    if old and not set(old["subnets"]) <= set(inputs["subnets"]):
        yield "the simulation cannot take away a subnet of a load balancer"
    if old and bool(old["securityGroups"]) != bool(inputs.get("securityGroups")):
        yield "the simulation cannot give or take away the only security group of a load balancer"


def _subnet_faults(request: Request) -> Iterator[str]:
    account, wanted = request.account, request.inputs.get("subnets") or []
    subnets = [found for identity in wanted if (found := account.get(identity))]
    if len(subnets) < len(wanted) or any(subnet.token != SUBNET for subnet in subnets):
        yield f"SubnetNotFound: One of the subnets {', '.join(wanted)} does not exist"
        return
    if len({subnet["availabilityZone"] for subnet in subnets}) < len(subnets):
        yield (
            "InvalidConfigurationRequest: A load balancer cannot be attached to multiple subnets "
            "in the same Availability Zone"
        )
    for vpc_id in {subnet["vpcId"] for subnet in subnets}:
        if gateway_of(account, vpc_id) is None:
            yield f"InvalidSubnet: VPC {vpc_id} has no internet gateway"
    for subnet in subnets if request.old is None else ():
        yield from full(account, subnet.id)


def _balancer_id(request: Request) -> str:
    name = request.inputs.get("name")
    return _path(request, f"loadbalancer/net/{name}/{digest(request.account, 'lb')}")


def _balancer_computed(request: Request) -> Inputs:
    account, subnets = request.account, request.inputs["subnets"]
    return {
        "arn": request.id,
        "dnsName": public("aws", account),
        "vpcId": account.things[subnets[0]]["vpcId"],
        **_mappings(request, []),
    }


def _mappings(request: Request, there: list[Inputs]) -> Inputs:
    """The load balancer's own address in each subnet."""
    known = {item["subnetId"] for item in there}
    new = [
        {
            "subnetId": identity,
            "privateIpv4Address": private_address(request.account, identity),
        }
        for identity in request.inputs["subnets"]
        if identity not in known
    ]
    return {"subnetMappings": [*there, *new]}


def _balancer_updated(request: Request) -> Inputs:
    return _mappings(request, request.old["subnetMappings"] if request.old else [])


def _target_group_check(inputs: Inputs) -> Iterator[str]:
    yield from _name_faults(inputs)
    yield from _only(inputs, "protocol", value="TCP")
    yield from _only(inputs, "targetType", value="instance")
    yield from _only(inputs, "preserveClientIp", value="true")
    check = inputs.get("healthCheck") or {}
    yield from _health_faults(check)


def _health_faults(check: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(check.keys() - _CHECK_MEMBERS):
        yield f"the simulation does not act on healthCheck.{name}"
    for name, allowed in _CHECK_RANGES.items():
        if name in check and check[name] not in allowed:
            yield f"ValidationError: Health check {name} {check[name]} is out of range"
    if check.get("protocol", "TCP") not in _CHECK_PROTOCOLS:
        yield f"the simulation has no health check by {check['protocol']}"
    if "matcher" in check and check.get("protocol", "TCP") == "TCP":
        yield "InvalidConfigurationRequest: matcher makes no sense with TCP"
    if "matcher" in check and not _CODES.fullmatch(check["matcher"]):
        yield f"ValidationError: Health check matcher HTTP code '{check['matcher']}' is invalid"


def _target_group_rules(request: Request) -> Iterator[str]:
    yield from missing(request, "name", "port", "protocol", "vpcId")
    yield from unknown(request, "vpcId", VPC, "ValidationError", "VPC ID")
    if others(request, TARGET_GROUP, name=request.inputs.get("name")):
        yield f"DuplicateTargetGroupName: '{request.inputs['name']}' already exists"


def _target_group_blocks(account: Account, group: Thing) -> str | None:
    if any(_forwards(listener) == group.id for listener in account.of(LISTENER)):
        return (
            f"ResourceInUse: Target group '{group.id}' is currently in use by a listener or a rule"
        )
    return None


def _forwards(listener: Thing) -> str:
    found: str = listener["defaultActions"][0]["targetGroupArn"]
    return found


def _target_group_id(request: Request) -> str:
    name = request.inputs.get("name")
    return _path(request, f"targetgroup/{name}/{digest(request.account, 'tg')}")


def _listener_check(inputs: Inputs) -> Iterator[str]:
    yield from _only(inputs, "protocol", value="TCP")
    seconds = inputs.get("tcpIdleTimeoutSeconds", 350)
    if seconds not in IDLE_SECONDS:
        yield f"ValidationError: tcp.idle_timeout.seconds {seconds} is out of range"
    actions = inputs.get("defaultActions") or [{"type": "forward"}]
    if [action.get("type") for action in actions] != ["forward"]:
        yield "InvalidLoadBalancerAction: a TCP listener has one action, which is to forward"


def _listener_rules(request: Request) -> Iterator[str]:
    inputs, account = request.inputs, request.account
    yield from missing(request, "port", "protocol")
    yield from unknown(
        request, "loadBalancerArn", BALANCER, "LoadBalancerNotFound", "load balancer"
    )
    group_id = inputs["defaultActions"][0].get("targetGroupArn")
    balancer, group = account.get(inputs["loadBalancerArn"]), find(account, TARGET_GROUP, group_id)
    if group is None:
        yield f"TargetGroupNotFound: Target group '{group_id}' not found"
    elif balancer and balancer["vpcId"] != group["vpcId"]:
        yield "InvalidConfigurationRequest: the target group and the load balancer are in two VPCs"
    place = {name: inputs.get(name) for name in ("loadBalancerArn", "port")}
    if others(request, LISTENER, **place):
        yield f"DuplicateListener: A listener already exists on port {inputs['port']}"


def _listener_id(request: Request) -> str:
    balancer = str(request.inputs["loadBalancerArn"]).partition("loadbalancer/")[2]
    return _path(request, f"listener/{balancer}/{digest(request.account, 'listener')}")


def _target_rules(request: Request) -> Iterator[str]:
    inputs, account = request.inputs, request.account
    yield from unknown(
        request, "targetGroupArn", TARGET_GROUP, "TargetGroupNotFound", "target group"
    )
    group, target = (
        account.get(inputs["targetGroupArn"]),
        find(account, INSTANCE, inputs["targetId"]),
    )
    if target is None:
        yield f"InvalidTarget: The target '{inputs['targetId']}' is not in a running state"
    elif group and account.things[target["subnetId"]]["vpcId"] != group["vpcId"]:
        yield f"InvalidTarget: The target '{target.id}' is not in the target group VPC"


def _arn(request: Request) -> Inputs:
    return {"arn": request.id}


BALANCERS = (
    row(
        BALANCER,
        "name loadBalancerType internal securityGroups subnets enableCrossZoneLoadBalancing tags",
        _balancer_id,
        immutable="name loadBalancerType internal",
        defaults={"enableCrossZoneLoadBalancing": False},
        check=_balancer_check,
        rules=_balancer_rules,
        computed=_balancer_computed,
        updated=_balancer_updated,
    ),
    row(
        TARGET_GROUP,
        "name vpcId targetType protocol port preserveClientIp healthCheck tags",
        _target_group_id,
        immutable="name vpcId targetType protocol port",
        defaults={"targetType": "instance", "preserveClientIp": "true"},
        check=_target_group_check,
        rules=_target_group_rules,
        computed=_arn,
        blocks=_target_group_blocks,
    ),
    row(
        LISTENER,
        "loadBalancerArn protocol port tcpIdleTimeoutSeconds defaultActions tags",
        _listener_id,
        immutable="loadBalancerArn",
        defaults={"tcpIdleTimeoutSeconds": 350},
        check=_listener_check,
        rules=_listener_rules,
        computed=_arn,
    ),
    row(
        TARGET,
        "targetGroupArn targetId",
        lambda request: f"{request.inputs['targetGroupArn']}-{digest(request.account, 'target')}",
        immutable="targetGroupArn targetId",
        rules=_target_rules,
    ),
)
