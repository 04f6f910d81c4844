"""Disks and instances, as the simulated Google has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

from tests.clouds.core.addresses import public
from tests.clouds.core.kind import CloudError
from tests.clouds.gcp import links
from tests.clouds.gcp.balancing import zone_faults
from tests.clouds.gcp.links import find, in_use, path_of, users
from tests.clouds.gcp.networks import (
    RESERVED_FIRST,
    RESERVED_LAST,
    in_use_elsewhere,
    range_faults,
    reserved,
    taken_by_another,
)
from tests.clouds.gcp.offers import DISK_TYPES, IMAGES, MACHINE_TYPES, MachineType
from tests.clouds.gcp.table import invalid, label_faults, missing, name_faults, not_found, row

if TYPE_CHECKING:
    from tests.clouds.core.account import Inputs, Thing
    from tests.clouds.core.kind import Request

MOST_TAGS = 64
MOST_METADATA, MOST_METADATA_IN_ALL = 256 * 1024, 512 * 1024
RUNNING, TERMINATED = "RUNNING", "TERMINATED"
# What Google fills in.
SCHEDULING: Mapping[str, Any] = {
    "automaticRestart": True,
    "preemptible": False,
    "provisioningModel": "STANDARD",
}
_METADATA_KEY = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_SSH_KEY = re.compile(r"[a-z_][a-z0-9_-]*:(ssh-ed25519|ssh-rsa|ecdsa-sha2-\S+) \S+.*")


# --- disks


def _disk_rules(request: Request) -> Iterator[str]:
    inputs, old = request.inputs, request.old
    yield from zone_faults(request)
    if inputs["type"] not in DISK_TYPES:
        yield not_found(f"{inputs['zone']}/diskTypes/{inputs['type']}")
    elif inputs["size"] < DISK_TYPES[inputs["type"]]:
        words = f"A {inputs['type']} disk has at least {DISK_TYPES[inputs['type']]} GB"
        yield invalid("sizeGb", inputs["size"], words)
    if old and inputs["size"] < old["size"]:
        yield invalid("sizeGb", inputs["size"], "A disk can only grow where it is")


DISK = row(
    links.DISK,
    "pulumi_gcp.compute.Disk",
    "name zone type size labels.*",
    needs="zone size",
    immutable="name zone type",
    defaults={"type": "pd-standard"},
    rules=_disk_rules,
    computed=lambda request: {"diskId": str(request.account.next()), "users": []},
    blocks=lambda account, thing: in_use(account, thing, (links.INSTANCE, "attachedDisks.source")),
)


# --- instances


def _instance_check(inputs: Inputs) -> Iterator[str]:
    tags = inputs.get("tags") or []
    if len(tags) > MOST_TAGS:
        yield invalid("tags.items", len(tags), f"At most {MOST_TAGS}")
    for tag in tags:
        yield from name_faults("tags.items[0]", tag)
    parameters = (inputs.get("bootDisk") or {}).get("initializeParams") or {}
    yield from label_faults("disks[0].initializeParams.labels", parameters.get("labels"))
    yield from _metadata_faults(inputs.get("metadata") or {})


def _metadata_faults(metadata: Mapping[str, str]) -> Iterator[str]:
    for key, value in metadata.items():
        if not _METADATA_KEY.fullmatch(key):
            yield invalid("metadata.items[0].key", key, "Must be a metadata key")
        if len(value.encode()) > MOST_METADATA:
            yield invalid("metadata.items[0].value", key, f"Has more than {MOST_METADATA} bytes")
    if sum(len(key + value) for key, value in metadata.items()) > MOST_METADATA_IN_ALL:
        yield invalid("metadata", "", f"Has more than {MOST_METADATA_IN_ALL} bytes in all")
    for line in metadata.get("ssh-keys", "").splitlines():
        # The real guest agent leaves such a line out, and nobody can log in.
        if not _SSH_KEY.fullmatch(line):
            yield invalid("metadata.items.ssh-keys", line[:20], "Must be USER:TYPE KEY")


def _instance_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    faults = list(zone_faults(request))
    kind = MACHINE_TYPES.get(inputs["machineType"])
    if kind is None or inputs["zone"] not in kind.zones:
        words = f"Machine type with name '{inputs['machineType']}' does not exist in zone"
        faults.append(invalid("machineType", inputs["machineType"], words))
    yield from faults
    if kind is None or faults:
        return
    yield from _boot_disk_faults(inputs["bootDisk"], kind)
    yield from _attached_faults(request, kind)
    yield from _interface_faults(request)
    yield from _scheduling_faults(inputs["scheduling"])
    yield from _restart_faults(request)


def _boot_disk_faults(boot_disk: Mapping[str, Any], kind: MachineType) -> Iterator[str]:
    parameters = boot_disk.get("initializeParams") or {}
    link = str(parameters.get("image"))
    image = next((image for image in IMAGES if image.id == path_of(link)), None)
    if image is None:
        yield not_found(path_of(link))
    elif image.architecture != kind.architecture:
        yield (
            f"Error 400: Requested boot disk architecture ({image.architecture}) is not compatible "
            f"with machine type architecture ({kind.architecture})., invalid"
        )
    yield from _disk_type_faults(parameters.get("type") or "pd-standard", kind)


def _disk_type_faults(disk_type: str, kind: MachineType) -> Iterator[str]:
    if disk_type not in kind.disk_types:
        words = f"[{disk_type}] features are not compatible for creating instance"
        yield f"Error 400: {words}., badRequest"


def _attached_faults(request: Request, kind: MachineType) -> Iterator[str]:
    for attached in request.inputs.get("attachedDisks") or ():
        disk = find(request, links.DISK, attached["source"])
        if disk is None:
            yield missing(request, links.DISK, attached["source"])
            continue
        yield from _disk_type_faults(disk["type"], kind)
        if disk["zone"] != request.inputs["zone"]:
            yield invalid("disks[1].source", disk.id, "Is in another zone")
        using = users(request.account, disk, (links.INSTANCE, "attachedDisks.source"))
        if any(user.id != request.id for user in using):
            yield (
                f"Error 400: The disk resource '{disk.id}' is already being used, "
                "resourceInUseByAnotherResource"
            )


def _interface_faults(request: Request) -> Iterator[str]:
    interfaces = request.inputs["networkInterfaces"]
    if len(interfaces) != 1:
        yield "the simulation acts on instances with one network interface only"
        return
    link = interfaces[0].get("subnetwork")
    subnet = find(request, links.SUBNETWORK, link)
    if subnet is None:
        yield missing(request, links.SUBNETWORK, link)
    elif interfaces[0].get("networkIp"):
        yield from _private_faults(request, subnet, interfaces[0]["networkIp"])
    for config in interfaces[0].get("accessConfigs") or ():
        if config.get("natIp"):
            yield from _public_faults(request, config["natIp"])


def _private_faults(request: Request, subnet: Thing, wanted: str) -> Iterator[str]:
    """That it is reserved is nothing against it."""
    yield from range_faults("networkInterfaces[0].networkIP", subnet, wanted)
    if wanted in _taken(request, subnet):
        yield in_use_elsewhere(wanted)


def _public_faults(request: Request, wanted: str) -> Iterator[str]:
    found = request.account.find(links.ADDRESS, "address", wanted)
    if not found:
        yield invalid("networkInterfaces[0].accessConfigs[0].natIP", wanted, "Is not reserved")
    elif taken_by_another(request, found[0]):
        yield f"Error 400: External IP address: {wanted} is already in-use., invalid"


def _scheduling_faults(scheduling: Mapping[str, Any]) -> Iterator[str]:
    spot = scheduling.get("provisioningModel") == "SPOT"
    if spot != bool(scheduling.get("preemptible")):
        yield invalid("scheduling.preemptible", not spot, "SPOT machines, and only they, are so")
    if spot and scheduling.get("automaticRestart", True):
        yield invalid(
            "scheduling.automaticRestart", "true", "Must be false when preemptible is true"
        )
    if not spot and scheduling.get("instanceTerminationAction"):
        action = scheduling["instanceTerminationAction"]
        yield invalid("scheduling.instanceTerminationAction", action, "Is for SPOT machines")


def _restart_faults(request: Request) -> Iterator[str]:
    """The provider stops a machine for a new type if it may."""
    old, inputs = request.old, request.inputs
    if old is None or inputs.get("allowStoppingForUpdate"):
        return
    stopping = ("machineType", "shieldedInstanceConfig")
    if any(old.inputs.get(key) != inputs.get(key) for key in stopping):
        yield (
            "Changing the machine_type or shielded_instance_config on a started instance requires "
            "stopping it. To acknowledge this, please set allow_stopping_for_update = true"
        )


def _taken(request: Request, subnet: Thing) -> set[str]:
    """The addresses of a subnet that other machines have."""
    using = users(request.account, subnet, (links.INSTANCE, "networkInterfaces.subnetwork"))
    others = (instance for instance in using if instance.id != request.id)
    return {instance["networkInterfaces"][0]["networkIp"] for instance in others}


def _private_address(request: Request, subnetwork: str) -> str:
    """The next address of the subnet that nobody has, and nobody has reserved."""
    subnet = find(request, links.SUBNETWORK, subnetwork)
    assert subnet is not None, "the rules have looked for it"
    range_ = IPv4Network(subnet["ipCidrRange"])
    taken = _taken(request, subnet)
    taken |= {address["address"] for address in reserved(request, subnet)}
    for number in range(RESERVED_FIRST, range_.num_addresses - RESERVED_LAST):
        if str(range_[number]) not in taken:
            return str(range_[number])
    raise CloudError(f"Error 400: IP space of '{subnet.id}' is exhausted., IP_SPACE_EXHAUSTED")


def _interfaces(request: Request) -> Inputs:
    """The interface with its addresses, which stay when the machine is changed."""
    (asked,) = request.inputs["networkInterfaces"]
    old = request.old["networkInterfaces"][0] if request.old else {}
    known = asked.get("networkIp") or old.get("networkIp")
    private = known or _private_address(request, asked["subnetwork"])
    configs = [
        {"networkTier": "PREMIUM", **config, "natIp": _nat_ip(request, config, old)}
        for config in asked.get("accessConfigs") or ()
    ]
    return {
        "networkInterfaces": [
            {"name": "nic0", **asked, "networkIp": private, "accessConfigs": configs}
        ]
    }


def _nat_ip(request: Request, config: Mapping[str, Any], old: Mapping[str, Any]) -> str:
    """The address that was asked for, or an ephemeral one."""
    before = [one["natIp"] for one in old.get("accessConfigs") or ()]
    return config.get("natIp") or next(iter(before), None) or public("gcp", request.account)


def _instance_outputs(request: Request) -> Inputs:
    return {
        "instanceId": str(4_000_000_000_000_000_000 + request.account.next()),
        "currentStatus": RUNNING,
        "cpuPlatform": "Simulated",
    }


INSTANCE = row(
    links.INSTANCE,
    "pulumi_gcp.compute.Instance",
    "name zone machineType tags labels.* allowStoppingForUpdate "
    "bootDisk.initializeParams.image bootDisk.initializeParams.type "
    "bootDisk.initializeParams.size bootDisk.initializeParams.labels.* "
    "attachedDisks.source attachedDisks.deviceName "
    "networkInterfaces.subnetwork networkInterfaces.networkIp "
    "networkInterfaces.accessConfigs.natIp "
    "metadata.ssh-keys metadata.enable-oslogin metadata.block-project-ssh-keys metadata.user-data "
    "scheduling.provisioningModel scheduling.preemptible scheduling.automaticRestart "
    "scheduling.instanceTerminationAction shieldedInstanceConfig.enableSecureBoot "
    "shieldedInstanceConfig.enableVtpm shieldedInstanceConfig.enableIntegrityMonitoring",
    needs="zone",
    immutable="name zone bootDisk.initializeParams networkInterfaces.networkIp "
    "scheduling.preemptible scheduling.provisioningModel",
    defaults={"scheduling": SCHEDULING},
    check=_instance_check,
    rules=_instance_rules,
    computed=_instance_outputs,
    updated=_interfaces,
)
