"""What AWS is asked before anything is made, so that a config that does not fit fails by then.

What `rules` cannot know from the config alone: which zones, images and networks there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

import pulumi_aws as aws
from pulumi import InvokeOptions
from pulumi_aws import ec2

from components.asking import answer, choose_zones, refusal, refuse_taken, virtual_ranges
from components.aws.facts import (
    BASTION_TYPES,
    IMAGE_ARCHITECTURES,
    UBUNTU_NAME,
    UBUNTU_OWNER,
    ZONES,
    machine_type,
    masters_arch,
    zone_of,
)
from components.cloudrules import groups
from config import ClusterConfig
from versions import Arch

Image = tuple[Arch, str | None]  # what a config says of one; None: Ubuntu
_CLOUD = "AWS"  # which is asked


@dataclass(frozen=True, kw_only=True, slots=True)
class Existing:
    """A network that is there already."""

    vpc_id: str
    gateway_id: str


def find_zones(config: ClusterConfig, ask: InvokeOptions) -> tuple[str, ...]:
    """The config's zones, or the region's first three by name: they do not change by themselves.

    So zones that are in trouble count, too. All of them have the machines that would be in them.
    """
    # Others than plain availability zones are somewhere else, and have no such load balancers.
    plain = aws.GetAvailabilityZonesFilterArgs(name="opt-in-status", values=["opt-in-not-required"])
    known = sorted(aws.get_availability_zones(filters=[plain], opts=ask).names)
    zones = choose_zones(config, known, ZONES, "account")
    _check_offers(config, known, zones, ask)
    return zones


def _check_offers(
    config: ClusterConfig, known: list[str], zones: tuple[str, ...], ask: InvokeOptions
) -> None:
    """Old zones have no new machines."""
    needed = {(machine_type(spec), zone_of(spec, zones)) for spec in config.hosts}
    if config.access.private:
        needed.add((BASTION_TYPES[masters_arch(config)], zones[0]))
    types = sorted({kind for kind, _ in needed})
    wanted = ec2.GetInstanceTypeOfferingsFilterArgs(name="instance-type", values=types)
    found = ec2.get_instance_type_offerings(
        location_type="availability-zone", filters=[wanted], opts=ask
    )
    offers = set(zip(found.instance_types, found.locations, strict=True))
    missing = sorted(needed - offers)
    if missing:
        kind, zone = missing[0]
        whole = [zone for zone in known if all((each, zone) in offers for each in types)]
        remedy = f"write zones: [{', '.join(whole[:ZONES])}]" if whole else "write another type"
        raise refusal("machineType", kind, f"is not offered in the zone {zone}", remedy)


def find_network(config: ClusterConfig, ask: InvokeOptions) -> Existing | None:
    """The network that the config names, with the range and the way out that we need of it."""
    vpc_id, host_cidr = config.network.existing, config.network.host_cidr
    if vpc_id is None:
        return None
    vpc = answer(
        _CLOUD,
        "network.existing",
        vpc_id,
        f"write the id of a VPC that this account has in {config.region}, or leave it out",
        lambda: ec2.get_vpc(id=vpc_id, opts=ask),
    )
    ranges = [association.cidr_block for association in vpc.cidr_block_associations]
    if not any(IPv4Network(host_cidr).subnet_of(IPv4Network(cidr)) for cidr in ranges):
        message = f"is not within the network {vpc_id}, which has {', '.join(ranges)}"
        raise refusal("network.hostCidr", host_cidr, message, "write a free piece of that")
    # AWS's resolver is in there, too, at the network's own second address.
    refuse_taken(virtual_ranges(config), [(cidr, f"the network {vpc_id}") for cidr in ranges])
    attached = ec2.GetInternetGatewayFilterArgs(name="attachment.vpc-id", values=[vpc_id])
    gateway = answer(
        _CLOUD,
        "network.existing",
        vpc_id,
        "attach an internet gateway to it: the API's address is a public one",
        lambda: ec2.get_internet_gateway(filters=[attached], opts=ask),
    )
    return Existing(vpc_id=vpc_id, gateway_id=gateway.internet_gateway_id)


def find_images(config: ClusterConfig, ask: InvokeOptions) -> Mapping[Image, str]:
    """The id of each image that a machine of the config is made of."""
    wanted = {(group.arch or config.architecture, group.image) for group in groups(config).values()}
    return {(arch, image): _image(arch, image, ask) for arch, image in sorted(wanted, key=str)}


def _image(arch: Arch, image: str | None, ask: InvokeOptions) -> str:
    if image is None:
        name = ec2.GetAmiFilterArgs(name="name", values=[UBUNTU_NAME.format(arch=arch)])
        newest = ec2.get_ami(owners=[UBUNTU_OWNER], most_recent=True, filters=[name], opts=ask)
        return str(newest.id)
    by_id = ec2.GetAmiFilterArgs(name="image-id", values=[image])
    found = answer(
        _CLOUD,
        "image",
        image,
        "write the id of an image that this account may use in this region",
        # Amazon deprecates an image after two years, which is no reason to refuse it.
        lambda: ec2.get_ami(filters=[by_id], include_deprecated=True, opts=ask),
    )
    if found.architecture != IMAGE_ARCHITECTURES[arch]:
        message = f"is for {found.architecture}, but the machines' arch is {arch}"
        raise refusal("image", image, message, f"write one for {arch}, or another arch beside it")
    return str(found.id)
