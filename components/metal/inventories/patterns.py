"""Host patterns of Ansible: `web[01:03]:2222` is three hosts, and the port of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_PATTERN = re.compile(r"(?P<names>(?:[^:\[\]\s]|\[[^\]\s]*\])+)(?::(?P<port>\d+))?")
_RANGE = re.compile(r"\[(?P<first>\w*):(?P<last>\w+)(?::(?P<step>\d+))?\]")


class PatternError(Exception):
    """Text that is no host pattern; the message says what is wrong."""


def hosts_of(pattern: str) -> tuple[tuple[str, ...], int | None]:
    """The names that a pattern stands for, and the port of it. Raises PatternError."""
    found = _PATTERN.fullmatch(pattern)
    if not found:
        raise PatternError("is no host, such as web-1, web[01:03] or web-1:2222")
    return tuple(_expanded(found["names"])), int(found["port"]) if found["port"] else None


def _expanded(names: str) -> Iterator[str]:
    found = _RANGE.search(names)
    if not found:
        if "[" in names:
            raise PatternError("has brackets that are no range, such as [1:3], [01:10:2] or [a:c]")
        yield names
        return
    for middle in _range(found["first"] or "0", found["last"], int(found["step"] or 1)):
        for rest in _expanded(names[found.end() :]):
            yield f"{names[: found.start()]}{middle}{rest}"


def _range(first: str, last: str, step: int) -> Sequence[str]:
    if first.isdecimal() and last.isdecimal() and step:
        width = len(first) if first.startswith("0") and len(first) > 1 else 0
        if width and len(last) != width:
            raise PatternError(f"has a range from {first} to {last}: write as many digits in both")
        found = [str(number).zfill(width) for number in range(int(first), int(last) + 1, step)]
    elif re.fullmatch("[a-z][a-z]|[A-Z][A-Z]", first + last) and step:
        found = [chr(code) for code in range(ord(first), ord(last) + 1, step)]
    else:
        found = []
    if not found:
        raise PatternError(f"has a range from {first} to {last}, in which nothing is")
    return found
