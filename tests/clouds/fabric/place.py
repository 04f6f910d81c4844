"""Where on this computer a simulated cloud is: its names, its addresses, its folder."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.clouds.fabric.model import Network


def key(text: str) -> str:
    """A short name for an id, which may be longer than Docker's and nftables' names."""
    return sha256(text.encode()).hexdigest()[:10]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """One simulated cloud's place. Clouds that are there at once need different ranges."""

    cloud: str  # "aws": Docker's objects are `simulated-aws-...`, machines have their own names
    internet: str  # CIDR of the bridge that stands for the internet: "198.18.16.0/20"
    mirror_directory: str | None  # what is served at port 5000 of the internet's second address
    folder: Path  # for disks, and for what is remembered

    @property
    def prefix(self) -> str:
        """What the names of all Docker objects but machines begin with; also their label."""
        return f"simulated-{self.cloud}"

    @property
    def bridge(self) -> str:
        """The Docker network that stands for the internet."""
        return f"{self.prefix}-internet"

    @property
    def router(self) -> str:
        """The router's container."""
        return f"{self.prefix}-router"

    @property
    def mirror(self) -> str:
        """The mirror's container."""
        return f"{self.prefix}-mirror"

    def network(self, identity: str) -> str:
        """The Docker network of a cloud's network."""
        return f"{self.prefix}-{key(identity)}"

    @property
    def computer_address(self) -> IPv4Address:
        """This computer, as the internet sees it."""
        return IPv4Network(self.internet)[1]

    @property
    def mirror_address(self) -> IPv4Address:
        """The mirror."""
        return IPv4Network(self.internet)[2]

    @property
    def router_address(self) -> IPv4Address:
        """The router's own; the public addresses are on it, too."""
        return IPv4Network(self.internet)[3]


def gateway(network: Network) -> IPv4Address:
    """The router's address in a cloud's network."""
    return IPv4Network(network.cidr)[network.kept[0]]


def unused(network: Network) -> IPv4Address:
    """The address that Docker keeps for its bridge, which gets none."""
    return IPv4Network(network.cidr)[network.kept[1]]
