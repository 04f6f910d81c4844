"""Machines: instances and their keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.clouds.aws import world
from tests.clouds.aws.shared import arn, find, missing, numbered, row, unknown
from tests.clouds.aws.tokens import GROUP, INSTANCE, KEY_PAIR, SUBNET
from tests.clouds.aws.volumes import VOLUMES
from tests.clouds.aws.ways import address_faults, full, private_address
from tests.clouds.core.addresses import public

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.clouds.core.account import Account, Inputs
    from tests.clouds.core.kind import Request

USER_DATA = 16384  # bytes, before they are encoded
LOGIN_KEYS = (
    "simulatedLoginKeys"  # an output of ours: a machine keeps the key that it was made with
)
_KEY = re.compile(r"ssh-(ed25519|rsa) [A-Za-z0-9+/=_-]+( .*)?\s*")
_HOPS = range(1, 65)
# The members of the blocks that the simulation has a reason to see; any other has no effect here.
_MEMBERS: Mapping[str, frozenset[str]] = {
    "rootBlockDevice": frozenset({"volumeType", "volumeSize", "encrypted", "tags"}),
    "metadataOptions": frozenset({"httpTokens", "httpPutResponseHopLimit"}),
    "instanceMarketOptions": frozenset({"marketType", "spotOptions"}),
}
# What each may be: lists for people in the SDK's texts, not enums.
_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("rootBlockDevice", "volumeType"): ("standard", "gp2", "gp3", "io1", "io2", "sc1", "st1"),
    ("metadataOptions", "httpTokens"): ("optional", "required"),
    ("instanceMarketOptions", "marketType"): ("spot",),
    ("spotOptions", "spotInstanceType"): ("one-time", "persistent"),
    ("spotOptions", "instanceInterruptionBehavior"): ("hibernate", "stop", "terminate"),
}


def _key_check(inputs: Inputs) -> Iterator[str]:
    key = inputs.get("publicKey")
    if key is not None and not _KEY.fullmatch(key):
        yield "InvalidKey.Format: Key is not in valid OpenSSH public key format"


def _key_rules(request: Request) -> Iterator[str]:
    yield from missing(request, "keyName")
    name = request.inputs.get("keyName")
    if request.old is None and request.account.find(KEY_PAIR, "keyName", name):
        yield f"InvalidKeyPair.Duplicate: The keypair already exists: {name}"


def _instance_check(inputs: Inputs) -> Iterator[str]:
    blocks = {name: inputs[name] for name in _MEMBERS if isinstance(inputs.get(name), dict)}
    for name, block in blocks.items():
        for member in sorted(block.keys() - _MEMBERS[name]):
            yield f"the simulation does not act on {name}.{member}"
    blocks["spotOptions"] = blocks.get("instanceMarketOptions", {}).get("spotOptions") or {}
    yield from _choice_faults(blocks)
    yield from _value_faults(inputs, blocks)


def _choice_faults(blocks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for (name, member), choices in _CHOICES.items():
        value = blocks.get(name, {}).get(member)
        if value is not None and value not in choices:
            yield f"InvalidParameterValue: Invalid value '{value}' for {name}.{member}"


def _value_faults(inputs: Inputs, blocks: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    if len(inputs.get("userData", "").encode()) > USER_DATA:
        yield f"InvalidParameterValue: User data is limited to {USER_DATA} bytes"
    hops = blocks.get("metadataOptions", {}).get("httpPutResponseHopLimit", 1)
    if hops not in _HOPS:
        yield f"InvalidParameterValue: Invalid value '{hops}' for HttpPutResponseHopLimit"
    spot = blocks["spotOptions"]
    one_time = spot.get("spotInstanceType", "one-time") == "one-time"
    if one_time and spot.get("instanceInterruptionBehavior", "terminate") != "terminate":
        yield "InvalidParameterCombination: One-time spot instances can only be terminated"


def _instance_rules(request: Request) -> Iterator[str]:
    yield from missing(request, "ami", "instanceType", "subnetId", "vpcSecurityGroupIds")
    yield from unknown(request, "subnetId", SUBNET, "InvalidSubnetID.NotFound", "subnet ID")
    yield from unknown(request, "keyName", KEY_PAIR, "InvalidKeyPair.NotFound", "key pair")
    yield from _image_faults(request)
    yield from _group_faults(request)
    if request.old is None and request.account.get(request.inputs.get("subnetId", "")):
        yield from _place_faults(request.account, request.inputs)


def _place_faults(account: Account, inputs: Inputs) -> Iterator[str]:
    """There is an address for it in the subnet: the one that it asks for, or any."""
    if inputs.get("privateIp"):
        yield from address_faults(account, inputs["subnetId"], inputs["privateIp"])
    else:
        yield from full(account, inputs["subnetId"])


def _image_faults(request: Request) -> Iterator[str]:
    inputs = request.inputs
    image, kind = world.image(inputs.get("ami", "")), inputs.get("instanceType", "")
    architecture = world.architecture(kind)
    if image is None:
        yield f"InvalidAMIID.NotFound: The image id '[{inputs.get('ami')}]' does not exist"
        return
    if architecture is None:
        yield f"InvalidParameterValue: Invalid value '{kind}' for InstanceType."
        return
    if architecture != image.architecture:
        yield (
            f"InvalidParameterValue: The architecture '{architecture}' of the specified instance "
            f"type does not match the architecture '{image.architecture}' of the specified AMI. "
            "Specify an instance type and an AMI that have matching architectures, and try again."
        )
    size = (inputs.get("rootBlockDevice") or {}).get("volumeSize", image.disk_gb)
    if size < image.disk_gb:
        yield (
            f"InvalidBlockDeviceMapping: Volume of size {size}GB is smaller than snapshot of "
            f"'{image.id}', expect size >= {image.disk_gb}GB"
        )
    subnet = request.account.get(inputs.get("subnetId", ""))
    if subnet and not world.offered(kind, subnet["availabilityZone"]):
        yield (
            f"Unsupported: Your requested instance type ({kind}) is not supported in your "
            f"requested Availability Zone ({subnet['availabilityZone']})."
        )


def _group_faults(request: Request) -> Iterator[str]:
    subnet = request.account.get(request.inputs.get("subnetId", ""))
    for identity in request.inputs.get("vpcSecurityGroupIds") or ():
        group = find(request.account, GROUP, identity)
        if group is None:
            yield f"InvalidGroup.NotFound: The security group '{identity}' does not exist"
        elif subnet and group["vpcId"] != subnet["vpcId"]:
            yield (
                f"InvalidParameter: Security group {identity} and subnet {subnet.id} belong to "
                "different networks."
            )


def _public_address(account: Account, subnet_id: str) -> str:
    """As the provider has it: empty where there is none."""
    return public("aws", account) if account.things[subnet_id]["mapPublicIpOnLaunch"] else ""


def _instance_computed(request: Request) -> Inputs:
    account, subnet_id = request.account, request.inputs["subnetId"]
    keys = account.find(KEY_PAIR, "keyName", request.inputs.get("keyName"))
    return {
        **arn("ec2", "instance/{id}")(request),
        LOGIN_KEYS: [key["publicKey"] for key in keys],
        "availabilityZone": account.things[subnet_id]["availabilityZone"],
        "instanceState": "running",
        "privateIp": request.inputs.get("privateIp") or private_address(account, subnet_id),
        "publicIp": _public_address(account, subnet_id),
    }


def _instance_updated(request: Request) -> Inputs:
    """Another type or other user data stop and start a machine, which has another address then."""
    old = request.old
    stops = old and any(
        old[name] != request.inputs.get(name) for name in ("instanceType", "userData")
    )
    if not stops:
        return {}
    return {"publicIp": _public_address(request.account, request.inputs["subnetId"])}


MACHINES = (
    row(
        KEY_PAIR,
        "keyName publicKey tags",
        lambda request: str(request.inputs.get("keyName")),
        immutable="keyName publicKey",
        check=_key_check,
        rules=_key_rules,
        computed=arn("ec2", "key-pair/{id}"),
    ),
    row(
        INSTANCE,
        "ami instanceType subnetId privateIp vpcSecurityGroupIds keyName rootBlockDevice "
        "metadataOptions instanceMarketOptions userData tags",
        numbered("i"),
        immutable="ami subnetId privateIp keyName instanceMarketOptions rootBlockDevice.encrypted",
        check=_instance_check,
        rules=_instance_rules,
        computed=_instance_computed,
        updated=_instance_updated,
    ),
    *VOLUMES,
)
