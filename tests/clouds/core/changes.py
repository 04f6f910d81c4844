"""What differs between two sets of inputs, as paths, and what a difference means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from airgap.plugins.protocol import Diff, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_INDEX = re.compile(r"\[\d+\]")


def general(path: str) -> str:
    """A path without the numbers of its list items, as tables have it."""
    return _INDEX.sub("", path)


def below(path: str, table: frozenset[str] | Mapping[str, str]) -> str | None:
    """The path of the table that this one is, or is part of."""
    words = general(path).split(".")
    for length in range(len(words), 0, -1):
        if (found := ".".join(words[:length])) in table:
            return found
    return None


def changes(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Kind]]:
    """Every leaf that was added, is gone, or is another one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in {**old, **new}:
            inner = f"{path}.{key}" if path else key
            yield from changes(old.get(key), new.get(key), inner)
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            before, after = (side[index] if index < len(side) else None for side in (old, new))
            yield from changes(before, after, f"{path}[{index}]")
    elif old != new:
        yield path, Kind.ADD if old is None else Kind.DELETE if new is None else Kind.UPDATE


def diff(old: Mapping[str, Any], new: Mapping[str, Any], immutable: frozenset[str]) -> Diff:
    """The answer to the engine, which shows the paths and replaces where it must."""
    found = {
        path: kind.replacing if below(path, immutable) else kind
        for path, kind in changes(dict(old), dict(new))
    }
    top = {path: re.split(r"[.\[]", path, maxsplit=1)[0] for path in found}
    return Diff(
        diffs=sorted(set(top.values())),
        replaces=sorted({top[path] for path in found if below(path, immutable)}),
        detailed=found,
    )
