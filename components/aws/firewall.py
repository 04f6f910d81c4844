"""The table of `components.firewall` as security groups: one for each role, one rule a row.

A packet to the API comes by way of the load balancer, which has a group of its own: the ranges that
may call the API are let in there, and the masters' group lets in whatever that group did. A row
whose source is a role is a rule that names its group, which means private addresses only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pulumi import ComponentResource, Input, Output, ResourceOptions
from pulumi_aws import ec2, vpc

from components.aws.facts import ANYWHERE, GROUP_NAME, NOT_IN_DESCRIPTIONS, tags
from components.firewall import Peer, Rule, rules
from components.naming import physical
from config import ClusterConfig
from interface import API_PORT

Groups = Mapping[Peer, ec2.SecurityGroup]

# Whom a group is for, by the end of its name.
_ROLES: Mapping[Peer, str] = {
    Peer.BALANCER: "api",
    Peer.MASTER: "master",
    Peer.NODE: "node",
    Peer.BASTION: "bastion",
}
# Sources that are addresses and not machines of ours. OUTSIDE is known later: `admit_outside`.
_RANGES: Mapping[Peer, Callable[[ClusterConfig], tuple[str, ...]]] = {
    Peer.ADMINISTRATOR: lambda config: config.access.ssh_from,
    Peer.CLIENT: lambda config: config.access.api_from,
    Peer.OUTSIDE: lambda _config: (),
}
_BY_THE_ENDPOINT = (Peer.CLIENT, Peer.OUTSIDE)


def make_groups(parent: ComponentResource, config: ClusterConfig, vpc_id: Input[str]) -> Groups:
    """A security group for each role that the cluster has, with its rules."""
    groups = {
        peer: ec2.SecurityGroup(
            f"{config.name}-{role}",
            name=physical(f"{config.name}-{role}", GROUP_NAME),
            description=f"Kubernetes Anywhere: {config.name}, {role}",
            vpc_id=vpc_id,
            tags=tags(config, f"{config.name}-{role}"),
            # Its name is taken until it is gone.
            opts=ResourceOptions(parent=parent, delete_before_replace=True),
        )
        for peer, role in _ROLES.items()
        if peer is not Peer.BASTION or config.access.private
    }
    for rule in rules(config):
        for ending, source in _sources(rule, config, groups).items():
            _admit(parent, config, groups, rule, ending, source)
    _way_out(parent, config, groups)
    return groups


def admit_outside(
    parent: ComponentResource,
    config: ClusterConfig,
    groups: Groups,
    addresses: Mapping[str, Input[str]],
) -> None:
    """Let in the nodes as they look from outside: {whose: the public address}."""
    for rule in rules(config):
        if rule.source is Peer.OUTSIDE:
            for name, address in addresses.items():
                source = {"cidr_ipv4": Output.format("{0}/32", address)}
                _admit(parent, config, groups, rule, f"-{name}", source)


def _sources(
    rule: Rule, config: ClusterConfig, groups: Groups
) -> Mapping[str, Mapping[str, Input[str]]]:
    """{the end of the resource's name: the rule's source, as the SDK calls it}."""
    ranges = _RANGES.get(rule.source)
    if ranges is None:
        return {"": {"referenced_security_group_id": groups[rule.source].id}}
    return {f"-{cidr.replace('/', '-')}": {"cidr_ipv4": cidr} for cidr in ranges(config)}


def _admit(  # noqa: PLR0913, PLR0917 (the row, its source, and where it goes)
    parent: ComponentResource,
    config: ClusterConfig,
    groups: Groups,
    rule: Rule,
    ending: str,
    source: Mapping[str, Input[str]],
) -> None:
    name = f"{config.name}-{rule.name}{ending}"
    target = Peer.BALANCER if rule.source in _BY_THE_ENDPOINT else rule.target
    vpc.SecurityGroupIngressRule(
        name,
        security_group_id=groups[target].id,
        ip_protocol=rule.protocol,
        from_port=rule.port,
        to_port=rule.port,
        description=NOT_IN_DESCRIPTIONS.sub("", rule.why),
        tags=tags(config, name),
        **source,
        opts=ResourceOptions(parent=parent),
    )


def _way_out(parent: ComponentResource, config: ClusterConfig, groups: Groups) -> None:
    """A group lets nothing out by itself. Machines may go anywhere, the balancer to masters."""
    anywhere = {"ip_protocol": "-1", "cidr_ipv4": ANYWHERE}
    to_masters = {
        "ip_protocol": "tcp",
        "from_port": API_PORT,
        "to_port": API_PORT,
        "referenced_security_group_id": groups[Peer.MASTER].id,
    }
    for peer, group in groups.items():
        name = f"{config.name}-{_ROLES[peer]}-out"
        vpc.SecurityGroupEgressRule(
            name,
            security_group_id=group.id,
            description="Way out",
            tags=tags(config, name),
            **(to_masters if peer is Peer.BALANCER else anywhere),
            opts=ResourceOptions(parent=parent),
        )
