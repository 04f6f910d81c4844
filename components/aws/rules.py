"""What AWS refuses of a config, or would make of it that does not work. Loads no SDK."""

from __future__ import annotations

from collections.abc import Iterator

from components import cloudrules
from components.aws import facts
from components.cloudrules import Limits, groups
from components.firewall import Peer
from components.firewall import rules as firewall_rules
from components.subnets import Layout
from config import ClusterConfig
from findings import Finding
from versions import Arch


def _zone_in_region(zone: str, region: str) -> bool:
    return zone[:-1] == region and zone[-1].isalpha()


def _image_architecture(_image: str) -> Arch | None:
    return None  # an id does not say; `lookups` asks


def _tag_fault(key: str, _value: str) -> str | None:
    if key.lower().startswith(facts.RESERVED_TAGS):
        return f"begins with {facts.RESERVED_TAGS}, which is Amazon's"
    if key == facts.NAME_TAG:
        return "is what each thing has its own name in"
    return None


def _layout(config: ClusterConfig) -> Layout:
    zones = _number_of_zones(config)
    return Layout(
        prefix=facts.subnet_prefix(config.network.host_cidr, zones),
        kept=facts.KEPT,
        zones=zones,
        others=facts.NOT_FOR_HOSTS,
    )


def _number_of_zones(config: ClusterConfig) -> int:
    return len(config.zones) or facts.ZONES


LIMITS = Limits(
    cloud="AWS",
    account=None,  # that of the credentials
    account_form=facts.ACCOUNT,
    account_example="123456789012",
    region_form=facts.REGION,
    region_example="us-east-1",
    smallest_subnet=facts.SMALLEST_SUBNET,
    largest_network=facts.LARGEST_NETWORK,
    layout=_layout,
    refused=facts.REFUSED,
    zone_in_region=_zone_in_region,
    zone_example=lambda region: f"{region}a",
    architecture=facts.architecture,
    image_architecture=_image_architecture,
    image_form=facts.IMAGE,
    image_example="ami-0123456789abcdef0",
    tag_fault=_tag_fault,
)


def rules(config: ClusterConfig) -> Iterator[Finding]:
    """All that is wrong with the config for AWS."""
    yield from cloudrules.rules(config, LIMITS)
    for check in (_names, _machine_types, _user, _existing, _subnets, _firewall, _number_of_tags):
        yield from check(config)


def _names(config: ClusterConfig) -> Iterator[Finding]:
    for beginning in facts.REFUSED_BEGINNINGS:
        if config.name.startswith(beginning):
            yield Finding(
                ("name",),
                config.name,
                f"begins with {beginning}, as no load balancer's or security group's name may",
                "write another name",
            )


def _machine_types(config: ClusterConfig) -> Iterator[Finding]:
    for loc, group in groups(config).items():
        if group.machine_type and not facts.MACHINE_TYPE.fullmatch(group.machine_type):
            yield Finding(
                (*loc, "machineType"),
                group.machine_type,
                "is no instance type of AWS",
                "write one like t3.large",
            )
    kind = config.masters.machine_type or ""
    if kind.partition(".")[0] in facts.XEN:
        yield Finding(
            ("masters", "machineType"),
            kind,
            "is of a generation whose disks have no names of their own: etcd's is not found",
            "write one that is built on Nitro, such as t3.medium",
        )


def _user(config: ClusterConfig) -> Iterator[Finding]:
    images = {group.image for group in groups(config).values()}
    if None in images and config.access.ssh_user != facts.UBUNTU_USER:
        yield Finding(
            ("access", "sshUser"),
            config.access.ssh_user,
            f"gets no key: on AWS it is the image's own user who does, and Ubuntu's is "
            f"{facts.UBUNTU_USER}",
            f"write {facts.UBUNTU_USER}, or the image of all masters and pools",
            (("masters", "image"), ("pools",)),
        )


def _existing(config: ClusterConfig) -> Iterator[Finding]:
    existing = config.network.existing
    if existing is not None and not facts.VPC.fullmatch(existing):
        yield Finding(
            ("network", "existing"),
            existing,
            "is no id of a VPC",
            "write one like vpc-0123456789abcdef0, or leave it out",
        )


def _subnets(config: ClusterConfig) -> Iterator[Finding]:
    """Every subnet is of a size that AWS has."""
    cidr = config.network.host_cidr
    prefix = facts.subnet_prefix(cidr, _number_of_zones(config))
    if prefix > facts.SMALLEST_SUBNET:
        yield Finding(
            ("network", "hostCidr"),
            cidr,
            f"would be cut into subnets of /{prefix}, two for every zone, and AWS has none smaller "
            f"than /{facts.SMALLEST_SUBNET}",
            f"write a range that is {2 ** (prefix - facts.SMALLEST_SUBNET)} times as big",
            (("zones",),),
        )


def _firewall(config: ClusterConfig) -> Iterator[Finding]:
    """A public node is let in by a rule of its own, beside those of the clients."""
    nodes = sum(pool.count for pool in config.pools)
    per_node = sum(rule.source is Peer.OUTSIDE for rule in firewall_rules(config))
    outside = per_node * (1 if config.access.private else nodes)
    needed = outside + len(set(config.access.api_from))
    if needed > facts.RULES_PER_GROUP:
        yield Finding(
            ("access", "private"),
            config.access.private,
            f"asks for {needed} rules in one security group, one for each public address of a "
            f"node and each range of apiFrom, and AWS has {facts.RULES_PER_GROUP}",
            "write private: true, so that all nodes have one address outside, or fewer of them",
            (("pools",), ("access", "apiFrom")),
        )


def _number_of_tags(config: ClusterConfig) -> Iterator[Finding]:
    ours = len(facts.tags(config, "")) - len(config.tags)
    if len(config.tags) + ours > facts.TAGS:
        yield Finding(
            ("tags",),
            len(config.tags),
            f"is the number of tags, and AWS has {facts.TAGS} on a thing, {ours} of them ours",
            f"write {facts.TAGS - ours} at most",
        )
