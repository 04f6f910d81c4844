"""What a network security group lets through: its rules one after the other, then Azure's own.

Rules allow or deny, and the first that a packet matches decides. The outcome is said as a set of
things that may pass, exactly: for each protocol the ports are cut where any rule begins or ends,
and for each piece the other ends' addresses are shared out among the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, collapse_addresses
from itertools import pairwise
from typing import Literal

from tests.clouds.azure.groups import ANY, rules_of
from tests.clouds.core.account import Account, Inputs
from tests.clouds.fabric.model import Rule

Direction = Literal["Inbound", "Outbound"]
Protocol = Literal["tcp", "udp", "icmp"]
Piece = tuple[tuple[int, int], tuple[str, ...]]  # ports, and whose

ALL = IPv4Network("0.0.0.0/0")
# Of the host below each machine: DNS, DHCP, and whatever asks backends whether they are well.
PLATFORM = IPv4Network("168.63.129.16/32")
ALL_PORTS = (0, 65535)
PROTOCOLS: tuple[Protocol, ...] = ("tcp", "udp", "icmp")
# The machine's own end of a packet, and the other one.
_ENDS: Mapping[Direction, tuple[str, str]] = {
    "Inbound": ("destination", "source"),
    "Outbound": ("source", "destination"),
}


def _default(access: str, source: str, destination: str) -> Inputs:
    return {
        "access": access,
        "protocol": ANY,
        "sourceAddressPrefix": source,
        "destinationAddressPrefix": destination,
        "destinationPortRange": ANY,
    }


# What comes after the rules of every group, with the priorities 65000, 65001 and 65500.
DEFAULTS: Mapping[Direction, tuple[Inputs, ...]] = {
    "Inbound": (
        _default("Allow", "VirtualNetwork", "VirtualNetwork"),
        _default("Allow", "AzureLoadBalancer", ANY),
        _default("Deny", ANY, ANY),
    ),
    "Outbound": (
        _default("Allow", "VirtualNetwork", "VirtualNetwork"),
        _default("Allow", ANY, "Internet"),
        _default("Deny", ANY, ANY),
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class View:
    """What the rules' words mean for one machine."""

    address: str
    roles: frozenset[str]  # ids of its application security groups, in small letters
    members: Mapping[str, tuple[str, ...]]  # {id of such a group: private addresses}
    network: tuple[IPv4Network, ...]  # the ranges of its virtual network


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One rule that is about the machine: only the other end is left."""

    allow: bool
    protocol: str  # "tcp", ..., or "*"
    ports: tuple[int, int]
    peers: tuple[IPv4Network, ...]

    def covers(self, protocol: Protocol, port: int) -> bool:
        """Whether the rule is about this port; one about some ports is not about ICMP."""
        first, last = self.ports
        within = first <= port <= last and (protocol != "icmp" or self.ports == ALL_PORTS)
        return self.protocol in {ANY, protocol} and within


def passing(
    account: Account, group_id: str | None, direction: Direction, view: View
) -> tuple[Rule, ...]:
    """What may reach the machine, or leave it; without a group, Azure's own rules are all."""
    rules = [] if group_id is None else rules_of(account, group_id)
    own = [rule.inputs for rule in rules if rule["direction"] == direction]
    mine, others = _ENDS[direction]
    lines = [
        _line(rule, others, view)
        for rule in (*own, *DEFAULTS[direction])
        if _is_about(rule, mine, view)
    ]
    return _compact({protocol: _pieces(lines, protocol) for protocol in PROTOCOLS})


def _is_about(rule: Inputs, mine: str, view: View) -> bool:
    roles = _roles(rule, mine)
    if roles:
        return bool(view.roles & roles)
    address = IPv4Address(view.address)
    return any(address in network for network in _networks(rule, mine, view))


def _line(rule: Inputs, others: str, view: View) -> Line:
    first, _, last = rule["destinationPortRange"].partition("-")
    ports = ALL_PORTS if first == ANY else (int(first), int(last or first))
    return Line(
        allow=rule["access"] == "Allow",
        protocol=rule["protocol"].lower(),
        ports=ports,
        peers=tuple(_networks(rule, others, view)),
    )


def _roles(rule: Inputs, end: str) -> frozenset[str]:
    groups = rule.get(f"{end}ApplicationSecurityGroups") or ()
    return frozenset(group["id"].lower() for group in groups)


def _networks(rule: Inputs, end: str, view: View) -> Iterator[IPv4Network]:
    """The addresses of one end. A group's are private: what comes from elsewhere is no member."""
    roles = _roles(rule, end)
    if roles:
        members = (address for role in roles for address in view.members.get(role, ()))
        yield from map(IPv4Network, members)
        return
    single = rule.get(f"{end}AddressPrefix")
    for word in rule.get(f"{end}AddressPrefixes") or [single]:
        yield from _meaning(str(word), view)


def _meaning(word: str, view: View) -> Iterable[IPv4Network]:
    inside = [*view.network, PLATFORM]
    tags: Mapping[str, Iterable[IPv4Network]] = {
        ANY: [ALL],
        "VirtualNetwork": inside,
        "AzureLoadBalancer": [PLATFORM],
        "Internet": without([ALL], inside),
    }
    return tags[word] if word in tags else [IPv4Network(word)]


def within(networks: Iterable[IPv4Network], others: Sequence[IPv4Network]) -> list[IPv4Network]:
    """What two sets of addresses have in common."""
    return [
        one if one.prefixlen >= other.prefixlen else other
        for one in networks
        for other in others
        if one.overlaps(other)
    ]


def without(networks: Iterable[IPv4Network], taken: Iterable[IPv4Network]) -> list[IPv4Network]:
    """The first set of addresses, but for those that are in the second, too."""
    left = list(networks)
    for other in taken:
        left = [rest for one in left for rest in _rest(one, other)]
    return left


def _rest(network: IPv4Network, taken: IPv4Network) -> Iterable[IPv4Network]:
    if not network.overlaps(taken):
        return [network]
    return network.address_exclude(taken) if taken.prefixlen > network.prefixlen else []


def _allowed(lines: Iterable[Line]) -> tuple[str, ...]:
    """Whom the lines let in, all being about the same port."""
    undecided, allowed = [ALL], list[IPv4Network]()
    for line in lines:
        decided = within(undecided, line.peers)
        undecided = without(undecided, decided)
        allowed += decided if line.allow else []
    return tuple(str(network) for network in collapse_addresses(allowed))


def _pieces(lines: Sequence[Line], protocol: Protocol) -> list[Piece]:
    """The ports of a protocol in as few pieces as possible, and who may use each."""
    first, last = ALL_PORTS
    edges = {edge for line in lines for edge in (line.ports[0], line.ports[1] + 1)}
    found: list[Piece] = []
    for start, end in pairwise(sorted({first, last + 1, *edges})):
        peers = _allowed(line for line in lines if line.covers(protocol, start))
        if found and found[-1][1] == peers:
            start = found.pop()[0][0]  # noqa: PLW2901 (the piece before goes on)
        found.append(((start, end - 1), peers))
    return [piece for piece in found if piece[1]]


def _compact(pieces: Mapping[Protocol, list[Piece]]) -> tuple[Rule, ...]:
    tcp, udp, icmp = (pieces[protocol] for protocol in PROTOCOLS)
    if tcp == udp == icmp:
        return tuple(Rule(protocol="any", ports=None, peers=peers) for _, peers in tcp)
    return tuple(
        Rule(protocol=protocol, ports=None if ports == ALL_PORTS else ports, peers=peers)
        for protocol, found in pieces.items()
        for ports, peers in found
    )
