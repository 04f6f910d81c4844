"""How a cloud is asked before anything is made, and how its answer is refused.

Each refusal is a RunError that reads like those of the rules: the key, its value, what is wrong,
and what to write instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import IPv4Network
from typing import TypeVar

from pulumi import RunError

from config import ClusterConfig

_Answer = TypeVar("_Answer")


def refusal(key: str, value: str, message: str, remedy: str) -> RunError:
    """What is said of a config that does not fit what there is."""
    return RunError(f"{key}: {value}\n    {message}\n    {remedy}")


def answer(
    cloud: str, key: str, value: str, remedy: str, question: Callable[[], _Answer]
) -> _Answer:
    """The answer of `cloud`, which has no narrower way to say that there is none than an error."""
    try:
        return question()
    except Exception as error:
        raise refusal(key, value, f"{cloud} says: {error}", remedy) from error


def choose_zones(
    config: ClusterConfig, known: Sequence[str], count: int, owner: str
) -> tuple[str, ...]:
    """The config's zones, or the first of those that are known, so many.

    `known` is sorted by name: the first of it do not change by themselves. `owner` is who has the
    zones, for the refusal of one that is not known.
    """
    zones = config.zones or tuple(known[:count])
    for zone in zones:
        if zone not in known:
            message = f"is no zone of {config.region} that this {owner} has"
            raise refusal("zones", zone, message, f"write some of {', '.join(known)}")
    return zones


def virtual_ranges(config: ClusterConfig) -> Mapping[str, str]:
    """{key: range} of those that no machine may have an address in."""
    network = config.network
    return {"network.podCidr": network.pod_cidr, "network.serviceCidr": network.service_cidr}


def refuse_taken(ranges: Mapping[str, str], taken: Iterable[tuple[str, str]]) -> None:
    """Refuse a range of the config that shares addresses with one of (range, who has it)."""
    for theirs, owner in taken:
        for key, ours in ranges.items():
            if IPv4Network(ours).overlaps(IPv4Network(theirs)):
                message = f"overlaps {theirs}, which {owner} has"
                raise refusal(key, ours, message, "write a range that is free")
