"""Application security groups, network security groups and their rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv4Network
from itertools import combinations

from tests.clouds.azure.ids import (
    INTERFACE,
    ROLE,
    RULE,
    SECURITY_GROUP,
    SUBNET,
    identify,
    inside,
    parent_of,
    same,
    users,
)
from tests.clouds.azure.table import nested, row
from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.core.kind import Request

FIRST_PRIORITY, LAST_PRIORITY = 100, 4096
DESCRIPTION = 140
ANY = "*"
TAGS = ("VirtualNetwork", "AzureLoadBalancer", "Internet")
_PORTS = re.compile(r"\*|\d{1,5}(-\d{1,5})?")


def rules_of(account: Account, group_id: str) -> list[Thing]:
    """The rules of a network security group, the most important first."""
    found = [thing for thing in inside(account, group_id) if thing.token == RULE]
    return sorted(found, key=lambda rule: int(rule["priority"]))


def _is_range(text: str) -> bool:
    try:
        return str(IPv4Network(text)) in {text, f"{text}/32"}
    except ValueError:
        return False


def _rule_check(inputs: Inputs) -> Iterator[str]:
    priority = inputs.get("priority", FIRST_PRIORITY)
    if not FIRST_PRIORITY <= priority <= LAST_PRIORITY:
        yield (
            f"SecurityRuleInvalidPriority: Security rule has invalid Priority. Value provided: "
            f"{priority} Allowed range {FIRST_PRIORITY}-{LAST_PRIORITY}."
        )
    if len(inputs.get("description", "")) > DESCRIPTION:
        yield f"SecurityRuleInvalidDescription: more than {DESCRIPTION} characters."
    if inputs.get("sourcePortRange", ANY) != ANY:
        yield "sourcePortRange: the simulation does not look at it: write *"
    for side in ("source", "destination"):
        ports = inputs.get(f"{side}PortRange")
        if ports is not None and not _PORTS.fullmatch(ports):
            yield f"SecurityRuleInvalidPortRange: Value provided: {ports}"
        prefix = inputs.get(f"{side}AddressPrefix")
        if prefix is not None and prefix not in {ANY, *TAGS} and not _is_range(prefix):
            yield f"SecurityRuleInvalidAddressPrefix: Value provided: {prefix}"


def _side_faults(request: Request, side: str, identity: str) -> Iterator[str]:
    """An end of a rule is one prefix or tag, or several prefixes, or groups; and it has ports."""
    ways = ("AddressPrefix", "AddressPrefixes", "ApplicationSecurityGroups")
    given = [way for way in ways if request.inputs.get(f"{side}{way}")]
    if len(given) != 1 or not request.inputs.get(f"{side}PortRange"):
        yield (
            f"SecurityRuleInvalidFormat: {identity} needs {side}PortRange and exactly one of "
            f"{', '.join(f'{side}{way}' for way in ways)}."
        )
    several = request.inputs.get(f"{side}AddressPrefixes") or []
    for prefix in several:
        if not _is_range(prefix):
            yield (
                f"SecurityRuleParameterContainsUnsupportedValue: Security rule parameter "
                f"{side}AddressPrefixes for rule with Id {identity} contains unsupported value "
                f"'{prefix}'."
            )
    ranges = [IPv4Network(prefix) for prefix in several if _is_range(prefix)]
    if any(one.overlaps(other) for one, other in combinations(ranges, 2)):
        yield (
            f"OverlappingSubnetsNotPermittedInSecurityRule: Security rule parameter "
            f"{side}AddressPrefixes for rule with Id {identity} cannot contain overlapping subnets."
        )


def _rule_rules(request: Request) -> Iterator[str]:
    identity = identify(RULE)(request)
    for side in ("source", "destination"):
        yield from _side_faults(request, side, identity)
    for other in rules_of(request.account, parent_of(identity)):
        alike = all(other[key] == request.inputs[key] for key in ("priority", "direction"))
        if alike and not same(other.id, identity):
            yield (
                f"SecurityRuleConflict: Security rule {request.inputs['securityRuleName']} "
                f"conflicts with rule {other['securityRuleName']}. Rules cannot have the same "
                "Priority and Direction."
            )


def _group_blocks(account: Account, group: Thing) -> str | None:
    found = users(account, group.id, SUBNET)
    if not found:
        return nested(account, group)
    return (
        f"InUseNetworkSecurityGroupCannotBeDeleted: Network security group {group.id} cannot be "
        f"deleted because it is in use by the following resources: {found[0].id}."
    )


def _role_blocks(account: Account, role: Thing) -> str | None:
    found = users(account, role.id, INTERFACE, RULE)
    if not found:
        return None
    return (
        f"ApplicationSecurityGroupInUse: Application Security Group {role['name']} cannot be "
        f"deleted because it is referenced by {found[0].id}."
    )


GROUPS = (
    row(
        ROLE,
        "resourceGroupName applicationSecurityGroupName location tags",
        blocks=_role_blocks,
    ),
    row(
        SECURITY_GROUP,
        "resourceGroupName networkSecurityGroupName location tags",
        blocks=_group_blocks,
    ),
    row(
        RULE,
        "resourceGroupName networkSecurityGroupName securityRuleName description access direction "
        "priority protocol sourceAddressPrefix sourceAddressPrefixes "
        "sourceApplicationSecurityGroups.id sourcePortRange destinationAddressPrefix "
        "destinationAddressPrefixes destinationApplicationSecurityGroups.id destinationPortRange",
        references={
            "sourceApplicationSecurityGroups.id": ROLE,
            "destinationApplicationSecurityGroups.id": ROLE,
        },
        check=_rule_check,
        rules=_rule_rules,
        immutable="networkSecurityGroupName",
    ),
)
