"""A machine's firewall: what its cloud lets in and out, as rules in its own network namespace.

It stands between the wire and everything that the machine itself does with packets: kube-proxy,
flannel and pods have tables and interfaces of their own, and never meet it on their way inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from tests.clouds.fabric.model import BALANCED, Machine, Rule
from tests.clouds.fabric.nft import BALANCED_DSCP, chain, collapsed, one_of, table

EVERYBODY = "0.0.0.0/0"
# After the kernel knows the connection, and before kube-proxy gives packets another destination.
_ARRIVES = "type filter hook prerouting priority mangle; policy accept;"
# After all that gives packets another source.
_LEAVES = "type filter hook postrouting priority srcnat + 50; policy accept;"

# Each protocol without ports and with them, as Azure means "any" with ports.
_PROTOCOLS: Mapping[str, tuple[str, str]] = {
    "tcp": ("meta l4proto tcp", "tcp dport {}"),
    "udp": ("meta l4proto udp", "udp dport {}"),
    "icmp": ("meta l4proto icmp", "meta l4proto icmp"),
    "any": ("", "meta l4proto {{ tcp, udp }} th dport {}"),
}


def firewall(machine: Machine) -> str:
    """The machine's whole table. Answers pass; a packet that no rule lets pass is lost."""
    own = [machine.address, *machine.local_addresses]
    return table(
        "inet",
        chain(
            "arrives",
            _ARRIVES,
            [
                'iifname != "eth0" accept',
                "meta nfproto ipv6 drop",
                *_only(machine, "daddr", own),
                "ct state established,related accept",
                *_passing(machine.inbound, "saddr"),
                "counter drop",
            ],
        ),
        chain(
            "leaves",
            _LEAVES,
            [
                'oifname != "eth0" accept',
                "meta nfproto ipv6 drop",
                f"ip dscp {BALANCED_DSCP} ip dscp set cs0",
                *_only(machine, "saddr", own),
                "ct state established,related accept",
                *_passing(machine.outbound, "daddr"),
                "counter drop",
            ],
        ),
    )


def _only(machine: Machine, field: Literal["saddr", "daddr"], own: list[str]) -> list[str]:
    """The check of source and destination that clouds make for machines that forward nothing."""
    return [] if machine.forwards else [f"ip {field} != {one_of(own)} counter drop"]


def _passing(rules: tuple[Rule, ...], field: Literal["saddr", "daddr"]) -> Iterator[str]:
    for rule in rules:
        for peers in _peers(rule, field):
            yield " ".join([*peers, *_what(rule), "accept"])


def _peers(rule: Rule, field: str) -> Iterator[list[str]]:
    """How the other end is recognized, one match a line."""
    if BALANCED in rule.peers:
        yield [f"ip dscp {BALANCED_DSCP}"]
    ranges = collapsed(peer for peer in rule.peers if peer != BALANCED)
    if ranges:
        yield [] if ranges == [EVERYBODY] else [f"ip {field} {one_of(ranges)}"]


def _what(rule: Rule) -> list[str]:
    without, within = _PROTOCOLS[rule.protocol]
    if rule.ports is None:
        return [without] if without else []
    first, last = rule.ports
    return [within.format(first if first == last else f"{first}-{last}")]
