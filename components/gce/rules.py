"""What Compute Engine cannot do as a config says; no SDK is loaded for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from components import cloudrules
from components.cloudrules import Limits, groups
from components.gce import facts
from components.subnets import one_subnet
from config import ClusterConfig
from findings import Finding, Loc


def _zone_in_region(zone: str, region: str) -> bool:
    return re.fullmatch(rf"{re.escape(region)}-[a-z][a-z0-9]*", zone) is not None


def _tag_fault(key: str, value: str) -> str | None:
    """Tags are labels here, with fewer letters than elsewhere."""
    if not facts.LABEL_KEY_FORM.fullmatch(key):
        return (
            "cannot be a label's key: those begin with a lower-case letter and have lower-case "
            "letters, digits, dashes and underscores"
        )
    if not facts.LABEL_VALUE_FORM.fullmatch(value):
        return (
            "cannot be a label's value: those have lower-case letters, digits, dashes and "
            "underscores"
        )
    return None


LIMITS = Limits(
    cloud="Google Cloud",
    account="project",
    account_form=facts.PROJECT_FORM,
    account_example="my-project",
    region_form=facts.REGION_FORM,
    region_example="us-central1",
    smallest_subnet=facts.SMALLEST_SUBNET,
    largest_network=facts.LARGEST_SUBNET,
    layout=lambda config: one_subnet(config, facts.KEPT),
    refused=facts.PROHIBITED,
    zone_in_region=_zone_in_region,
    zone_example=lambda region: f"{region}-a",
    architecture=facts.architecture,
    image_architecture=facts.image_architecture,
    image_form=facts.IMAGE_FORM,
    image_example="projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64",
    tag_fault=_tag_fault,
)


def rules(config: ClusterConfig) -> Iterator[Finding]:
    """All that is wrong with the config for this cloud."""
    yield from cloudrules.rules(config, LIMITS)
    yield from _machine_types(config)
    yield from _etcd_disk(config)
    yield from _labels(config)
    yield from _existing(config)


def _machine_types(config: ClusterConfig) -> Iterator[Finding]:
    for loc, group in groups(config).items():
        if group.machine_type and not facts.MACHINE_TYPE_FORM.fullmatch(group.machine_type):
            yield Finding(
                (*loc, "machineType"),
                group.machine_type,
                "is no machine type of Google Cloud",
                f"write one like {facts.MACHINE_TYPES[group.arch or config.architecture]}",
            )


def _etcd_disk(config: ClusterConfig) -> Iterator[Finding]:
    size = config.masters.etcd_disk_gb
    if size is not None and size < facts.SMALLEST_DISK_GB:
        yield Finding(
            ("masters", "etcdDiskGb"),
            size,
            "is smaller than Google Cloud's disks",
            f"write {facts.SMALLEST_DISK_GB} or more",
        )


def _labels(config: ClusterConfig) -> Iterator[Finding]:
    most = facts.LABELS - 1  # one is ours
    if len(config.tags) > most:
        yield Finding(
            ("tags",),
            len(config.tags),
            "is more labels than Google Cloud keeps on one thing",
            f"write at most {most}",
        )


def _existing(config: ClusterConfig) -> Iterator[Finding]:
    existing = config.network.existing
    if existing is None:
        return
    at: Loc = ("network", "existing")
    found = facts.NETWORK_FORM.fullmatch(existing)
    if found is None:
        yield Finding(
            at,
            existing,
            "is no network of Google Cloud",
            "write its name, or projects/PROJECT/global/networks/NAME",
        )
    elif found["project"] not in {None, config.account}:
        yield Finding(
            at,
            existing,
            "is another project's, where no subnet of ours can be made",
            "write a network of the project of account",
            (("account",),),
        )
