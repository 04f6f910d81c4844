"""The table of `components.firewall` as rules of one network security group.

Roles are application security groups: a packet from or to a machine's private address counts as its
role's. Azure lets a virtual network's machines talk as they like, so a last rule refuses whatever
no other one lets in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pulumi import ComponentResource, Input, Resource, ResourceOptions
from pulumi_azure_native.network import (
    ApplicationSecurityGroup,
    NetworkSecurityGroup,
    SecurityRule,
)
from pulumi_azure_native.resources import ResourceGroup

from components.azure.facts import FIRST_PRIORITY, LAST_PRIORITY, NAME, PROBES
from components.firewall import TABLE, Peer, Rule, rules
from components.naming import physical, tags
from config import ClusterConfig

_ROLES = (Peer.MASTER, Peer.NODE, Peer.BASTION)
_SERVICE_TAGS: Mapping[Peer, str] = {Peer.BALANCER: PROBES}
_PROTOCOLS = {"tcp": "Tcp", "udp": "Udp"}
_STEP = 10  # room for a rule by hand in between
ANY = "*"


@dataclass(frozen=True, kw_only=True, slots=True)
class Firewall:
    """What rules are written into, and whom they are about."""

    config: ClusterConfig
    resource_group: ResourceGroup
    security_group: NetworkSecurityGroup
    roles: Mapping[Peer, ApplicationSecurityGroup]


def priority(rule: Rule) -> int:
    """By its place in the table, so that no rule's depends on which others a config needs."""
    return FIRST_PRIORITY + _STEP * TABLE.index(rule)


def roles(config: ClusterConfig) -> tuple[Peer, ...]:
    """The roles that some rule is about."""
    named = {peer for rule in rules(config) for peer in (rule.source, rule.target)}
    return tuple(peer for peer in _ROLES if peer in named)


def make_firewall(
    parent: ComponentResource, config: ClusterConfig, resource_group: ResourceGroup
) -> Firewall:
    """A network security group without rules, and an application one for each role."""
    # Their names are taken until they are gone.
    opts = ResourceOptions(parent=parent, delete_before_replace=True)
    return Firewall(
        config=config,
        resource_group=resource_group,
        security_group=NetworkSecurityGroup(
            f"{config.name}-firewall",
            network_security_group_name=physical(f"{config.name}-firewall", NAME),
            resource_group_name=resource_group.name,
            location=config.region,
            tags=tags(config),
            opts=opts,
        ),
        roles={
            role: ApplicationSecurityGroup(
                f"{config.name}-{role}",
                application_security_group_name=physical(f"{config.name}-{role}", NAME),
                resource_group_name=resource_group.name,
                location=config.region,
                tags=tags(config),
                opts=opts,
            )
            for role in roles(config)
        },
    )


def refuse_others(parent: ComponentResource, firewall: Firewall) -> SecurityRule:
    """The last rule: Azure's own, which come after it, let in whatever the network has."""
    return SecurityRule(
        f"{firewall.config.name}-refuse-others",
        security_rule_name="refuse-others",
        resource_group_name=firewall.resource_group.name,
        network_security_group_name=firewall.security_group.name,
        description="Whatever no other rule lets in",
        access="Deny",
        direction="Inbound",
        priority=LAST_PRIORITY,
        protocol=ANY,
        source_address_prefix=ANY,
        source_port_range=ANY,
        destination_address_prefix=ANY,
        destination_port_range=ANY,
        opts=ResourceOptions(parent=parent, delete_before_replace=True),
    )


def let_in(
    parent: ComponentResource,
    firewall: Firewall,
    wanted: Iterable[Rule],
    ranges: Mapping[Peer, Sequence[Input[str]]],
    after: Resource,
) -> Resource:
    """Write the rules one after the other, and hand back the last: Azure takes one at a time.

    `ranges` has the addresses of those sources that are neither roles nor known to Azure.
    """
    for rule in wanted:
        role = firewall.roles.get(rule.source)
        after = SecurityRule(
            f"{firewall.config.name}-{rule.name}",
            security_rule_name=rule.name,
            resource_group_name=firewall.resource_group.name,
            network_security_group_name=firewall.security_group.name,
            description=rule.why,
            access="Allow",
            direction="Inbound",
            priority=priority(rule),
            protocol=_PROTOCOLS[rule.protocol],
            source_address_prefix=_SERVICE_TAGS.get(rule.source),
            source_address_prefixes=ranges.get(rule.source),
            source_application_security_groups=None if role is None else [{"id": role.id}],
            source_port_range=ANY,
            destination_application_security_groups=[{"id": firewall.roles[rule.target].id}],
            destination_port_range=str(rule.port),
            opts=ResourceOptions(parent=parent, delete_before_replace=True, depends_on=[after]),
        )
    return after
