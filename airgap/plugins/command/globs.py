"""Patterns for paths: `*` and `?` stop at a slash, `**` does not; also `[a-c]`, `[!a]`, `{a,b}`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from airgap.plugins.protocol import PluginError

if TYPE_CHECKING:
    from collections.abc import Sequence

_TOKEN = re.compile(
    r"""
    (?P<any>\*\*+) | (?P<some>\*) | (?P<one>\?)
    | \[(?P<negated>!?)(?P<set>[^\]]+)\]
    | (?P<open>\{) | (?P<close>\}) | (?P<comma>,)
    | \\(?P<escaped>.) | (?P<literal>[^\\\[{}])
    """,
    re.VERBOSE | re.DOTALL,
)


def compile_glob(pattern: str) -> re.Pattern[str]:
    """Translate a pattern that has to match a whole path."""
    parts: list[str] = []
    depth = position = 0
    while position < len(pattern):
        token = _TOKEN.match(pattern, position)
        if token is None:
            break
        depth += (token.lastgroup == "open") - (token.lastgroup == "close")
        if depth < 0:
            break
        parts.append(_translate(token, nested=depth > 0))
        position = token.end()
    if depth or position < len(pattern):
        raise PluginError(f"invalid pattern {pattern!r}: unexpected end of input")
    return re.compile("".join(parts), re.DOTALL)


def _translate(token: re.Match[str], *, nested: bool) -> str:
    group = token.lastgroup or ""
    if group == "set":
        # No slash in a set: paths are matched part by part.
        members = re.sub(r"([\\^\[&~|])", r"\\\1", token["set"])
        return f"(?!/)[{'^' if token['negated'] else ''}{members}]"
    if group == "comma":
        return "|" if nested else ","
    fixed = {"any": ".*", "some": "[^/]*", "one": "[^/]", "open": "(?:", "close": ")"}
    return fixed.get(group) or re.escape(token[group])


def select(paths: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the paths for which the last pattern that matches is not one with a `!` before it."""
    rules = [
        (not pattern.startswith("!"), compile_glob(pattern.removeprefix("!")))
        for pattern in patterns
    ]

    def chosen(path: str) -> bool:
        verdicts = [wanted for wanted, rule in rules if rule.fullmatch(path)]
        return bool(verdicts) and verdicts[-1]

    return [path for path in paths if chosen(path)]
