"""Ansible inventories in INI form: sections of hosts, of child groups, and of variables.

Read as Ansible reads them: words of a host's line as a shell has them, values as Python literals
where they are ones, a section `[NAME:vars]` with the rest of each line as the value.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Mapping

from pydantic import JsonValue

from components.metal.inventories.groups import Groups

_SECTION = re.compile(r"\[(?P<group>[^:\]\s]+)(?::(?P<kind>\w+))?\]\s*(?:#.*)?")
UNGROUPED = "ungrouped"


def read(text: str) -> Groups:
    """The inventory; a line that is not understood is a fault of it."""
    groups = Groups()
    name, kind = UNGROUPED, "hosts"
    for number, line in enumerate(map(str.strip, text.splitlines()), 1):
        place = f"line {number}"
        section = _SECTION.fullmatch(line)
        if not line or line.startswith(("#", ";")):
            continue
        if section:
            name, kind = section["group"], section["kind"] or "hosts"
            groups.group(name)
            if kind not in LINES:
                groups.refuse(place, f"a section of {kind} is none of hosts, children and vars")
        elif kind in LINES:
            LINES[kind](groups, name, line, place)
    return groups


def _host(groups: Groups, group: str, line: str, place: str) -> None:
    try:
        pattern, *words = shlex.split(line, comments=True)
    except ValueError as error:
        groups.refuse(place, f"cannot be split into words: {error}")
        return
    odd = [word for word in words if not re.match(r"\w+=", word)]
    if odd:
        groups.refuse(place, f"{odd[0]} is no NAME=VALUE")
        return
    pairs = (word.partition("=") for word in words)
    groups.add_hosts(group, pattern, {key: value_of(text) for key, _, text in pairs}, place)


def _child(groups: Groups, group: str, line: str, place: str) -> None:
    name = line.partition("#")[0].strip()
    if re.search(r"[\s=:\[\]]", name):
        groups.refuse(place, f"{name} is no name of a group")
        return
    groups.add_child(group, name)


def _variable(groups: Groups, group: str, line: str, place: str) -> None:
    key, equals, text = line.partition("=")
    if not equals:
        groups.refuse(place, f"{line} is no NAME=VALUE")
        return
    groups.group(group).variables[key.strip()] = value_of(text.strip())


def value_of(text: str) -> JsonValue:
    """A value as Ansible takes it: the Python literal that it is, else the text itself."""
    try:
        value: JsonValue = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return value if isinstance(value, bool | int | str | list | dict) else text


LINES: Mapping[str, Callable[[Groups, str, str, str], None]] = {
    "hosts": _host,
    "children": _child,
    "vars": _variable,
}
