"""What a reader has found in an inventory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A value as the config would have it, and where it stands in the file."""

    value: JsonValue
    place: str
    names: Mapping[str, str] = field(default_factory=dict)  # {key of the value: its place}


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """Something in the file that cannot be understood."""

    place: str
    message: str
    remedy: str
    key: str = ""  # of `metal`: who sets it in the config need not care


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The hosts, in the order of the file, and what else of `metal` the file says."""

    place: str = "the file"  # where the hosts stand
    hosts: tuple[Entry, ...] = ()
    others: Mapping[str, Entry] = field(default_factory=dict)  # by the key of `metal`
    faults: tuple[Fault, ...] = ()
    beside: tuple[str, ...] = ()  # folders that would change what the file says
