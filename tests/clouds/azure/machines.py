"""Virtual machines and managed disks."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from uuid import NAMESPACE_URL, uuid5

from tests.clouds.azure.ids import DISK, INTERFACE, MACHINE, find, identify, same, users
from tests.clouds.azure.offers import IMAGES, NOBODY, SIZES, Image, Size
from tests.clouds.azure.table import row
from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.core.kind import Request

DISK_FORM = re.compile(r"[A-Za-z0-9_-]{1,80}")  # SDK, Disk.disk_name
MACHINE_FORM = re.compile(r"[^_\W]([\w.-]{0,62}[\w-])?(?<![.-])")
CUSTOM_DATA = 65535  # bytes, without their base64
PREMIUM = "Premium_LRS"
_KEY = re.compile(r"ssh-(ed25519|rsa) \S+.*")
_CHANGE = "PropertyChangeNotAllowed"


def _disk_check(inputs: Inputs) -> Iterator[str]:
    if (inputs.get("creationData") or {}).get("createOption", "Empty") != "Empty":
        yield "creationData.createOption: the simulation has Empty disks only"
    encryption = (inputs.get("encryption") or {}).get("type", "EncryptionAtRestWithPlatformKey")
    if encryption != "EncryptionAtRestWithPlatformKey":
        yield "encryption.type: the simulation has no keys but the platform's"


def _disk_rules(request: Request) -> Iterator[str]:
    size = request.inputs.get("diskSizeGB")
    if not size:
        yield "InvalidParameter: Required parameter 'disk.diskSizeGB' is missing (null)."
    elif request.old and size < request.old["diskSizeGB"]:
        yield (
            f"OperationNotAllowed: Disk {request.inputs['diskName']} cannot be made smaller: from "
            f"{request.old['diskSizeGB']} GB to {size} GB."
        )


def _disk_blocks(account: Account, disk: Thing) -> str | None:
    found = users(account, disk.id, MACHINE)
    if not found:
        return None
    return f"OperationNotAllowed: Disk {disk['name']} is attached to VM {found[0].id}."


def _machine_check(inputs: Inputs) -> Iterator[str]:
    storage = inputs.get("storageProfile") or {"osDisk": {"deleteOption": "Delete"}}
    if storage["osDisk"].get("deleteOption") != "Delete":
        yield "osDisk.deleteOption: without Delete, the disk stays behind when the machine goes"
    for disk in storage.get("dataDisks") or ():
        if disk["createOption"] != "Attach" or disk.get("deleteOption") == "Delete":
            yield "dataDisks: the simulation attaches disks that outlive the machine"
    interfaces = (inputs.get("networkProfile") or {}).get("networkInterfaces") or ()
    if any(interface.get("deleteOption") == "Delete" for interface in interfaces):
        yield "networkInterfaces: with Delete, the next machine would not find its interface"
    user_data = (inputs.get("osProfile") or {}).get("customData")
    if user_data is not None and not _fits(user_data):
        yield (
            "InvalidParameter: Custom data in OSProfile must be in Base64 encoding and with a "
            "maximum length of 87380 characters."
        )


def _fits(user_data: str) -> bool:
    try:
        return len(base64.b64decode(user_data, validate=True)) <= CUSTOM_DATA
    except binascii.Error:
        return False


def image_of(reference: Inputs) -> Image | None:
    """The image that an image reference means."""
    words = (reference.get(name) for name in ("publisher", "offer", "sku"))
    names = {name.lower(): image for name, image in IMAGES.items()}
    found = names.get(":".join(str(word) for word in words).lower())
    known = found and reference.get("version") in {"latest", *found.versions}
    return found if known else None


def _machine_rules(request: Request) -> Iterator[str]:
    profile = request.inputs.get("storageProfile") or {}
    name = (request.inputs.get("hardwareProfile") or {}).get("vmSize")
    size, image = SIZES.get(name or ""), image_of(profile.get("imageReference") or {})
    if size is None:
        yield (
            f"InvalidParameter: The value {name} provided for the VM size is not valid. The valid "
            f"sizes in the current region are: {', '.join(SIZES)}"
        )
    if image is None:
        yield (
            f"PlatformImageNotFound: The platform image '{profile.get('imageReference')}' is not "
            "available. Verify that all fields in the storage profile are correct."
        )
    if size and image:
        yield from _fit_faults(request, f"{name}", size, image)
    yield from _login_faults(request.inputs.get("osProfile") or {})
    yield from _attachment_faults(request)
    spot = request.inputs.get("priority") == "Spot"
    if not spot and (request.inputs.get("evictionPolicy") or request.inputs.get("billingProfile")):
        yield (
            "InvalidParameter: Eviction policy and max price can be set only on Azure Spot Virtual "
            "Machines."
        )


def _fit_faults(request: Request, name: str, size: Size, image: Image) -> Iterator[str]:
    """Whether size, image and disks go together."""
    storage, security = (
        request.inputs.get(key) or {} for key in ("storageProfile", "securityProfile")
    )
    if size.architecture != image.architecture:
        yield (
            f"BadRequest: Cannot create a VM of size '{name}' because this VM size only supports a "
            f"CPU Architecture of '{size.architecture}', but an image or disk with CPU "
            f"Architecture '{image.architecture}' was given."
        )
    if storage.get("diskControllerType", size.controller) != size.controller:
        yield (
            f"InvalidParameter: The VM size '{name}' cannot boot with OS image or disk. Please "
            "check that disk controller types supported by the OS image or disk is one of the "
            f"supported disk controller types for the VM size '{name}'."
        )
    trusted = size.trusted_launch and image.generation > 1 and image.architecture == "x64"
    if security.get("securityType") == "TrustedLaunch" and not trusted:
        yield "BadRequest: Use of TrustedLaunch setting is not supported for the provided image."
    wanted = storage["osDisk"].get("diskSizeGB", image.disk_gb)
    if wanted < image.disk_gb:
        yield (
            f"OperationNotAllowed: The specified disk size {wanted} GB is smaller than the size of "
            f"the corresponding disk in the VM image: {image.disk_gb} GB."
        )
    disks = [find(request.account, DISK, identity) for identity in disk_ids(request.inputs)]
    for disk in (disk for disk in disks if disk and not size.premium):
        if disk["sku"]["name"] == PREMIUM:
            yield (
                "InvalidParameter: Requested operation cannot be performed because the VM size "
                f"{name} does not support the storage account type {PREMIUM} of disk "
                f"'{disk['name']}'."
            )


def _login_faults(profile: Inputs) -> Iterator[str]:
    linux, user = profile.get("linuxConfiguration") or {}, profile.get("adminUsername") or ""
    if not user or user in NOBODY:
        yield "InvalidParameter: The Admin Username specified is not allowed."
    if not linux.get("disablePasswordAuthentication"):
        yield "InvalidParameter: Required parameter 'adminPassword' is missing (null)."
    keys = (linux.get("ssh") or {}).get("publicKeys") or []
    if not keys:
        yield "InvalidParameter: Authentication using either SSH or a password must be enabled."
    for key in keys:
        path = f"/home/{user}/.ssh/authorized_keys"
        if key["path"] != path:
            yield (
                "InvalidParameter: Destination path for SSH public keys is currently limited to "
                f"its default value {path} due to a known issue in Linux provisioning agent."
            )
        if not _KEY.fullmatch(key["keyData"]):
            yield (
                "InvalidParameter: The value of parameter linuxConfiguration.ssh.publicKeys.keyData"
                " is invalid."
            )


def disk_ids(inputs: Inputs) -> list[str]:
    """The ids of the disks that are attached."""
    disks = (inputs.get("storageProfile") or {}).get("dataDisks") or ()
    return [disk["managedDisk"]["id"] for disk in disks]


def interface_ids(inputs: Inputs) -> list[str]:
    """The ids of the network interfaces."""
    interfaces = (inputs.get("networkProfile") or {}).get("networkInterfaces") or ()
    return [interface["id"] for interface in interfaces]


def _attachment_faults(request: Request) -> Iterator[str]:
    """Disks and interfaces that another machine has, and disks in another zone."""
    identity, account = identify(MACHINE)(request), request.account
    if len(interface_ids(request.inputs)) != 1:
        yield "networkProfile: the simulation has machines with exactly one interface"
    for interface in interface_ids(request.inputs):
        for other in _owners(account, interface, identity):
            yield f"NicInUse: {interface} is used by existing resource {other}."
    for disk_id in disk_ids(request.inputs):
        for other in _owners(account, disk_id, identity):
            yield (
                f"ConflictingUserInput: Disk '{disk_id}' cannot be attached as the disk is "
                f"already owned by VM '{other}'."
            )
        disk = find(account, DISK, disk_id)
        if disk and (disk["zones"] or []) != (request.inputs.get("zones") or []):
            yield (
                f"BadRequest: Disk {disk['name']} cannot be attached to the VM because it is in "
                f"zone {disk['zones']}, and the VM in {request.inputs.get('zones')}."
            )


def _owners(account: Account, part: str, identity: str) -> list[str]:
    """The ids of other machines that have this."""
    found = users(account, part, MACHINE)
    return [other.id for other in found if not same(other.id, identity)]


def _machine_computed(request: Request) -> Inputs:
    """What makes one machine another than the one that had its name before."""
    if request.old is not None:
        return {}
    number = request.account.next()
    return {"vmId": str(uuid5(NAMESPACE_URL, f"{identify(MACHINE)(request)} {number}"))}


MACHINES = (
    row(
        DISK,
        "resourceGroupName diskName location zones creationData.createOption diskSizeGB sku.name "
        "encryption.type tags",
        form=DISK_FORM,
        check=_disk_check,
        rules=_disk_rules,
        blocks=_disk_blocks,
        fixed={"zones": _CHANGE},
    ),
    row(
        MACHINE,
        "resourceGroupName vmName location zones hardwareProfile.vmSize priority evictionPolicy "
        "billingProfile.maxPrice osProfile.computerName osProfile.adminUsername "
        "osProfile.customData osProfile.linuxConfiguration.disablePasswordAuthentication "
        "osProfile.linuxConfiguration.ssh.publicKeys.path "
        "osProfile.linuxConfiguration.ssh.publicKeys.keyData "
        "storageProfile.imageReference.publisher storageProfile.imageReference.offer "
        "storageProfile.imageReference.sku storageProfile.imageReference.version "
        "storageProfile.osDisk.createOption storageProfile.osDisk.deleteOption "
        "storageProfile.osDisk.diskSizeGB storageProfile.osDisk.managedDisk.storageAccountType "
        "storageProfile.dataDisks.lun storageProfile.dataDisks.createOption "
        "storageProfile.dataDisks.managedDisk.id storageProfile.dataDisks.caching "
        "storageProfile.dataDisks.deleteOption storageProfile.diskControllerType "
        "networkProfile.networkInterfaces.id networkProfile.networkInterfaces.primary "
        "networkProfile.networkInterfaces.deleteOption "
        "securityProfile.securityType securityProfile.uefiSettings.secureBootEnabled "
        "securityProfile.uefiSettings.vTpmEnabled "
        "diagnosticsProfile.bootDiagnostics.enabled tags",
        form=MACHINE_FORM,
        references={
            "networkProfile.networkInterfaces.id": INTERFACE,
            "storageProfile.dataDisks.managedDisk.id": DISK,
        },
        check=_machine_check,
        rules=_machine_rules,
        computed=_machine_computed,
        # No entry of azure-native's says so, and the API refuses the update that it tries.
        fixed={
            **dict.fromkeys(
                ("osProfile", "storageProfile.imageReference", "zones", "priority"), _CHANGE
            ),
            **dict.fromkeys(("evictionPolicy", "securityProfile"), _CHANGE),
            "storageProfile.osDisk": "ResizeDiskError",
        },
        open_enums=frozenset({"hardwareProfile.vmSize"}),
    ),
)
