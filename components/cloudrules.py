"""What every cloud asks of a config, whatever else it asks; no SDK is loaded for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from components import subnets
from components.subnets import Layout
from components.unused import without_effect
from config import ClusterConfig
from findings import Finding, Loc
from model import Machine
from versions import Arch

Check = Callable[[ClusterConfig], Iterator[Finding]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """A cloud's own words and limits, for messages and checks."""

    cloud: str  # as its users call it
    account: str | None  # what `account` is there, if it has to be given
    account_form: re.Pattern[str]
    account_example: str
    region_form: re.Pattern[str]
    region_example: str
    smallest_subnet: int  # prefix length
    largest_network: int
    layout: Callable[[ClusterConfig], Layout]  # of the subnets that hosts are in
    refused: Mapping[str, IPv4Network]  # ranges that the cloud keeps for itself: {what: range}
    zone_in_region: Callable[[str, str], bool]  # (zone, region)
    zone_example: Callable[[str], str]  # of a region
    machine_type: str  # what `machineType` is there
    machine_type_form: re.Pattern[str]
    machine_types: Mapping[Arch, str]  # examples
    architecture: Callable[[str], Arch | None]  # of a machine type; None: not known
    image_architecture: Callable[[str], Arch | None]  # of an image; None: its name does not say
    image_form: re.Pattern[str]
    image_example: str
    tag_fault: Callable[[str, str], str | None]  # (key, value): what is wrong


