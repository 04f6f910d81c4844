"""The router's rules: public addresses, NAT gateways and load balancers as one nftables table.

A connection that a balancer takes carries the address of its backend as its mark, so that it stays
there whatever becomes of the balancer, and so that a packet finds its way by the mark alone where
the balancer leaves its destination as it is. `Router` is all that the container needs to know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address

from tests.clouds.fabric.model import Balancer, Fabric, Machine, Nat
from tests.clouds.fabric.nft import (
    BALANCED_DSCP,
    chain,
    collapsed,
    named_map,
    named_set,
    one_of,
    table,
)
from tests.clouds.fabric.place import key


def mark(address: str) -> str:
    """A backend's mark, as `ip` writes it."""
    return f"{int(IPv4Address(address)):#x}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Router:
    """A fabric as its router sees it: only networks that have to do with the internet."""

    internet: str  # its CIDR
    machines: tuple[Machine, ...]  # with a public address
    nats: tuple[Nat, ...]
    balancers: tuple[tuple[Balancer, tuple[Machine, ...]], ...]  # with their backends

    @property
    def addresses(self) -> list[str]:
        """The public addresses."""
        found = {machine.public_address or "" for machine in self.machines}
        found |= {nat.address for nat in self.nats}
        found |= {balancer.address for balancer, _ in self.balancers}
        return sorted(found, key=IPv4Address)

    @property
    def sources(self) -> list[str]:
        """Who asks the backends how they are."""
        return sorted({balancer.probe.source for balancer, _ in self.balancers}, key=IPv4Address)

    @property
    def kept(self) -> list[str]:
        """The marks and addresses of backends that get packets for a balancer's own address."""
        found = {
            machine.address
            for balancer, backends in self.balancers
            for machine in backends
            if not balancer.translate
        }
        return [f"{mark(address)} {address}" for address in sorted(found, key=IPv4Address)]

    @property
    def backends(self) -> list[str]:
        """Which backends a balancer has: its key, their addresses and marks."""
        return [
            f"{key(balancer.id)} {machine.address} {mark(machine.address)}"
            for balancer, backends in self.balancers
            for machine in backends
        ]

    @property
    def probes(self) -> list[str]:
        """The questions; the machine's key is there since its successor has its address."""
        return [
            f"{key(balancer.id)} {machine.address} {key(machine.id)} {probe.protocol} "
            f"{probe.source} {probe.port} {probe.interval_seconds} {probe.healthy} "
            f"{probe.unhealthy} {probe.path}"
            for balancer, backends in self.balancers
            for machine in backends
            for probe in (balancer.probe,)
        ]


def router(fabric: Fabric, internet: str) -> Router:
    """What there is to do for a fabric; `internet` is the CIDR of its internet."""
    reached = {identity for identity, network in fabric.networks.items() if network.internet}
    return Router(
        internet=internet,
        machines=tuple(
            machine
            for machine in fabric.machines.values()
            if machine.public_address and machine.network in reached
        ),
        nats=tuple(nat for nat in fabric.nats.values() if nat.network in reached),
        balancers=tuple(
            (
                balancer,
                tuple(
                    fabric.machines[identity]
                    for identity in balancer.backends
                    if identity in fabric.machines
                ),
            )
            for balancer in fabric.balancers.values()
            if balancer.network in reached
        ),
    )


def rules(found: Router) -> str:
    """The whole table."""
    public = {machine.address: machine.public_address or "" for machine in found.machines}
    members = {machine.address: machine for _, backends in found.balancers for machine in backends}
    leaving = [*public, *(cidr for nat in found.nats for cidr in nat.sources)]
    return table(
        "ip",
        named_map("inward", "ipv4_addr : ipv4_addr", {public[item]: item for item in public}),
        named_map("outward", "ipv4_addr : ipv4_addr", public),
        named_map("marked", "mark : ipv4_addr", {mark(item): item for item in members}),
        named_set("leaving", "ipv4_addr", collapsed(leaving), "flags interval"),
        named_set("asking", "ipv4_addr", found.sources),
        named_set("itself", "ipv4_addr . ipv4_addr", (f"{item} . {item}" for item in members)),
        *(chain(_pick(balancer), "", []) for balancer, _ in found.balancers),
        named_map("balanced", "ipv4_addr . inet_service : verdict", _verdicts(found)),
        *_arriving(found),
        *_asking(found),
        *_passing(found),
        *_leaving(found),
    )


