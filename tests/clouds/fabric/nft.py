"""The nftables language: what machines and the router have in common when they say their rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network, collapse_addresses

TABLE = "simulated"
# What marks a packet that came by way of a balancer. Programs set other values, if any.
BALANCED_DSCP = "0x3d"
_INDENT = "    "


def table(family: str, *parts: str) -> str:
    """A whole table, which takes the place of the one that is there in one step."""
    name = f"table {family} {TABLE}"
    body = "\n".join(_indented(part) for part in parts)
    return f"{name}\ndelete {name}\n{name} {{\n{body}}}\n"


def chain(name: str, hook: str, rules: Iterable[str]) -> str:
    """A chain; `hook` is empty for one that others jump to."""
    return _block(f"chain {name}", [*([hook] if hook else []), *rules])


def named_set(name: str, kind: str, elements: Iterable[str], *flags: str) -> str:
    """A set, which may be empty, as one without a name may not."""
    return _block(f"set {name}", [f"type {kind}", *flags, *_elements(elements)])


def named_map(name: str, kind: str, elements: Mapping[str, str]) -> str:
    """A map; `kind` is like `ipv4_addr : ipv4_addr`."""
    pairs = (f"{key} : {value}" for key, value in elements.items())
    return _block(f"map {name}", [f"type {kind}", *_elements(pairs)])


def one_of(elements: Iterable[str]) -> str:
    """A set without a name."""
    return f"{{ {', '.join(elements)} }}"


def collapsed(cidrs: Iterable[str]) -> list[str]:
    """The same addresses in as few ranges as possible: ranges of a set must not overlap."""
    return [str(network) for network in collapse_addresses(map(IPv4Network, cidrs))]


def _elements(elements: Iterable[str]) -> list[str]:
    found = ", ".join(elements)
    return [f"elements = {{ {found} }}"] if found else []


def _block(head: str, lines: Iterable[str]) -> str:
    return "\n".join([f"{head} {{", *(f"{_INDENT}{line}" for line in lines), "}", ""])


def _indented(text: str) -> str:
    return "".join(f"{_INDENT}{line}\n" for line in text.splitlines())
