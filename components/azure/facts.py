"""What Azure is like, as data, each with where it comes from, and the little that follows from it.

Loads no SDK: the rules need it before there is a cloud to ask. "Docs" are Microsoft's at
learn.microsoft.com/azure, "names" their page "Naming rules and restrictions for Azure resources",
"SDK" the docstrings of pulumi-azure-native.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network, collapse_addresses

from components.subnets import Kept
from versions import Arch

# --- machines
# Docs, "Basv2" and "Bpsv2": two CPUs, 4 GiB, Premium SSD, a SCSI controller. The SDK's own list of
# sizes ends in 2018; the API takes any that the region has.
MACHINE_TYPES: Mapping[Arch, str] = {
    Arch.AMD64: "Standard_B2als_v2",
    Arch.ARM64: "Standard_B2pls_v2",
}
# The same series with 1 GiB: nothing runs on a bastion but sshd.
BASTION_TYPES: Mapping[Arch, str] = {
    Arch.AMD64: "Standard_B2ats_v2",
    Arch.ARM64: "Standard_B2pts_v2",
}
# Docs, "Azure virtual machine sizes naming conventions": family, CPUs, features, maybe an
# accelerator, version. Among the features `p` is an ARM processor, `s` Premium SSD; old families
# have the S in their name.
MACHINE_TYPE = re.compile(
    r"Standard_(?P<family>[A-Z]+)\d+(-\d+)?(?P<features>[a-z]*)(_[A-Za-z0-9]+?)*?(_v(?P<version>\d+))?"
)
# SDK, OSProfile.admin_username: what no administrator may be called.
REFUSED_USERS = frozenset(
    [
        "administrator",
        "admin",
        "user",
        "user1",
        "test",
        "user2",
        "test1",
        "user3",
        "admin1",
        "1",
        "123",
        "a",
        "actuser",
        "adm",
        "admin2",
        "aspnet",
        "backup",
        "console",
        "david",
        "guest",
        "john",
        "owner",
        "root",
        "server",
        "sql",
        "support",
        "support_388945a0",
        "sys",
        "test2",
        "test3",
        "user4",
        "user5",
    ]
)

# --- images
# PUBLISHER:OFFER:SKU[:VERSION], as Azure's command line writes them.
IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(:[A-Za-z0-9][A-Za-z0-9._-]*){2,3}")
# Docs, "Find Ubuntu images on Azure" (Canonical's): `server` is generation 2. The version is found
# when the machine is made, and stays.
IMAGES: Mapping[Arch, str] = {
    Arch.AMD64: "Canonical:ubuntu-24_04-lts:server",
    Arch.ARM64: "Canonical:ubuntu-24_04-lts:server-arm64",
}
NEWEST = "latest"
# Docs, "Trusted Launch": signed boot and a vTPM, with Canonical's images, but on no Ampere machine.
TRUSTED_LAUNCH = frozenset({IMAGES[Arch.AMD64]})

# --- disks; Docs, "Server-side encryption": all are encrypted, with keys of the platform's
ROOT_DISK_TYPE = "StandardSSD_LRS"
SMALLEST_ROOT_DISK_GB = 30  # Canonical's image: a root disk is at least as big
ETCD_DISK_TYPE = "Premium_LRS"  # etcd waits for each write to reach the disk
ENCRYPTION = "EncryptionAtRestWithPlatformKey"
ETCD_LUN = 0
# Docs, "Azure VM utilities": what a machine calls the disk, by what it is attached with.
NVME = "NVMe"
_DISK_PATHS: Mapping[str | None, str] = {
    None: "/dev/disk/azure/scsi1/lun{lun}",
    NVME: "/dev/disk/azure/data/by-lun/{lun}",
}
NVME_VERSION = 6  # Docs, "SCSI to NVMe": the version of sizes from which on there is no SCSI

# --- networks
# Docs, "Azure Virtual Network FAQ": sizes, the first four addresses and the last of each subnet,
# and the ranges that cannot be used.
LARGEST_NETWORK = 2
SMALLEST_SUBNET = 29
KEPT = Kept(first=4, last=1)
REFUSED: Mapping[str, IPv4Network] = {
    "its own DNS, DHCP and probes": IPv4Network("168.63.129.16/32"),
    "its metadata service": IPv4Network("169.254.0.0/16"),
    "each machine's loopback": IPv4Network("127.0.0.0/8"),
    "multicast": IPv4Network("224.0.0.0/4"),
    "broadcast": IPv4Network("255.255.255.255/32"),
}
MTU = 1500  # Docs, "TCP/IP performance tuning": of every machine that does not ask for more
NETWORK = re.compile(
    r"/?subscriptions/(?P<account>[^/]+)/resourceGroups/(?P<group>[^/]+)"
    r"/providers/Microsoft\.Network/virtualNetworks/(?P<name>[^/]+)",
    re.IGNORECASE,
)

# --- firewall: Docs, "Network security groups overview"
FIRST_PRIORITY, LAST_PRIORITY = 100, 4096
PROBES = "AzureLoadBalancer"  # the service tag of what asks whether a backend is well

# --- the API's load balancer; SDK, LoadBalancingRule and Probe
IDLE_MINUTES = 30  # the most: a watch may say nothing for long
PROBE_SECONDS = 5  # the least
PROBE_ANSWERS = 2  # in a row, either way
PROBE_PATH = "/readyz"

# --- places
ACCOUNT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
REGION = re.compile(r"[a-z]+[0-9]*")
ZONES = ("1", "2", "3")
# Docs, "Azure regions list", where "Availability zones" is "N/A". The SDK has no function that
# says it; new regions have zones.
WITHOUT_ZONES = frozenset(
    [
        "australiacentral",
        "australiacentral2",
        "australiasoutheast",
        "brazilsoutheast",
        "canadaeast",
        "francesouth",
        "germanynorth",
        "jioindiacentral",
        "jioindiawest",
        "koreasouth",
        "northcentralus",
        "norwaywest",
        "southafricawest",
        "southindia",
        "swedensouth",
        "switzerlandwest",
        "uaecentral",
        "ukwest",
        "westcentralus",
        "westindia",
        "westus",
    ]
)

# --- names and tags
GROUP_NAME, NETWORK_NAME, MACHINE_NAME, NAME = 90, 64, 64, 80  # names; NAME: all others
DESCRIPTION = 140  # Docs, "Network security groups": of a rule
# Docs, "Use tags to organize your Azure resources".
TAGS = 50
NOT_IN_TAGS = re.compile(r"[<>%&\\?/]")
RESERVED_TAGS = ("microsoft", "azure", "windows")


@dataclass(frozen=True, slots=True)
class Image:
    """An image of the marketplace, in the API's words."""

    publisher: str
    offer: str
    sku: str
    version: str = NEWEST


