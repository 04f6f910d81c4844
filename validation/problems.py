"""What can be wrong with a cluster config, as a person reads it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from pulumi import RunError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from findings import Finding, Loc

_MISTAKABLE = re.compile(r"\s*|true|false|null|-?\d+(\.\d+)?")
SHOWN = 70  # characters of a value
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")
# The config has no secrets, but a key that we do not know might be meant to hold one, and where the
# file of a key belongs somebody might write the key itself.
_PRIVATE_KEY = "PRIVATE KEY-----"
_SECRET = re.compile(r"passw|secret|token|credential|private|apikey", re.IGNORECASE)


def render(loc: Loc) -> str:
    """The path as a user writes it: `pools[1].labels["example.com/disk"]`."""
    path = ""
    for part in loc:
        if isinstance(part, int):
            path += f"[{part}]"
        elif _PLAIN.fullmatch(part):
            path += f".{part}" if path else part
        else:
            path += f"[{json.dumps(part)}]"
    return path


def _without_secrets(value: JsonValue, key: str) -> JsonValue:
    if _SECRET.search(key) or (isinstance(value, str) and _PRIVATE_KEY in value):
        return "(hidden)"
    if isinstance(value, dict):
        return {name: _without_secrets(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item, "") for item in value]
    return value


def _reads_as_text(value: JsonValue) -> TypeGuard[str]:
    """Whether a person sees without quotes that it is text: `2`, ` ` and `true` do not show it."""
    if not isinstance(value, str):
        return False
    return value.isprintable() and not _MISTAKABLE.fullmatch(value)


def show(value: JsonValue, path: str = "") -> str:
    """The value on one line, cut to size, with nothing in it that looks like a secret."""
    safe = _without_secrets(value, path)
    text = safe if _reads_as_text(safe) else json.dumps(safe, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: where, what stands there, why it is wrong, what to write instead."""

    path: str
    value: JsonValue  # None: nothing stands there
    message: str
    remedy: str

    def __str__(self) -> str:
        found = "(not set)" if self.value is None else show(self.value, self.path)
        return f"{self.path}: {found}\n    {self.message}\n    {self.remedy}"


def as_problem(finding: Finding) -> Problem:
    """The part of a finding that is for the reader."""
    return Problem(render(finding.at), finding.value, finding.message, finding.remedy)


class ConfigError(RunError):
    """The cluster config is wrong: every problem at once.

    A `RunError`, since Pulumi prints nothing but the message of one: no traceback.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        blocks = "\n\n".join(str(problem) for problem in problems)
        super().__init__(f"the cluster config has {count}:\n\n{blocks}\n")


def nearest(word: str, known: Sequence[str]) -> str | None:
    """The known word that `word` was most likely meant to be."""
    from difflib import get_close_matches  # noqa: PLC0415 - only needed once something is wrong

    lower = {name.lower().replace("-", "").replace("_", ""): name for name in known}
    plain = word.lower().replace("-", "").replace("_", "")
    found = get_close_matches(plain, lower, n=1, cutoff=0.6)
    return lower[found[0]] if found else None


def listing(words: Sequence[str], last: str = "or") -> str:
    """`a, b or c`."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))
