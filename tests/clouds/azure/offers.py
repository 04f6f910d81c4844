"""What the simulated Azure has to offer: regions, sizes, images, and somebody's network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.clouds.core.account import Inputs

# Regions and their zones: as many as in the real ones, of which these are a few.
REGIONS: Mapping[str, tuple[str, ...]] = {
    "eastus": ("1", "2", "3"),
    "westeurope": ("1", "2", "3"),
    "westus": (),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """A size of virtual machines, in Azure's own words."""

    architecture: str = "x64"
    premium: bool = True
    controller: str = "SCSI"
    trusted_launch: bool = True


SIZES: Mapping[str, Size] = {
    "Standard_B2ats_v2": Size(),
    "Standard_B2als_v2": Size(),
    "Standard_D2s_v5": Size(),
    "Standard_D2_v5": Size(premium=False),
    "Standard_D2s_v6": Size(controller="NVMe"),
    "Standard_B2pts_v2": Size(architecture="Arm64", trusted_launch=False),
    "Standard_B2pls_v2": Size(architecture="Arm64", trusted_launch=False),
    "Standard_D2ps_v5": Size(architecture="Arm64", trusted_launch=False),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Image:
    """An image of the marketplace."""

    architecture: str = "x64"
    generation: int = 2
    disk_gb: int = 30
    versions: tuple[str, ...]


IMAGES: Mapping[str, Image] = {  # by publisher:offer:sku
    "Canonical:ubuntu-24_04-lts:server": Image(versions=("24.04.202501010", "24.04.202604010")),
    "Canonical:ubuntu-24_04-lts:server-gen1": Image(generation=1, versions=("24.04.202604010",)),
    "Canonical:ubuntu-24_04-lts:server-arm64": Image(
        architecture="Arm64", versions=("24.04.202604010",)
    ),
    "Debian:debian-13:13-gen2": Image(versions=("0.20260914.2601",)),
}

# What no administrator may be called: the SDK's documentation of OSProfile.admin_username.
NOBODY = frozenset(
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

# A virtual network that somebody else has made, in every account, for clusters that are put into
# one: /subscriptions/ANY/resourceGroups/shared/providers/Microsoft.Network/virtualNetworks/existing
EXISTING_GROUP, EXISTING = "shared", "existing"
EXISTING_LOCATION, EXISTING_CIDR = "eastus", "10.60.0.0/16"
EXISTING_NETWORK: Inputs = {
    "resourceGroupName": EXISTING_GROUP,
    "virtualNetworkName": EXISTING,
    "location": EXISTING_LOCATION,
    "addressSpace": {"addressPrefixes": ["10.50.0.0/24", EXISTING_CIDR]},
}


def zones(region: str) -> tuple[str, ...]:
    """The zones of a region."""
    return REGIONS.get(region, ())
