"""What a cluster config object comes to once the files that it points to have been read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from findings import Finding, Loc


@dataclass(frozen=True, kw_only=True, slots=True)
class Expansion:
    """The object with what the files say in it, and what is wrong with the files."""

    keys: dict[str, JsonValue]
    findings: tuple[Finding, ...] = ()
    # Where a key really stands, by the path that it has in `keys`, or by the beginning of it:
    # {"metal.hosts[0]": "hosts.ini: host web-1"}.
    places: Mapping[str, str] = field(default_factory=dict)
    unknown: tuple[Loc, ...] = ()  # keys of which only a part could be read

    def place(self, path: str) -> str:
        """Where the key at `path` stands, as a reader finds it."""
        known = [start for start in self.places if _begins(path, start)]
        longest = max(known, key=len, default="")
        return f"{self.places[longest]}{path[len(longest) :]}" if longest else path


def _begins(path: str, start: str) -> bool:
    return path == start or path.startswith((f"{start}.", f"{start}["))
