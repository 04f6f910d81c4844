"""Where two values differ, in words."""

from __future__ import annotations

from typing import Any

_SHOWN = 200  # characters of a value that are worth showing
SIDES = ("official", "stand-in")


def differences(official: Any, ours: Any, path: str = "") -> list[str]:  # noqa: ANN401 - JSON
    """A line for each place where they differ; no line: they agree."""
    if isinstance(official, dict) and isinstance(ours, dict):
        return [
            line
            for key in sorted(official.keys() | ours.keys())
            for line in differences(
                official.get(key, "(absent)"), ours.get(key, "(absent)"), f"{path} > {key}"
            )
        ]
    if isinstance(official, list) and isinstance(ours, list) and len(official) == len(ours):
        pairs = enumerate(zip(official, ours, strict=True))
        return [line for i, pair in pairs for line in differences(*pair, f"{path}[{i}]")]
    # True == 1, and a plugin that answers one for the other is not the same.
    if official == ours and type(official) is type(ours):
        return []
    where = path.removeprefix(" > ")
    return [f"{where}: {SIDES[0]} {_shown(official)}, {SIDES[1]} {_shown(ours)}"]


def _shown(value: Any) -> str:  # noqa: ANN401 - JSON
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