def _pick(balancer: Balancer) -> str:
    """The chain that chooses a backend. Health checks fill it: `files/pick.sh`."""
    return f"pick_{key(balancer.id)}"


def _verdicts(found: Router) -> dict[str, str]:
    return {
        f"{balancer.address} . {balancer.port}": f"jump {_pick(balancer)}"
        for balancer, _ in found.balancers
    }


def _arriving(found: Router) -> Iterator[str]:
    yield chain(
        "mark_arriving",
        "type filter hook prerouting priority mangle; policy accept;",
        [
            f"ip dscp {BALANCED_DSCP} ip dscp set cs0",
            "ct state new ct mark 0 ip daddr . tcp dport vmap @balanced",
            "ct direction original meta mark set ct mark",
        ],
    )
    yield chain(
        "translate_arriving",
        "type nat hook prerouting priority dstnat; policy accept;",
        [
            *(
                f"ip daddr {balancer.address} tcp dport {balancer.port} "
                f"dnat to ct mark map @marked : {balancer.backend_port}"
                for balancer, _ in found.balancers
                if balancer.translate
            ),
            "dnat to ip daddr map @inward",
        ],
    )


def _asking(found: Router) -> Iterator[str]:
    """Where packets keep the balancer's address, health checks have it as destination, too."""
    kept = [
        (balancer, [machine.address for machine in backends])
        for balancer, backends in found.balancers
        if backends and not balancer.translate
    ]
    yield chain(
        "mark_asking",
        "type route hook output priority mangle; policy accept;",
        (
            f"ip saddr {balancer.probe.source} tcp dport {balancer.probe.port} meta mark set "
            f"ip daddr map {one_of(f'{item} : {mark(item)}' for item in addresses)}"
            for balancer, addresses in kept
        ),
    )
    yield chain(
        "translate_asking",
        "type nat hook output priority -100; policy accept;",
        (
            f"ip saddr {balancer.probe.source} ip daddr {one_of(addresses)} "
            f"tcp dport {balancer.probe.port} dnat to {balancer.address}"
            for balancer, addresses in kept
        ),
    )


def _passing(found: Router) -> Iterator[str]:
    yield chain(
        "input",
        "type filter hook input priority filter; policy drop;",
        ['iifname "lo" accept', "ct state established,related accept"],
    )
    yield chain(
        "forward",
        "type filter hook forward priority filter; policy drop;",
        [
            "ct state established,related accept",
            "ct mark != 0 ip saddr . ip daddr @itself counter drop",
            f"ip saddr @leaving ip daddr {found.internet} accept",
            "ip saddr @leaving ct status dnat accept",
            f"ip saddr {found.internet} ct status dnat accept",
            f"ip saddr {found.internet} ct mark != 0 accept",
        ],
    )


def _leaving(found: Router) -> Iterator[str]:
    yield chain(
        "translate_leaving",
        "type nat hook postrouting priority srcnat; policy accept;",
        [
            "ip saddr @asking accept",
            "snat to ip saddr map @outward",
            *(
                f"ip saddr {one_of(collapsed(nat.sources))} snat to {nat.address}"
                for nat in found.nats
            ),
        ],
    )
    # Here the source is what the receiver will see.
    yield chain(
        "filter_leaving",
        "type filter hook postrouting priority srcnat + 10; policy accept;",
        [
            *(
                f"meta l4proto tcp ct state new ct original ip daddr {balancer.address} "
                f"ct original proto-dst {balancer.port} {_strangers(balancer.clients)}counter drop"
                for balancer, _ in found.balancers
                if balancer.clients is not None
            ),
            f"ct mark != 0 ct direction original ip dscp set {BALANCED_DSCP}",
            f"ip saddr @asking ip dscp set {BALANCED_DSCP}",
        ],
    )


def _strangers(clients: tuple[str, ...]) -> str:
    """Whom a balancer does not let in; nobody is let in when there are no clients."""
    return f"ip saddr != {one_of(collapsed(clients))} " if clients else ""
