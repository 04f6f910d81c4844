"""What the simulated Google has to offer: regions, machine types, images, and a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.clouds.core.account import Inputs

ZONES: Mapping[str, tuple[str, ...]] = {
    region: tuple(f"{region}-{letter}" for letter in letters)
    for region, letters in {"europe-west4": "abc", "us-central1": "abcf", "us-east1": "bcd"}.items()
}
_ARM_ZONES = frozenset({"europe-west4-a", "europe-west4-b"}) | {
    f"us-central1-{letter}" for letter in "abf"
}


@dataclass(frozen=True, slots=True)
class MachineType:
    """A size of machines."""

    architecture: str  # as Google writes it
    disk_types: frozenset[str]
    zones: frozenset[str]


_PERSISTENT = frozenset({"pd-standard", "pd-balanced", "pd-ssd"})
_HYPERDISK = frozenset({"hyperdisk-balanced"})
DISK_TYPES: Mapping[str, int] = {  # and the smallest size of each, in GB
    **dict.fromkeys(_PERSISTENT, 10),
    **dict.fromkeys(_HYPERDISK, 4),
}
_EVERYWHERE = frozenset(zone for zones in ZONES.values() for zone in zones)
MACHINE_TYPES: Mapping[str, MachineType] = {
    **{
        name: MachineType("X86_64", _PERSISTENT, _EVERYWHERE)
        for name in ("e2-micro", "e2-small", "e2-medium", "e2-standard-2", "n2-standard-2")
    },
    "c4-standard-2": MachineType("X86_64", _HYPERDISK, _EVERYWHERE),
    "t2a-standard-1": MachineType("ARM64", _PERSISTENT, _ARM_ZONES),
    "t2a-standard-2": MachineType("ARM64", _PERSISTENT, _ARM_ZONES),
    "c4a-standard-2": MachineType("ARM64", _HYPERDISK, _EVERYWHERE),
}


@dataclass(frozen=True, slots=True)
class Image:
    """An image, in the public project that has it."""

    project: str
    family: str
    name: str
    architecture: str

    @property
    def id(self) -> str:
        """What a boot disk is made from, without the API's address."""
        return f"projects/{self.project}/global/images/{self.name}"


# Of each family the newest last.
IMAGES = (
    Image(
        "ubuntu-os-cloud", "ubuntu-2404-lts-amd64", "ubuntu-2404-noble-amd64-v20250101", "X86_64"
    ),
    Image(
        "ubuntu-os-cloud", "ubuntu-2404-lts-amd64", "ubuntu-2404-noble-amd64-v20260401", "X86_64"
    ),
    Image("ubuntu-os-cloud", "ubuntu-2404-lts-arm64", "ubuntu-2404-noble-arm64-v20250101", "ARM64"),
    Image("ubuntu-os-cloud", "ubuntu-2404-lts-arm64", "ubuntu-2404-noble-arm64-v20260401", "ARM64"),
)

# In every project, for clusters that are put into a network that is there already.
EXISTING = "existing"
EXISTING_NETWORK: Inputs = {"name": EXISTING, "autoCreateSubnetworks": False, "mtu": 1460}
EXISTING_REGION = "us-central1"
EXISTING_SUBNETWORK: Inputs = {"name": "others", "network": EXISTING, "ipCidrRange": "10.20.0.0/24"}
