"""Checks of the address ranges: whether they are big enough, and whether any two collide."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network
from itertools import combinations
from typing import TYPE_CHECKING

from config import GIVEN_API_HOST, GIVEN_HOSTS
from findings import Finding, Loc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from config import ClusterConfig

POD_CIDR: Loc = ("network", "podCidr")
SERVICE_CIDR: Loc = ("network", "serviceCidr")
HOST_CIDR: Loc = ("network", "hostCidr")
NODE_PREFIX: Loc = ("network", "nodePrefix")
HOST_COUNT: tuple[Loc, ...] = (("pools",), ("masters", "count"))

# Ranges that something else on a host uses whatever the config says.
RESERVED = {
    "Docker's default bridge": IPv4Network("172.17.0.0/16"),
    "loopback": IPv4Network("127.0.0.0/8"),
    "link-local addresses": IPv4Network("169.254.0.0/16"),
    "multicast and beyond": IPv4Network("224.0.0.0/3"),
    "addresses of no network": IPv4Network("0.0.0.0/8"),
}
PRIVATE = [IPv4Network(cidr) for cidr in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")]

# The tenth address is the DNS's; a /29 ends at the seventh.
SERVICE_PREFIX_MAX = 28
# kubeadm's limit (MaximumBitsForServiceSubnet = 20 in v1.37.2, cmd/kubeadm/app/constants). The
# apiserver's own, the same, is off since DisableAllocatorDualWrite is locked on (v1.35), so that
# nothing bigger is tested by anybody.
SERVICE_PREFIX_MIN = 12
# The network's own address, its broadcast address, its gateway, the API endpoint, the mirror.
NOT_FOR_HOSTS = 5


def _ranges(config: ClusterConfig) -> dict[Loc, IPv4Network]:
    """All ranges; hosts that exist already have addresses and no range."""
    ranges = _virtual_ranges(config)
    if not config.metal.hosts:
        ranges[HOST_CIDR] = IPv4Network(config.network.host_cidr)
    return ranges


def _virtual_ranges(config: ClusterConfig) -> dict[Loc, IPv4Network]:
    """Those that no machine may have an address in."""
    return {
        POD_CIDR: IPv4Network(config.network.pod_cidr),
        SERVICE_CIDR: IPv4Network(config.network.service_cidr),
    }


def free_range(prefix: int, taken: Iterable[IPv4Network]) -> str:
    """A private range of that size that collides with none of `taken`, as advice."""
    avoid = [*taken, *RESERVED.values()]
    for block in PRIVATE:
        for candidate in block.subnets(new_prefix=max(prefix, block.prefixlen)):
            if not any(candidate.overlaps(other) for other in avoid):
                return f"write a free range, such as {candidate}"
    return "write a smaller, free range"


def overlaps(config: ClusterConfig) -> Iterator[Finding]:
    """Two ranges of the config that share addresses."""
    ranges = _ranges(config)
    for (loc, ours), (other, theirs) in combinations(ranges.items(), 2):
        if ours.overlaps(theirs):
            yield Finding(
                at=loc,
                value=str(ours),
                message=f"overlaps {'.'.join(map(str, other))} {theirs}",
                remedy=f"{free_range(ours.prefixlen, ranges.values())} for one of the two",
                # Hosts that exist already have no range; whether there are any may be unknown.
                rests_on=(other, *((GIVEN_HOSTS,) if HOST_CIDR in {loc, other} else ())),
            )


def reserved(config: ClusterConfig) -> Iterator[Finding]:
    """A range of the config that shares addresses with one that is in use on every host."""
    ranges = _ranges(config)
    for loc, ours in ranges.items():
        for owner, theirs in RESERVED.items():
            if ours.overlaps(theirs):
                yield Finding(
                    at=loc,
                    value=str(ours),
                    message=f"overlaps {theirs} ({owner})",
                    remedy=free_range(ours.prefixlen, ranges.values()),
                )


def pod_range(config: ClusterConfig) -> Iterator[Finding]:
    """Each host gets a piece of the pods' range: `node pod cidr not assigned` if there is none."""
    pods, piece = IPv4Network(config.network.pod_cidr), config.network.node_prefix
    hosts = len(config.hosts)
    if piece <= pods.prefixlen:
        yield Finding(
            at=NODE_PREFIX,
            value=piece,
            message=f"must be longer than the prefix of network.podCidr {pods}, of which each host "
            "gets a piece",
            remedy=_bigger_pods(pods, piece, hosts),
            rests_on=(POD_CIDR,),
        )
    elif (fit := 1 << (piece - pods.prefixlen)) < hosts:
        yield Finding(
            at=POD_CIDR,
            value=str(pods),
            message=f"has room for {fit} hosts at network.nodePrefix {piece}, but there are "
            f"{hosts}",
            remedy=_bigger_pods(pods, piece, hosts),
            rests_on=(NODE_PREFIX, *HOST_COUNT),
        )


