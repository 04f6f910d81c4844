"""What there is in every simulated account before anything is made: zones, images, a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.clouds.aws.tokens import GATEWAY, VPC
from tests.clouds.core.account import Thing

if TYPE_CHECKING:
    from collections.abc import Mapping

ACCOUNT_ID = "123456789012"
CANONICAL = "099720109477"

# Regions and their zones, by letter: as many as in the real ones, of which these are a few.
REGIONS: Mapping[str, str] = {
    "us-east-1": "abcdef",
    "us-west-1": "ac",
    "eu-central-1": "abc",
    "ap-southeast-2": "abc",
}
# Somewhere else, and in the list unless one asks for what needs no opting in.
LOCAL_ZONES: Mapping[str, tuple[str, ...]] = {"us-east-1": ("us-east-1-bos-1a",)}
# Some types, by EC2's word for their architecture.
TYPES: Mapping[str, tuple[str, ...]] = {
    "x86_64": (
        "t2.medium",
        "t3.nano",
        "t3.medium",
        "t3.large",
        "m4.large",
        "m6i.large",
        "m7i-flex.large",
        "c6i.large",
    ),
    "arm64": ("t4g.nano", "t4g.medium", "t4g.large", "m7g.large", "c7g.large"),
}
# The oldest zone has only types of its own age.
OLD_ZONE, OLD_TYPES = "us-east-1e", ("t2.medium", "m4.large")


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """A machine image, and the user that its cloud-init gives the key to."""

    id: str
    name: str
    owner: str
    architecture: str
    created: str
    user: str = "ubuntu"
    deprecated: bool = False
    disk_gb: int = 8


_NOBLE = "ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-{0}-server-{1}"
IMAGES = (
    Image(
        id="ami-0a11ce0000000001a",
        name=_NOBLE.format("amd64", "20250305"),
        owner=CANONICAL,
        architecture="x86_64",
        created="2025-03-05T00:00:00.000Z",
    ),
    Image(
        id="ami-0a11ce0000000002b",
        name=_NOBLE.format("amd64", "20251015"),
        owner=CANONICAL,
        architecture="x86_64",
        created="2025-10-15T00:00:00.000Z",
    ),
    Image(
        id="ami-0a11ce0000000003c",
        name=_NOBLE.format("arm64", "20251015"),
        owner=CANONICAL,
        architecture="arm64",
        created="2025-10-15T00:00:00.000Z",
    ),
    # Somebody else's, under the name of the one above: whoever asks without an owner gets it.
    Image(
        id="ami-0bad000000000004d",
        name=_NOBLE.format("amd64", "20991231"),
        owner="666666666666",
        architecture="x86_64",
        created="2099-12-31T00:00:00.000Z",
    ),
    Image(
        id="ami-0a11ce0000000005e",
        name="debian-12-amd64-20230601",
        owner=ACCOUNT_ID,
        architecture="x86_64",
        created="2023-06-01T00:00:00.000Z",
        user="admin",
        deprecated=True,
    ),
)

EXISTING_VPC, EXISTING_GATEWAY = "vpc-existing", "igw-existing"
EXISTING_CIDR = "10.20.0.0/16"
# Made by somebody else, so that they can be referred to, and never change.
THINGS: Mapping[str, Thing] = {
    thing.id: thing
    for thing in (
        Thing(id=EXISTING_VPC, token=VPC, inputs={"cidrBlock": EXISTING_CIDR}),
        Thing(id=EXISTING_GATEWAY, token=GATEWAY, inputs={"vpcId": EXISTING_VPC}),
    )
}


def zones(region: str) -> tuple[str, ...]:
    """The availability zones of a region; none of one that the simulation does not have."""
    return tuple(f"{region}{letter}" for letter in REGIONS.get(region, ""))


def offered(machine_type: str, zone: str) -> bool:
    """Whether a zone has that type."""
    return zone != OLD_ZONE or machine_type in OLD_TYPES


def architecture(machine_type: str) -> str | None:
    """EC2's word for what a type computes with; None: there is no such type."""
    return next((arch for arch, types in TYPES.items() if machine_type in types), None)


def image(identity: str) -> Image | None:
    """The image of that id."""
    return next((item for item in IMAGES if item.id == identity), None)
