"""Structural differences between two sets of inputs, by property path."""

from __future__ import annotations

import json
import re
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

from airgap.plugins.protocol import Call, Diff, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from airgap.plugins.values import Properties, Value

_Change: TypeAlias = tuple[str, Kind]
_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")
_REPLACING = "triggers"


class _Absent:
    """Stands for what one side does not have."""


_ABSENT = _Absent()
_Side: TypeAlias = "Value | _Absent"


def diff(call: Call) -> Diff:
    """Compare the inputs of a call with those of the last.

    Everything is an update but triggers that come or go as a whole. The engine itself replaces for
    a change inside of triggers, because the SDK asks it to.
    """
    ignored = {name: call.old_inputs[name] for name in call.ignore_changes & {*call.old_inputs}}
    compared = {
        name: value
        for name, value in call.inputs.items()
        if name not in call.ignore_changes and name != "version" and not name.startswith("__")
    }
    changes = dict(_members("", call.old_inputs, {**compared, **ignored}))
    detailed = {
        path: kind.replacing if path == _REPLACING else kind for path, kind in changes.items()
    }
    return Diff(
        diffs=list(dict.fromkeys(re.split(r"[.\[]", path, maxsplit=1)[0] for path in detailed)),
        replaces=[_REPLACING] if _REPLACING in detailed else [],
        detailed=detailed,
    )


def _members(path: str, old: Mapping[str, Value], new: Mapping[str, Value]) -> Iterator[_Change]:
    for key in dict.fromkeys([*old, *new]):
        yield from _compare(_join(path, key), old.get(key, _ABSENT), new.get(key, _ABSENT))


def _join(path: str, key: str) -> str:
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{json.dumps(key, ensure_ascii=False)}]"
    return f"{path}.{key}" if path else key


def _compare(path: str, old: _Side, new: _Side) -> Iterator[_Change]:
    if isinstance(old, _Absent):
        yield path, Kind.ADD
    elif isinstance(new, _Absent):
        yield path, Kind.DELETE
    elif isinstance(old, dict) and isinstance(new, dict):
        yield from _members(path, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        for index, (before, after) in enumerate(zip_longest(old, new, fillvalue=_ABSENT)):
            yield from _compare(f"{path}[{index}]", before, after)
    elif old != new or isinstance(old, bool) is not isinstance(new, bool):  # True == 1 in Python
        yield path, Kind.UPDATE


def changed_or_gone(state: Properties, inputs: Properties, names: Mapping[str, object]) -> bool:
    """Say whether any of the named values that the state has is not the same in the inputs."""
    return any(
        any(_compare(name, state[name], inputs.get(name, _ABSENT)))
        for name in names
        if name in state
    )
