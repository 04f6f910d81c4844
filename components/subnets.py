"""Addresses in a subnet: which are the masters', and how many are left for everything else.

A master keeps its address for good: etcd's members know each other by theirs, so that a machine
that is made anew needs its predecessor's. Nodes take what the cloud gives. These are sums only; the
rules do them before there is anything, so no SDK is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network

from config import ClusterConfig, HostSpec
from model import MOST_MASTERS, Role


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """How many addresses a cloud keeps for itself, at each end of every subnet."""

    first: int
    last: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """What the subnets that hosts are in are like, all of one size."""

    prefix: int  # length
    kept: Kept
    zones: int  # over how many subnets each group of hosts is spread in turn
    others: int  # what may be in one of them, beside hosts


def one_subnet(config: ClusterConfig, kept: Kept) -> Layout:
    """All hosts share one subnet, whatever their zones; private ones with their bastion."""
    return Layout(
        prefix=IPv4Network(config.network.host_cidr).prefixlen,
        kept=kept,
        zones=1,
        others=int(config.access.private),
    )


def master_address(subnet: str, kept: Kept, index: int) -> str:
    """The address of a master: the last of its subnet, the one before that, and so on.

    From the end, since a cloud that gives addresses in their order begins at the other one. By the
    index among all masters, those of other zones included: so no two of them ever want the same
    address, and none needs another when there are more masters or zones.
    """
    return str(IPv4Network(subnet)[-1 - kept.last - index])


def fixed_address(spec: HostSpec, subnet: str, kept: Kept) -> str | None:
    """A host's address where it has one of its own; None: any that the cloud gives it."""
    return master_address(subnet, kept, spec.index) if spec.role is Role.MASTER else None


def addresses(layout: Layout) -> int:
    """How many of a subnet's addresses machines can have."""
    return (1 << (32 - layout.prefix)) - layout.kept.first - layout.kept.last


def for_masters(layout: Layout) -> int:
    """How many of those are the masters', however few there are now: there may be more one day."""
    return _share(MOST_MASTERS, layout.zones)


def for_nodes(config: ClusterConfig, layout: Layout) -> int:
    """How many of those everything else takes, in the fullest subnet."""
    return layout.others + sum(_share(pool.count, layout.zones) for pool in config.pools)


def _share(count: int, zones: int) -> int:
    """How many of a group are in its fullest zone."""
    return -(-count // zones)
