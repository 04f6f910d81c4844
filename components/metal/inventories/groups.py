"""An Ansible inventory once it is read: hosts, groups of groups, and whose variables win.

As Ansible has it (docs, "How variables are merged"): a host's own variables win over those of its
groups, those of a child group over its parents', and of groups side by side the last by name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import JsonValue

from components.metal.inventories.found import Fault
from components.metal.inventories.patterns import PatternError, hosts_of

ALL = "all"
PRIORITY = "ansible_group_priority"
FIX = "put it right, or write what `ansible-inventory -i INVENTORY --list` prints"
Variables = Mapping[str, JsonValue]


@dataclass(slots=True)
class Group:
    """What is said of one group, wherever it is said."""

    hosts: dict[str, None] = field(default_factory=dict)  # in order
    children: dict[str, None] = field(default_factory=dict)
    variables: dict[str, JsonValue] = field(default_factory=dict)


@dataclass(slots=True)
class Groups:
    """A whole inventory, as a reader of a format puts it together."""

    named: dict[str, Group] = field(default_factory=lambda: {ALL: Group()})
    own: dict[str, dict[str, JsonValue]] = field(default_factory=dict)  # each host's variables
    faults: list[Fault] = field(default_factory=list)

    def group(self, name: str) -> Group:
        """The group of that name, which there is from now on."""
        return self.named.setdefault(name, Group())

    def add_child(self, group: str, child: str) -> None:
        """A group within another."""
        self.group(group).children[child] = None
        self.group(child)

    def add_host(self, group: str, name: str, variables: Variables) -> None:
        """A host of a group, and variables of its own."""
        self.group(group).hosts[name] = None
        self.own.setdefault(name, {}).update(variables)

    def add_hosts(self, group: str, pattern: str, variables: Variables, place: str) -> None:
        """Hosts of a group, by one pattern of names."""
        try:
            names, port = hosts_of(pattern)
        except PatternError as error:
            self.refuse(place, f"{pattern} {error}")
            return
        for name in names:
            is_new = name not in self.own  # else its port is known already, Ansible thinks
            ports: Variables = {"ansible_port": port} if port and is_new else {}
            self.add_host(group, name, {**ports, **variables})

    def refuse(self, place: str, message: str, remedy: str = FIX, key: str = "") -> None:
        """Something that cannot be understood."""
        self.faults.append(Fault(place=place, message=message, remedy=remedy, key=key))

    def circle(self) -> str | None:
        """A group that is below itself, if there is one: `Merged` would not end then."""
        return next((name for name in self.named if name in self._below(name, set())), None)

    def _below(self, name: str, seen: set[str]) -> set[str]:
        for child in self.named[name].children:
            if child not in seen:
                seen.add(child)
                self._below(child, seen)
        return seen


class Merged:
    """Who is in each group, and what is said of each host."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._members = {name: dict.fromkeys(self._hosts(name)) for name in groups.named}
        self._depths: dict[str, int] = {}
        self._order = sorted(groups.named, key=self._rank)

    def members(self, group: str) -> Mapping[str, None]:
        """The hosts of a group and of all groups below it, in order; none if there is no group."""
        return self._members.get(group, {})

    def variables(self, host: str) -> Variables:
        """All that is said of a host."""
        merged: dict[str, JsonValue] = {}
        for name in self._order:
            if name == ALL or host in self._members[name]:
                merged |= self._groups.named[name].variables
        return merged | self._groups.own[host]

    def _hosts(self, name: str) -> Iterator[str]:
        yield from self._groups.named[name].hosts
        for child in self._groups.named[name].children:
            yield from self._hosts(child)

    def _rank(self, name: str) -> tuple[int, int, str]:
        priority = str(self._groups.named[name].variables.get(PRIORITY, ""))
        return self._depth(name), int(priority) if priority.isdecimal() else 1, name

    def _depth(self, name: str) -> int:
        """How far below `all`, by the longest way."""
        if name not in self._depths:
            named = self._groups.named
            parents = [parent for parent, group in named.items() if name in group.children]
            self._depths[name] = 0 if name == ALL else 1 + max(map(self._depth, parents), default=0)
        return self._depths[name]
