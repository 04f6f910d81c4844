"""What AWS is like, as data, each with where it comes from, and the sums that follow from it.

Loads no SDK: the rules need it before there is a cloud to ask. "EC2" and "VPC" are Amazon's user
guides, "ELB" is the guide to Network Load Balancers, "SDK" the enums and texts of pulumi-aws.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Network

from components import naming
from components.subnets import Kept
from config import ClusterConfig, HostSpec
from versions import Arch

# --- machines: all are built on Nitro, so that each disk has a name of its own (`etcd_disk`)
# Two CPUs; 4 GiB are what a small control plane needs, 0.5 GiB what sshd needs. SDK, InstanceType.
MACHINE_TYPES: Mapping[Arch, str] = {Arch.AMD64: "t3.medium", Arch.ARM64: "t4g.medium"}
BASTION_TYPES: Mapping[Arch, str] = {Arch.AMD64: "t3.nano", Arch.ARM64: "t4g.nano"}
# EC2, "Instance type naming conventions": series, generation, options, then the size.
MACHINE_TYPE = re.compile(r"[a-z][a-z0-9-]*\.[a-z0-9-]+")
_FAMILY = re.compile(
    r"(?P<series>[a-z]+)(?P<generation>\d+)(?P<options>[a-z]*)(?P<more>-[a-z0-9]+)*"
)
# EC2, "Xen-based instances", and older ones: disks there have no names of their own.
XEN = frozenset(
    [
        "c1",
        "c3",
        "c4",
        "cc1",
        "cc2",
        "cg1",
        "cr1",
        "d2",
        "f1",
        "g2",
        "g3",
        "g3s",
        "h1",
        "hi1",
        "hs1",
        "i2",
        "i3",
        "m1",
        "m2",
        "m3",
        "m4",
        "p2",
        "p3",
        "r3",
        "r4",
        "t1",
        "t2",
        "x1",
        "x1e",
    ]
)

# --- images
# Canonical's account and names: documentation.ubuntu.com/aws, "Find Ubuntu images on AWS".
UBUNTU_OWNER = "099720109477"
UBUNTU_NAME = "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-{arch}-server-*"
UBUNTU_USER = "ubuntu"  # whom its cloud-init makes, and gives the instance's key to
IMAGE_ARCHITECTURES: Mapping[Arch, str] = {Arch.AMD64: "x86_64", Arch.ARM64: "arm64"}  # EC2's words
IMAGE = re.compile(r"ami-([0-9a-f]{8}|[0-9a-f]{17})")

# --- disks
DISK_TYPE = "gp3"  # EC2, "General Purpose SSD volumes": 3000 operations a second at any size
ETCD_DEVICE = "/dev/sdf"  # EC2, "Device names for volumes": the first for a disk beside the root

# --- networks
# VPC, "Subnet CIDR blocks": the sizes, and the first four addresses and the last of each subnet.
LARGEST_NETWORK = 16
SMALLEST_SUBNET = 28
KEPT = Kept(first=4, last=1)
# VPC, "Subnet CIDR reservations": such an address is had by asking for it, and in no other way.
RESERVATION = "explicit"
# VPC, "VPC CIDR blocks": restricted, since services of Amazon's are at home there.
REFUSED: Mapping[str, IPv4Network] = {"services of its own": IPv4Network("198.19.0.0/16")}
MTU = 9001  # EC2, "Network MTU": within a VPC; what leaves it is cut down by path MTU discovery
ANYWHERE = "0.0.0.0/0"
ZONES = 3  # of a region, where the config names none
EXPECTED_ZONES = 4  # that there is room for from the start
# Of the load balancer, the NAT gateway and the bastion, in the subnet of one zone.
NOT_FOR_HOSTS = 3

# --- firewall
RULES_PER_GROUP = 60  # VPC, "Amazon VPC quotas": each way, unless Amazon has raised it
# EC2's API reference, AuthorizeSecurityGroupIngress: what a description may have.
NOT_IN_DESCRIPTIONS = re.compile(r"[^a-zA-Z0-9. _:/()#,@\[\]+=&;{}!$*-]")

# --- the API's load balancer
LOAD_BALANCER_NAME = 32  # ELB's API reference, CreateLoadBalancer and CreateTargetGroup
GROUP_NAME = 255  # EC2's API reference, CreateSecurityGroup
# ELB and EC2, the same pages: how no load balancer's and no group's name may begin.
REFUSED_BEGINNINGS = ("internal-", "sg-")
IDLE_SECONDS = 6000  # ELB, "Connection idle timeout": the most; a watch may say nothing for long

# --- names and tags
ACCOUNT = re.compile(r"[0-9]{12}")
REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-[0-9]{1,2}")  # SDK, Region
VPC = re.compile(r"vpc-[0-9a-z]+")
NAME_TAG = "Name"  # what the console shows
RESERVED_TAGS = "aws:"  # EC2, "Tag your Amazon EC2 resources", as is the number
TAGS = 50


def architecture(machine_type: str) -> Arch | None:
    """What a machine type computes with, by its name; None: the name does not say."""
    family = _FAMILY.fullmatch(machine_type.partition(".")[0])
    if family is None:
        return None
    graviton = "g" in family["options"] or family[0] == "a1" or "-gb" in family[0]
    return Arch.ARM64 if graviton else Arch.AMD64


def etcd_disk(volume: str) -> str:
    """Where a machine finds the disk (`vol-0123...`). EC2, "NVMe volumes": it is its serial."""
    return f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{volume.replace('-', '')}"


@dataclass(frozen=True, slots=True)
class Subnets:
    """The ranges of a network's subnets, by zone."""

    public: tuple[str, ...]
    private: tuple[str, ...]


def subnet_prefix(host_cidr: str, zones: int) -> int:
    """The prefix length of each subnet: two for every zone, and for as many as may come."""
    bits = (max(zones, EXPECTED_ZONES) - 1).bit_length()
    return IPv4Network(host_cidr).prefixlen + bits + 1


def cut(host_cidr: str, zones: int) -> Subnets:
    """Two equal pieces of the hosts' range for each zone.

    No subnet moves when a zone is added or hosts become private: what others still are in could
    not go. Raises ValueError if the range has not so many addresses; the rules have seen to it.
    """
    prefix = subnet_prefix(host_cidr, zones)
    pieces = [str(piece) for piece in IPv4Network(host_cidr).subnets(new_prefix=prefix)]
    return Subnets(public=tuple(pieces[: 2 * zones : 2]), private=tuple(pieces[1 : 2 * zones : 2]))


def machine_type(spec: HostSpec) -> str:
    """The type that the config says, or a small one."""
    return spec.machine_type or MACHINE_TYPES[spec.arch]


def masters_arch(config: ClusterConfig) -> Arch:
    """The masters' architecture, which is the bastion's, too."""
    return config.masters.arch or config.architecture


def zone_of(spec: HostSpec, zones: tuple[str, ...]) -> str:
    """The zone of a host: a group's hosts take the zones in turn."""
    return zone_at(spec.index, zones)


def zone_at(index: int, zones: tuple[str, ...]) -> str:
    """The zone of the host with that index in its group, if there is one."""
    return zones[index % len(zones)]


def tags(config: ClusterConfig, name: str) -> dict[str, str]:
    """The tags of a thing, its name among them."""
    return {**naming.tags(config), NAME_TAG: name}
