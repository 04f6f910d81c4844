"""The firewall: security groups, and their rules one by one."""

from __future__ import annotations

import re
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from tests.clouds.aws.shared import arn, missing, numbered, others, row, unknown
from tests.clouds.aws.tokens import BALANCER, EGRESS, GROUP, INGRESS, INSTANCE, VPC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Kind, Request

_TEXT = re.compile(r"[a-zA-Z0-9. _:/()#,@\[\]+=&;{}!$*-]*")
_LIMIT = 255
_SOURCES = ("cidrIpv4", "referencedSecurityGroupId")
_RANGE = ("ipProtocol", "fromPort", "toPort")
_PROTOCOLS = ("tcp", "udp", "icmp", "-1")
_NO_GROUP = (GROUP, "InvalidGroup.NotFound", "security group")


def _text_faults(inputs: Inputs, name: str, what: str) -> Iterator[str]:
    text = inputs.get(name)
    if text is None:
        return
    if not _TEXT.fullmatch(text) or len(text) > _LIMIT or not text:
        yield (
            f"InvalidParameterValue: Invalid {what}. Valid {what}s are strings less than 256 "
            "characters from the following set: a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*"
        )


def _group_check(inputs: Inputs) -> Iterator[str]:
    yield from _text_faults(inputs, "name", "security group name")
    yield from _text_faults(inputs, "description", "security group description")
    if inputs.get("name", "").startswith("sg-"):
        yield "InvalidParameterValue: Group names may not be in the format sg-*"


def _group_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    yield from missing(request, "name", "vpcId")
    yield from unknown(request, "vpcId", VPC, "InvalidVpcID.NotFound", "vpc ID")
    if others(request, GROUP, name=inputs.get("name"), vpcId=inputs.get("vpcId")):
        yield (
            f"InvalidGroup.Duplicate: The security group '{inputs['name']}' already exists for VPC "
            f"'{inputs['vpcId']}'"
        )


def _group_blocks(account: Account, group: Thing) -> str | None:
    users = [item for item in account.of(INSTANCE) if group.id in item["vpcSecurityGroupIds"]]
    users += [item for item in account.of(BALANCER) if group.id in (item["securityGroups"] or ())]
    named = [
        rule
        for token in (INGRESS, EGRESS)
        for rule in account.find(token, "referencedSecurityGroupId", group.id)
        if rule["securityGroupId"] != group.id
    ]
    if users or named:
        return f"DependencyViolation: resource {group.id} has a dependent object"
    return None


def _rule_check(inputs: Inputs) -> Iterator[str]:
    yield from _text_faults(inputs, "description", "rule description")
    protocol, cidr = inputs.get("ipProtocol"), inputs.get("cidrIpv4")
    if protocol is not None and protocol not in _PROTOCOLS:
        yield f"InvalidParameterValue: Invalid value '{protocol}' for IP protocol."
    ports = [inputs.get(name) for name in ("fromPort", "toPort")]
    if protocol == "-1" and ports != [None, None]:
        yield "InvalidParameterCombination: ports make no sense with all protocols"
    if protocol in {"tcp", "udp"}:
        yield from _port_faults(ports)
    if cidr is not None:
        yield from _cidr_faults(cidr)


def _port_faults(ports: list[Any]) -> Iterator[str]:
    first, last = ports
    if first is None or last is None or not 0 <= first <= last <= 65535:
        yield f"InvalidParameterValue: Invalid value for portRange: {first}-{last}"


def _cidr_faults(cidr: str) -> Iterator[str]:
    try:
        IPv4Network(cidr)
    except ValueError:
        yield f"InvalidParameterValue: CIDR block {cidr} is malformed"


def _rule_rules(token: str) -> Callable[[Request], Iterator[str]]:
    def rules(request: Request) -> Iterator[str]:
        inputs = request.inputs
        yield from unknown(request, "securityGroupId", *_NO_GROUP)
        yield from unknown(request, "referencedSecurityGroupId", *_NO_GROUP)
        if sum(inputs.get(name) is not None for name in _SOURCES) != 1:
            yield f"InvalidParameterCombination: a rule has exactly one of {', '.join(_SOURCES)}"
        identity = {name: inputs.get(name) for name in ("securityGroupId", *_RANGE, *_SOURCES)}
        if others(request, token, **identity):
            yield (
                f'InvalidPermission.Duplicate: the specified rule "{inputs["ipProtocol"]}, from '
                f'port: {inputs.get("fromPort")}, to port: {inputs.get("toPort")}" already exists'
            )

    return rules


def _rule(token: str) -> Kind:
    return row(
        token,
        f"securityGroupId description tags {' '.join((*_RANGE, *_SOURCES))}",
        numbered("sgr"),
        immutable="securityGroupId",
        check=_rule_check,
        rules=_rule_rules(token),
        computed=arn("ec2", "security-group-rule/{id}"),
    )


GROUPS = (
    row(
        GROUP,
        "name description vpcId tags",
        numbered("sg"),
        immutable="name description vpcId",
        check=_group_check,
        rules=_group_rules,
        computed=arn("ec2", "security-group/{id}"),
        blocks=_group_blocks,
    ),
    *(_rule(token) for token in (INGRESS, EGRESS)),
)
