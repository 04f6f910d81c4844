"""What a check across keys of the cluster config says when something is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import JsonValue

Loc = tuple[str | int, ...]  # where a key stands: ("pools", 1, "name")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that a check across keys found, and every key that its verdict rests on."""

    at: Loc
    value: JsonValue  # None: nothing stands there
    message: str
    remedy: str
    rests_on: tuple[Loc, ...] = ()

    def is_about(self, loc: Loc) -> bool:
        """Whether the verdict rests on the key at `loc`, on part of it or on what holds it."""
        return any(
            key[: len(loc)] == loc or loc[: len(key)] == key for key in (self.at, *self.rests_on)
        )
