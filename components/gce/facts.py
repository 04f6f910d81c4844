"""What Compute Engine is like, as data; each fact with where it is from.

SDK: the docstrings of pulumi-gcp 10.2.0. API: the reference of Google's REST API. Provider: the
sources that the provider is generated from (GoogleCloudPlatform/magic-modules).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from components.subnets import Kept
from config import HostSpec
from versions import Arch

# API: names are RFC 1035 labels, network tags too; so are the values of labels, more or less.
NAME_LIMIT = 63
NAME_FORM = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL_KEY_FORM = re.compile(r"[a-z][a-z0-9_-]{0,62}")
LABEL_VALUE_FORM = re.compile(r"[a-z0-9_-]{0,63}")
LABELS = 64  # on one resource

# Docs, "Creating and managing projects": an id, after its domain if the organisation has old ones.
PROJECT_FORM = re.compile(r"([a-z0-9.-]+:)?[a-z][-a-z0-9]{4,28}[a-z0-9]")
REGION_FORM = re.compile(r"[a-z]+-[a-z]+[0-9]+")
# SDK, Instance.machine_type: a name; sizes of one's own are SERIES-custom-CPUS-MEGABYTES.
MACHINE_TYPE_FORM = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)+")
IMAGE_FORM = re.compile(
    r"projects/(?P<project>[a-z0-9.:-]+)/global/images/"
    r"(?:family/(?P<family>[a-z][a-z0-9-]*)|(?P<name>[a-z][a-z0-9-]*))"
)
NETWORK_FORM = re.compile(
    r"((https://www\.googleapis\.com/compute/v1/)?projects/(?P<project>[^/]+)/global/networks/)?"
    rf"(?P<name>{NAME_FORM.pattern})"
)

MTU = 1460  # SDK, Network.mtu: the default

# Docs, "Subnets": at least /29 and at most /4; the first two and the last two addresses are taken.
SMALLEST_SUBNET = 29
LARGEST_SUBNET = 4
KEPT = Kept(first=2, last=2)
# SDK, Address.address_type. Docs, "Reserve a static internal IP address": no other machine gets it.
PRIVATE_ADDRESS = "INTERNAL"
# Docs, "Subnets", prohibited ranges.
PROHIBITED: Mapping[str, IPv4Network] = {
    "the network itself": IPv4Network("0.0.0.0/8"),
    "each machine's loopback": IPv4Network("127.0.0.0/8"),
    "its metadata server": IPv4Network("169.254.0.0/16"),
    "multicast": IPv4Network("224.0.0.0/4"),
    "Google's own APIs": IPv4Network("199.36.153.4/30"),
    "Google's restricted APIs": IPv4Network("199.36.153.8/30"),
}

# Docs, "Firewall rules for load balancers"; the four that Kubernetes' cloud controller opens
# (kubernetes/cloud-provider-gcp, gce_loadbalancer.go), since which of them ask depends on Google.
PROBES = ("35.191.0.0/16", "130.211.0.0/22", "209.85.152.0/22", "209.85.204.0/22")

# Docs, "Machine families". T2A is the ARM series that takes persistent disks, in few zones.
MACHINE_TYPES: Mapping[Arch, str] = {Arch.AMD64: "e2-medium", Arch.ARM64: "t2a-standard-2"}
BASTION_TYPE = "e2-micro"  # in every zone; nothing runs on it but sshd
BASTION_ARCH = Arch.AMD64
ARM_SERIES = re.compile(r"t2a|[cn]4a|a4x")
AMD_SERIES = re.compile(r"custom|[fg]1|e2|n[124]d?|t2d|c[234]d?|h[34]d?|z3|m[1-4]|x4|a[234]|g[24]")

# API, AttachedDiskInitializeParams.diskType: the fourth generation of machines and what came later
# takes Hyperdisk only.
DISK_TYPE = "pd-balanced"
HYPERDISK_TYPE = "hyperdisk-balanced"
HYPERDISK_GENERATION = 4
SMALLEST_DISK_GB = 10  # Docs, "Persistent Disk": of a balanced one
# SDK, InstanceAttachedDisk.device_name: what a disk is called below /dev/disk/by-id.
ETCD_DEVICE = "etcd"
ETCD_PATH = f"/dev/disk/by-id/google-{ETCD_DEVICE}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image by its name, or the newest of a family."""

    project: str
    family: str | None = None
    name: str | None = None


# Canonical's listing of 2026-04. There is no family `ubuntu-2404-lts`.
IMAGES: Mapping[Arch, Image] = {
    arch: Image(project="ubuntu-os-cloud", family=f"ubuntu-2404-lts-{arch}") for arch in Arch
}
# Where those start with Secure Boot. On ARM, Google's images for T2A did not
# (terraform-google-modules/terraform-google-bastion-host, issue 156).
SECURE_BOOT = frozenset({Arch.AMD64})

ZONES = 3  # over how many zones machines are spread when the config names none

METADATA_SERVER = "169.254.169.254"


def image(wanted: str | None, arch: Arch) -> Image:
    """The image that a config names in `IMAGE_FORM`, or that of the architecture."""
    found = IMAGE_FORM.fullmatch(wanted) if wanted else None
    return Image(**found.groupdict()) if found else IMAGES[arch]


def series(machine_type: str) -> str:
    """The series of a machine type: `n2` of `n2-standard-4`."""
    return machine_type.partition("-")[0]


def architecture(machine_type: str) -> Arch | None:
    """The architecture of a machine type; None where the series is not known here."""
    known = {Arch.ARM64: ARM_SERIES, Arch.AMD64: AMD_SERIES}
    found = series(machine_type)
    return next((arch for arch, form in known.items() if form.fullmatch(found)), None)


def image_architecture(image: str) -> Arch | None:
    """The architecture that an image's name says, if it says one."""
    words = re.split(r"[/-]", image)
    return next((arch for arch in Arch if arch.value in words), None)


def disk_type(machine_type: str) -> str:
    """The type of disk that a machine type takes."""
    generation = re.search(r"[0-9]+", series(machine_type))
    newest = generation is not None and int(generation[0]) >= HYPERDISK_GENERATION
    return HYPERDISK_TYPE if newest else DISK_TYPE


def machine_type(spec: HostSpec) -> str:
    """The type of a host's machine."""
    return spec.machine_type or MACHINE_TYPES[spec.arch]


def zone_of(spec: HostSpec, zones: tuple[str, ...]) -> str:
    """Where a host's machine is: the hosts of each group go through the zones in turn."""
    return zones[spec.index % len(zones)]
