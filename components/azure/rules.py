"""What Azure cannot do as a config says; no SDK is loaded for it."""

from __future__ import annotations

from collections.abc import Iterator

from components import cloudrules
from components.azure import facts
from components.cloudrules import Limits, groups
from components.subnets import one_subnet
from config import ClusterConfig
from findings import Finding, Loc

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"  # as an example


def _zone_in_region(zone: str, _region: str) -> bool:
    return zone in facts.ZONES


def _tag_fault(key: str, _value: str) -> str | None:
    if facts.NOT_IN_TAGS.search(key):
        return r"cannot be a tag's name: those have none of < > % & \ ? /"
    if key.lower().startswith(facts.RESERVED_TAGS):
        return f"cannot be a tag's name: {', '.join(facts.RESERVED_TAGS)} begin those of Azure"
    return None


LIMITS = Limits(
    cloud="Azure",
    account="subscription",
    account_form=facts.ACCOUNT,
    account_example=SUBSCRIPTION,
    region_form=facts.REGION,
    region_example="eastus2",
    smallest_subnet=facts.SMALLEST_SUBNET,
    largest_network=facts.LARGEST_NETWORK,
    layout=lambda config: one_subnet(config, facts.KEPT),
    refused=facts.REFUSED,
    zone_in_region=_zone_in_region,
    zone_example=lambda _region: facts.ZONES[0],
    architecture=facts.architecture,
    image_architecture=facts.image_architecture,
    image_form=facts.IMAGE,
    image_example=next(iter(facts.IMAGES.values())),
    tag_fault=_tag_fault,
)


def rules(config: ClusterConfig) -> Iterator[Finding]:
    """All that is wrong with the config for this cloud."""
    yield from cloudrules.rules(config, LIMITS)
    for check in (_zones, _user, _machine_types, _root_disks, _etcd_disks, _tags, _existing):
        yield from check(config)


def _zones(config: ClusterConfig) -> Iterator[Finding]:
    if config.zones and config.region in facts.WITHOUT_ZONES:
        yield Finding(
            ("zones",),
            ", ".join(config.zones),
            f"cannot be: the region {config.region} has no zones",
            "leave it out, or write another region",
            (("region",),),
        )


def _user(config: ClusterConfig) -> Iterator[Finding]:
    user = config.access.ssh_user
    if user in facts.REFUSED_USERS:
        yield Finding(
            ("access", "sshUser"),
            user,
            "is a name that Azure gives to nobody",
            "write another one, such as ubuntu; Azure makes the user",
        )


def _machine_types(config: ClusterConfig) -> Iterator[Finding]:
    for loc, group in groups(config).items():
        if group.machine_type and not facts.MACHINE_TYPE.fullmatch(group.machine_type):
            yield Finding(
                (*loc, "machineType"),
                group.machine_type,
                "is no size of Azure's machines",
                f"write one like {facts.MACHINE_TYPES[group.arch or config.architecture]}",
            )


def _root_disks(config: ClusterConfig) -> Iterator[Finding]:
    for loc, group in groups(config).items():
        size = group.disk_gb
        if size is not None and group.image is None and size < facts.SMALLEST_ROOT_DISK_GB:
            yield Finding(
                (*loc, "diskGb"),
                size,
                "is smaller than the image that goes onto it",
                f"write {facts.SMALLEST_ROOT_DISK_GB} or more",
                ((*loc, "image"),),
            )


def _etcd_disks(config: ClusterConfig) -> Iterator[Finding]:
    size = config.masters.machine_type
    if size and not facts.takes_premium_disks(size):
        yield Finding(
            ("masters", "machineType"),
            size,
            "takes no Premium SSD, which masters have for etcd's data",
            "write a size with an s after its number, such as "
            f"{facts.MACHINE_TYPES[config.masters.arch or config.architecture]}",
        )


def _tags(config: ClusterConfig) -> Iterator[Finding]:
    most = facts.TAGS - 1  # one is ours
    if len(config.tags) > most:
        yield Finding(
            ("tags",),
            len(config.tags),
            "is more tags than Azure keeps on one thing",
            f"write at most {most}",
        )
    first: dict[str, str] = {}
    for key, value in config.tags.items():
        other = first.setdefault(key.lower(), key)
        if other != key:
            yield Finding(
                ("tags", key),
                value,
                f"is the same tag as {other}: Azure tells no capitals from small letters",
                "leave one of the two",
                (("tags", other),),
            )


def _existing(config: ClusterConfig) -> Iterator[Finding]:
    existing = config.network.existing
    if existing is None:
        return
    at: Loc = ("network", "existing")
    found = facts.NETWORK.fullmatch(existing)
    if found is None:
        yield Finding(
            at,
            existing,
            "is no virtual network of Azure",
            f"write its id: /subscriptions/{SUBSCRIPTION}/resourceGroups/GROUP"
            "/providers/Microsoft.Network/virtualNetworks/NAME",
        )
    elif config.account and found["account"].lower() != config.account.lower():
        yield Finding(
            at,
            existing,
            "is in another subscription, where no subnet of ours can be made",
            "write a network of the subscription of account",
            (("account",),),
        )
