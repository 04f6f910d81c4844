"""Hosts from an Ansible inventory: which groups are masters and nodes, which variables say what.

Read as data: what only Ansible could work out (expressions, encrypted values, plugins) is refused
where it matters, by host and variable. `ansible-inventory --list` prints an inventory worked out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic import JsonValue

from components.metal.inventories import documents, ini
from components.metal.inventories.found import Entry, Found
from components.metal.inventories.groups import Groups, Merged, Variables
from components.metal.inventories.jump import JumpError, bastion_of
from model import Role

# Kubespray's names first, then what people call them.
GROUPS: Mapping[Role, tuple[str, ...]] = {
    Role.MASTER: ("kube_control_plane", "control_plane", "masters"),
    Role.NODE: ("kube_node", "nodes", "workers"),
}
BASTION = "bastion"  # Kubespray's group of one, and the key of the config
# Key of a host in the config: the variables that say it; the first that is set wins.
LOGIN: Mapping[str, tuple[str, ...]] = {
    "address": ("ansible_host", "ansible_ssh_host"),
    "port": ("ansible_port", "ansible_ssh_port"),
    "user": ("ansible_user", "ansible_ssh_user"),
    "keyFile": ("ansible_ssh_private_key_file", "ansible_private_key_file"),
    "hostKey": ("kubernetes_anywhere_host_key",),
}
VARIABLES: Mapping[str, tuple[str, ...]] = {
    **LOGIN,
    "internalAddress": ("ip",),
    "pool": ("kubernetes_anywhere_pool",),
    "labels": ("kubernetes_anywhere_labels",),
    "arch": ("kubernetes_anywhere_arch",),
}
ARGUMENTS = ("ansible_ssh_common_args", "ansible_ssh_extra_args")
CONNECTION = "ansible_connection"
BY_SSH = (None, "ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh")
EXPRESSIONS = ("{{", "{%")
WORKED_OUT = (
    "write the value itself, or the file that `ansible-inventory -i INVENTORY --list` makes, if "
    "that has it"
)
NO_BASTION = "write metal.bastion in the config, and the arguments are not looked at"
_YAML = re.compile(r"---.*|[^\s\[]\S*:(\s.*)?")  # an inventory's first line


def parse(text: str) -> Found:
    """What an inventory says of hosts, in whichever of the three forms it is."""
    is_json = text.lstrip().startswith("{")
    groups = documents.read_json(text) if is_json else _read(text)
    if circle := groups.circle():
        groups.refuse(f"group {circle}", "is below itself")
        return Found(faults=tuple(groups.faults))
    merged = Merged(groups)
    roles = {
        role: {host: name for name in reversed(names) for host in merged.members(name)}
        for role, names in GROUPS.items()
    }
    ours = [host for host in groups.own if any(host in group for group in roles.values())]
    if not ours and not groups.faults:
        groups.refuse(
            "the file",
            f"has no host in {' or '.join(', '.join(names) for names in GROUPS.values())}; its "
            f"groups are {', '.join(sorted(groups.named))}",
            "add the groups, which may hold groups of yours: `[masters:children]`",
        )
    hosts = [_host(groups, host, merged.variables(host), roles) for host in ours]
    bastion = _bastion(groups, merged, ours)
    return Found(
        place="the hosts",
        hosts=tuple(hosts),
        others={BASTION: bastion} if bastion else {},
        faults=tuple(groups.faults),
        beside=() if is_json else ("group_vars", "host_vars"),
    )


def _read(text: str) -> Groups:
    lines = (line for line in text.splitlines() if line.strip() and line.strip()[0] not in "#;")
    is_yaml = _YAML.fullmatch(next(lines, ""))
    return documents.read_yaml(text) if is_yaml else ini.read(text)


def _host(
    groups: Groups, name: str, variables: Variables, roles: Mapping[Role, Mapping[str, str]]
) -> Entry:
    place = f"host {name}"
    found = {role: members[name] for role, members in roles.items() if name in members}
    if len(found) > 1:
        groups.refuse(
            place,
            f"is in {' and '.join(found.values())}, but a host is a master or a node",
            "take it out of one of the two",
        )
    if variables.get(CONNECTION) not in BY_SSH:
        groups.refuse(
            place,
            f"has {CONNECTION}: {variables[CONNECTION]}, but hosts are reached by SSH",
            "take it out of the groups of masters and nodes, or write ssh",
        )
    values, names = _values(groups, place, variables, VARIABLES)
    keys: dict[str, JsonValue] = {"name": name, "role": next(iter(found)).value, "address": name}
    return Entry(value=keys | values, place=place, names=names)


def _values(
    groups: Groups,
    place: str,
    variables: Variables,
    table: Mapping[str, tuple[str, ...]],
    about: str = "",
) -> tuple[dict[str, JsonValue], dict[str, str]]:
    """The keys that are set, and the place of each; one that is not understood is left out."""
    values: dict[str, JsonValue] = {}
    names: dict[str, str] = {}
    for key, words in table.items():
        word = next((word for word in words if variables.get(word) is not None), None)
        if word is None:
            continue
        names[key] = f"{place}, {word}"
        value = _plain(groups, names[key], variables[word], about)
        if value is not None:
            # A port may be text, which is all the same to Ansible.
            is_number = key == "port" and str(value).isdecimal()
            values[key] = int(str(value)) if is_number else value
    return values, names


def _plain(groups: Groups, place: str, value: JsonValue, about: str) -> JsonValue:
    """The value if it is plain; else None, and a fault."""
    if isinstance(value, dict) and documents.UNSAFE in value:
        return value[documents.UNSAFE]
    if isinstance(value, dict) and documents.VAULTED in value:
        groups.refuse(place, "is encrypted by Ansible Vault", WORKED_OUT, about)
        return None
    if any(mark in str(value) for mark in EXPRESSIONS):
        message = f"is the expression {value}, which only Ansible can work out"
        groups.refuse(place, message, WORKED_OUT, about)
        return None
    return value


def _bastion(groups: Groups, merged: Merged, ours: list[str]) -> Entry | None:
    """The one that the hosts' arguments name, else the one host of Kubespray's group."""
    ways = {host: _way(groups, host, merged.variables(host)) for host in ours}
    different = {str(way): host for host, way in ways.items()}
    if len(different) > 1:
        one, other, *_ = different.values()
        groups.refuse(
            f"hosts {one} and {other}",
            f"have different ways in {' and '.join(ARGUMENTS)}: one bastion leads to all hosts",
            NO_BASTION,
            BASTION,
        )
        return None
    way = next(iter(ways.values()), None)
    if way:
        return Entry(value=way, place=f"host {ours[0]}, {ARGUMENTS[0]}")
    return _grouped_bastion(groups, merged)


def _way(groups: Groups, host: str, variables: Variables) -> dict[str, JsonValue] | None:
    place = f"host {host}, {ARGUMENTS[0]}"
    said = [variables.get(word) or "" for word in ARGUMENTS]
    arguments = " ".join(str(_plain(groups, place, text, BASTION) or "") for text in said)
    try:
        return bastion_of(arguments)
    except JumpError as error:
        groups.refuse(place, f"{error}, which this program cannot follow", NO_BASTION, BASTION)
        return None


def _grouped_bastion(groups: Groups, merged: Merged) -> Entry | None:
    members = [*merged.members(BASTION)]
    if len(members) > 1:
        groups.refuse(
            f"group {BASTION}",
            f"has {len(members)} hosts, but one bastion leads to all hosts",
            "leave one in it, or write metal.bastion in the config",
            BASTION,
        )
    if len(members) != 1:
        return None
    place = f"host {members[0]}"
    values, names = _values(groups, place, merged.variables(members[0]), LOGIN, BASTION)
    return Entry(value={"address": members[0], **values}, place=place, names=names)
