"""Where the time of a run went: the engine's events as spans, and the path that it took longest on.

The events' own timestamps are whole seconds, so each line is stamped as it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_WIDTH = 60  # characters of a waterfall's bars
_NOTHING_DONE = frozenset({"same", "read", "refresh"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Span:
    """One step of the engine on one resource; seconds since the command began."""

    urn: str
    op: str
    start: float
    end: float

    @property
    def name(self) -> str:
        """The resource's name."""
        return self.urn.rsplit("::", 1)[-1]

    @property
    def kind(self) -> str:
        """The resource's type, without its parents' and without the package."""
        return self.urn.rsplit("::", 2)[-2].rsplit("$", 1)[-1].rsplit(":", 1)[-1]

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.start


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One line of `pulumi up --json`, and when it came."""

    at: float
    content: Mapping[str, Any]


def event(at: float, line: str) -> Event | None:
    """A line as an event; None for what the CLI says beside them."""
    try:
        found = json.loads(line)
    except json.JSONDecodeError:
        return None
    return Event(at=at, content=found) if isinstance(found, dict) else None


def spans(events: Iterable[Event]) -> list[Span]:
    """What was done to resources that are no components, in the order in which it ended."""
    begun: dict[tuple[str, str], float] = {}
    found = []
    for item in events:
        if "resourcePreEvent" in item.content:
            begun[_key(item.content["resourcePreEvent"])] = item.at
        elif "resOutputsEvent" in item.content:
            about = item.content["resOutputsEvent"]
            urn, op = key = _key(about)
            if key in begun and op not in _NOTHING_DONE and _is_custom(about):
                found.append(Span(urn=urn, op=op, start=begun[key], end=item.at))
    return found


def _key(about: Mapping[str, Any]) -> tuple[str, str]:
    return about["metadata"]["urn"], about["metadata"]["op"]


def _is_custom(about: Mapping[str, Any]) -> bool:
    state = about["metadata"].get("new") or about["metadata"].get("old") or {}
    return bool(state.get("custom"))


def dependencies(state: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """What each resource of an exported stack waited for, by URN: its inputs and its provider."""
    return {
        item["urn"]: frozenset(
            {*item.get("dependencies", ()), item.get("provider", "").rpartition("::")[0]} - {""}
        )
        for item in state["deployment"].get("resources") or ()
    }


def critical_path(
    found: Sequence[Span], needs: Mapping[str, frozenset[str]], last: str
) -> list[Span]:
    """The chain that ends with the resource `last`: of each, what it needed that ended last."""
    by_urn = {span.urn: span for span in found}
    path = [by_urn[last]]
    while True:
        needed = [by_urn[urn] for urn in needs.get(path[-1].urn, ()) if urn in by_urn]
        earlier = [span for span in needed if span not in path]
        if not earlier:
            return path[::-1]
        path.append(max(earlier, key=lambda span: span.end))


def path_lines(path: Sequence[Span]) -> list[str]:
    """A path as lines: when each step began, how long it took, and how long it had to wait."""
    lines = []
    before = 0.0
    for span in path:
        waited = max(0.0, span.start - before)
        lines.append(
            f"{span.start:7.1f} s  {span.seconds:6.1f} s  after {waited:4.1f} s  "
            f"{span.kind:<18} {span.name}"
        )
        before = span.end
    return lines


def waterfall(found: Sequence[Span], shortest: float = 0.5) -> list[str]:
    """Spans as bars on one axis of time; those shorter than `shortest` seconds as one line."""
    shown = sorted((s for s in found if s.seconds >= shortest), key=lambda span: span.start)
    whole = max((span.end for span in found), default=1.0)
    lines = [_bar(span, whole) for span in shown]
    short = [span for span in found if span.seconds < shortest]
    if short:
        total = sum(span.seconds for span in short)
        lines.append(f"and {len(short)} shorter than {shortest:g} s, {total:.1f} s in all")
    return lines


def _bar(span: Span, whole: float) -> str:
    left = round(span.start / whole * _WIDTH)
    length = max(1, round(span.end / whole * _WIDTH) - left)
    bar = f"{' ' * left}{'#' * length}".ljust(_WIDTH)
    return f"|{bar}| {span.start:6.1f} {span.seconds:6.1f} s  {span.name}"