def _bigger_pods(pods: IPv4Network, piece: int, hosts: int) -> str:
    """Both ways out, each only if it exists: smaller pieces, or a bigger whole."""
    bits = max(1, (hosts - 1).bit_length())
    ways = []
    if pods.prefixlen + bits <= 28:  # noqa: PLR2004 - the greatest nodePrefix
        ways.append(f"nodePrefix {pods.prefixlen + bits} or more")
    ways.append(f"a podCidr of /{piece - bits} or bigger")
    return f"write {', or '.join(ways)}"


def service_range(config: ClusterConfig) -> Iterator[Finding]:
    """The services' range holds the DNS's address and is no bigger than anybody tests."""
    services = IPv4Network(config.network.service_cidr)
    problems = {
        services.prefixlen > SERVICE_PREFIX_MAX: (
            "is too small: the tenth address is the DNS's",
            f"write a range of /{SERVICE_PREFIX_MAX} or bigger",
        ),
        services.prefixlen < SERVICE_PREFIX_MIN: (
            f"is too big: Kubernetes is tested with /{SERVICE_PREFIX_MIN} at most",
            f"write a range of /{SERVICE_PREFIX_MIN} or smaller",
        ),
    }
    if True in problems:
        yield Finding(SERVICE_CIDR, str(services), *problems[True])


def given_addresses(config: ClusterConfig) -> Iterator[Finding]:
    """No pod and no Service gets the address of a host that exists already."""
    said: dict[Loc, tuple[str, str]] = {
        (*GIVEN_HOSTS, index): (host.name, host.inner_address)
        for index, host in enumerate(config.metal.hosts)
    }
    said[GIVEN_API_HOST] = ("the API endpoint", config.metal.api_host or "")
    known = {loc: IPv4Address(text) for loc, (_, text) in said.items() if _is_address(text)}
    ranges = _virtual_ranges(config)
    taken = [*ranges.values(), *map(IPv4Network, known.values())]
    for at, ours in ranges.items():
        inside = [loc for loc, address in known.items() if address in ours]
        if inside:
            more = f" and {len(inside) - 1} more" if len(inside) > 1 else ""
            yield Finding(
                at=at,
                value=str(ours),
                message=f"holds the address {known[inside[0]]} of {said[inside[0]][0]}{more}",
                remedy=free_range(ours.prefixlen, taken),
                rests_on=((*inside[0], "internalAddress"),),
            )


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except ValueError:
        return False
    return True


def host_range(config: ClusterConfig) -> Iterator[Finding]:
    """Every host, the gateway, the API endpoint and the mirror have an address."""
    if config.metal.hosts:
        return
    network = IPv4Network(config.network.host_cidr)
    hosts = len(config.hosts)
    needed = hosts + NOT_FOR_HOSTS
    if network.num_addresses < needed:
        room = max(0, network.num_addresses - NOT_FOR_HOSTS)
        yield Finding(
            at=HOST_CIDR,
            value=str(network),
            message=f"has room for {room} hosts beside its gateway, the API endpoint and the "
            f"mirror, but there are {hosts}",
            remedy=f"write a range of /{32 - (needed - 1).bit_length()} or bigger",
            rests_on=HOST_COUNT,
        )


NETWORK_CHECKS: tuple[Callable[[ClusterConfig], Iterator[Finding]], ...] = (
    overlaps,
    reserved,
    pod_range,
    service_range,
    given_addresses,
    host_range,
)