def image(text: str) -> Image:
    """The image that PUBLISHER:OFFER:SKU[:VERSION] names."""
    return Image(*text.split(":"))


def image_architecture(text: str) -> Arch | None:
    """The architecture that an image's name says, if it says one."""
    words = re.split(r"[:_.-]", text)
    return next((arch for arch in Arch if arch.value in words), None)


def architecture(machine_type: str) -> Arch | None:
    """What a size computes with, by its name; None: the name does not say."""
    found = MACHINE_TYPE.fullmatch(machine_type)
    if found is None:
        return None
    return Arch.ARM64 if "p" in found["features"] else Arch.AMD64


def takes_premium_disks(machine_type: str) -> bool:
    """Whether a size can have disks like etcd's, by its name."""
    found = MACHINE_TYPE.fullmatch(machine_type)
    return found is None or "s" in found["features"] or found["family"] in {"DS", "GS"}


def disk_controller(machine_type: str) -> str | None:
    """What a size must be told to attach its disks with; None: it has nothing but SCSI, or both."""
    found = MACHINE_TYPE.fullmatch(machine_type)
    return NVME if found and int(found["version"] or 1) >= NVME_VERSION else None


def etcd_disk(machine_type: str) -> str:
    """Where a machine of that size finds etcd's disk."""
    return _DISK_PATHS[disk_controller(machine_type)].format(lun=ETCD_LUN)


def zones(region: str | None) -> tuple[str, ...]:
    """The zones of a region; none if it has none."""
    return () if region in WITHOUT_ZONES else ZONES


def network_names(existing: str) -> tuple[str, str]:
    """The resource group and the name in a virtual network's id, whose form the rules have seen."""
    words = existing.strip("/").split("/")
    return words[3], words[7]


def apart(cidrs: Iterable[str]) -> list[str]:
    """The same addresses in ranges that do not overlap: a firewall rule with others is refused."""
    return [str(network) for network in collapse_addresses(map(IPv4Network, cidrs))]
