"""Disks beside the root disk, and which machine has them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.clouds.aws import world
from tests.clouds.aws.shared import arn, digest, missing, numbered, others, row, unknown
from tests.clouds.aws.tokens import INSTANCE, VOLUME, VOLUME_ATTACHMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Request

_SIZES = {"gp3": range(1, 65537), "gp2": range(1, 16385)}  # GiB
_DEVICE = re.compile(r"/dev/sd[f-p]")


def _volume_check(inputs: Inputs) -> Iterator[str]:
    kind, size = inputs.get("type", "gp2"), inputs.get("size")
    if kind not in _SIZES:
        yield f"InvalidParameterValue: the simulation has no volumes of the type {kind}"
    elif size is not None and size not in _SIZES[kind]:
        yield f"InvalidParameterValue: Volume of {size}GiB is out of range for {kind}"


def _volume_rules(request: Request) -> Iterator[str]:
    inputs, old = request.inputs, request.old
    yield from missing(request, "size")
    if inputs["availabilityZone"] not in world.zones(request.settings["region"]):
        yield f"InvalidZone.NotFound: The zone '{inputs['availabilityZone']}' does not exist."
    if old and inputs.get("size", 0) < old["size"]:
        yield (
            f"InvalidParameterValue: New size cannot be smaller than existing size ({old['size']})"
        )


def _volume_blocks(account: Account, volume: Thing) -> str | None:
    for attachment in account.find(VOLUME_ATTACHMENT, "volumeId", volume.id):
        return (
            f"VolumeInUse: Volume {volume.id} is currently attached to {attachment['instanceId']}"
        )
    return None


def _attachment_check(inputs: Inputs) -> Iterator[str]:
    device = inputs.get("deviceName")
    if device is not None and not _DEVICE.fullmatch(device):
        yield f"InvalidParameterValue: Value ({device}) for parameter device is invalid."


def _attachment_rules(request: Request) -> Iterator[str]:
    inputs, account = request.inputs, request.account
    yield from unknown(request, "instanceId", INSTANCE, "InvalidInstanceID.NotFound", "instance ID")
    yield from unknown(request, "volumeId", VOLUME, "InvalidVolume.NotFound", "volume")
    instance, volume = account.get(inputs["instanceId"]), account.get(inputs["volumeId"])
    if instance and volume and instance["availabilityZone"] != volume["availabilityZone"]:
        yield (
            f"InvalidVolume.ZoneMismatch: The volume '{volume.id}' is not in the same availability "
            f"zone as instance '{instance.id}'"
        )
    if others(request, VOLUME_ATTACHMENT, volumeId=inputs["volumeId"]):
        yield f"VolumeInUse: {inputs['volumeId']} is already attached to an instance"
    place = {name: inputs[name] for name in ("instanceId", "deviceName")}
    if others(request, VOLUME_ATTACHMENT, **place):
        yield (
            f"InvalidParameterValue: Invalid value '{inputs['deviceName']}' for unixDevice. "
            f"Attachment point {inputs['deviceName']} is already in use"
        )


VOLUMES = (
    row(
        VOLUME,
        "availabilityZone encrypted size type tags",
        numbered("vol"),
        immutable="availabilityZone encrypted",
        check=_volume_check,
        rules=_volume_rules,
        computed=arn("ec2", "volume/{id}"),
        blocks=_volume_blocks,
    ),
    row(
        VOLUME_ATTACHMENT,
        "deviceName instanceId volumeId stopInstanceBeforeDetaching",
        lambda request: f"vai-{digest(request.account, 'vai')}",
        immutable="deviceName instanceId volumeId",
        check=_attachment_check,
        rules=_attachment_rules,
    ),
)