def rules(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    """All that is wrong with the config for this cloud."""
    yield from without_effect((), config, ("metal",), f"the machines are made in {limits.cloud}")
    checks = (_place, _access, _zones, _network, _room, _machine_types, _images, _tags)
    for check in checks:
        yield from check(config, limits)
    yield from mirror_url(config, f"from {limits.cloud}")


def groups(config: ClusterConfig) -> Mapping[Loc, Machine]:
    """Everything that says what kind of machine it wants, and where it stands."""
    found: dict[Loc, Machine] = {("masters",): config.masters}
    found.update({("pools", index): pool for index, pool in enumerate(config.pools)})
    return found


def _place(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    account, region = config.account, config.region
    if account is None and limits.account:
        yield Finding(
            ("account",),
            None,
            f"is missing: {limits.cloud} needs to know the {limits.account}",
            f"add account: {limits.account_example}",
        )
    if account is not None and not limits.account_form.fullmatch(account):
        yield Finding(
            ("account",),
            account,
            f"is no {limits.account or 'account'} of {limits.cloud}",
            f"write one like {limits.account_example}",
        )
    if region is None:
        yield Finding(
            ("region",),
            None,
            f"is missing: {limits.cloud} needs to know where",
            f"add region: {limits.region_example}",
        )
    elif not limits.region_form.fullmatch(region):
        yield Finding(
            ("region",),
            region,
            f"is no region of {limits.cloud}",
            f"write one like {limits.region_example}",
        )


def _access(config: ClusterConfig, _limits: Limits) -> Iterator[Finding]:
    access = config.access
    who = {"sshFrom": (access.ssh_from, "log in"), "apiFrom": (access.api_from, "call the API")}
    for key, (ranges, what) in who.items():
        if not ranges:
            yield Finding(
                ("access", key),
                None,
                f"is missing: nobody could {what}, this program included",
                f"add {key}: [ADDRESS/32] with this computer's public address",
            )
        for index, cidr in enumerate(ranges):
            if cidr in ranges[:index]:
                yield Finding(
                    ("access", key, index), cidr, "is there twice", "leave one of the two"
                )
    for index, cidr in enumerate(access.ssh_from):
        if IPv4Network(cidr).prefixlen == 0:
            yield Finding(
                ("access", "sshFrom", index),
                cidr,
                "lets the whole internet try to log in",
                "write the ranges that administrators come from, such as ADDRESS/32",
            )


def _zones(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    region = config.region
    if region is None or not limits.region_form.fullmatch(region):
        return
    for index, zone in enumerate(config.zones):
        at: Loc = ("zones", index)
        if not limits.zone_in_region(zone, region):
            yield Finding(
                at,
                zone,
                f"is no zone of the region {region}",
                f"write one like {limits.zone_example(region)}",
                (("region",),),
            )
        elif zone in config.zones[:index]:
            yield Finding(at, zone, "is there twice", "leave one of the two")


def _network(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    cidr = IPv4Network(config.network.host_cidr)
    at: Loc = ("network", "hostCidr")
    if not limits.largest_network <= cidr.prefixlen <= limits.smallest_subnet:
        yield Finding(
            at,
            str(cidr),
            f"is of a size that {limits.cloud} has no network of",
            f"write a range from /{limits.largest_network} to /{limits.smallest_subnet}",
        )
    for what, taken in limits.refused.items():
        if cidr.overlaps(taken):
            yield Finding(
                at,
                str(cidr),
                f"overlaps {taken}, which {limits.cloud} keeps for {what}",
                "write another private range, such as 10.10.0.0/16",
            )
    if config.network.backend == "host-gw":
        yield Finding(
            ("network", "backend"),
            "host-gw",
            f"cannot work: {limits.cloud} delivers no packets to pods' addresses",
            "write vxlan, or leave it out",
        )


def _room(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    """As many masters as there can be have addresses of their own, and all others find one, too."""
    cidr, layout = IPv4Network(config.network.host_cidr), limits.layout(config)
    if layout.prefix > limits.smallest_subnet:
        return  # there is no such subnet, which is said elsewhere
    masters, others = subnets.for_masters(layout), subnets.for_nodes(config, layout)
    if masters + others > subnets.addresses(layout):
        needed = masters + others + layout.kept.first + layout.kept.last
        pieces = layout.prefix - cidr.prefixlen  # so many bits say which subnet it is
        yield Finding(
            ("network", "hostCidr"),
            str(cidr),
            f"gives the machines of a subnet {subnets.addresses(layout)} addresses, but in one are "
            f"needed {masters} for as many masters as there can be and {others} for all others",
            f"write a range of /{32 - (needed - 1).bit_length() - pieces} or bigger",
            (("zones",), ("pools",), ("access", "private")),
        )


def _machine_types(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    for loc, group in groups(config).items():
        value, at = group.machine_type, (*loc, "machineType")
        if value is None:
            continue
        arch = group.arch or config.architecture
        if limits.machine_type_form.fullmatch(value):
            yield from _differs(loc, at, value, limits.architecture(value), arch)
        else:
            yield Finding(
                at,
                value,
                f"is no {limits.machine_type} of {limits.cloud}",
                f"write one like {limits.machine_types[arch]}",
            )


def _images(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    for loc, group in groups(config).items():
        value, at = group.image, (*loc, "image")
        if value is None:
            continue
        arch = group.arch or config.architecture
        if limits.image_form.fullmatch(value):
            yield from _differs(loc, at, value, limits.image_architecture(value), arch)
        else:
            yield Finding(
                at,
                value,
                f"is no image of {limits.cloud}",
                f"write one like {limits.image_example}",
            )


def _differs(group: Loc, at: Loc, value: str, kind: Arch | None, arch: Arch) -> Iterator[Finding]:
    """What is said if a value is for another architecture than its group's machines have."""
    if kind is not None and kind is not arch:
        yield Finding(
            at,
            value,
            f"is for {kind}, but the machines' arch is {arch}",
            f"write one for {arch}, or arch: {kind} beside it",
            (("arch",), (*group, "arch")),
        )


def _tags(config: ClusterConfig, limits: Limits) -> Iterator[Finding]:
    for key, value in config.tags.items():
        fault = limits.tag_fault(key, value)
        if fault:
            yield Finding(("tags", key), value, fault, "write another tag, or leave it out")


def mirror_url(config: ClusterConfig, whence: str) -> Iterator[Finding]:
    """Machines that are not on this computer cannot have a mirror served to them by the program."""
    if config.mirror is not None and config.mirror.url is None:
        yield Finding(
            ("mirror", "url"),
            None,
            f"is missing: nothing on this computer can be reached {whence}",
            "serve the folder where the hosts reach it and add url: http://HOST:PORT, or leave "
            "out mirror (and unset KUBERNETES_ANYWHERE_MIRROR)",
        )
