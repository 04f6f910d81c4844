"""Ansible inventories as documents: YAML, and the JSON that `ansible-inventory --list` prints."""

from __future__ import annotations

import json
from typing import Any

import yaml

from components.metal.inventories.groups import ALL, Groups

VAULTED = "__ansible_vault"  # the key of an encrypted value, as Ansible's own JSON has it
UNSAFE = "__ansible_unsafe"  # of a text in which nothing is to be worked out
META = "_meta"
SECTIONS = ("hosts", "children", "vars")
Document = Any  # what JSON and YAML can hold, before anybody has looked at it


class _Loader(yaml.SafeLoader):
    """Plain YAML and Ansible's two tags, which become what its JSON has for them."""


def _vaulted(loader: _Loader, node: yaml.ScalarNode) -> Document:
    return {VAULTED: loader.construct_scalar(node)}


def _unsafe(loader: _Loader, node: yaml.ScalarNode) -> Document:
    return {UNSAFE: loader.construct_scalar(node)}


for _tag in ("!vault", "!vault-encrypted"):
    _Loader.add_constructor(_tag, _vaulted)
_Loader.add_constructor("!unsafe", _unsafe)


def read_yaml(text: str) -> Groups:
    """An inventory of nested groups; what is not understood is a fault of it."""
    groups = Groups()
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506 (a SafeLoader with two tags more)
    except yaml.YAMLError as error:
        groups.refuse("the file", f"is no YAML: {' '.join(str(error).split())}")
        return groups
    if isinstance(document, dict):
        _children(groups, document, None)
    else:
        groups.refuse("the file", "has no groups by name")
    return groups


def _children(groups: Groups, document: dict[str, Document], parent: str | None) -> None:
    for name, body in document.items():
        if parent is not None:
            groups.add_child(parent, str(name))
        _group(groups, str(name), body)


def _group(groups: Groups, name: str, body: Document) -> None:
    place = f"group {name}"
    sections = _mapping(groups, body, place, "a group")
    for key in sections.keys() - set(SECTIONS):
        groups.refuse(place, f"{key} is none of {', '.join(SECTIONS)}")
    parts = {
        key: _mapping(groups, sections.get(key), f"{place}, {key}", key.rstrip("s"))
        for key in SECTIONS
    }
    for pattern, variables in parts["hosts"].items():
        own = _mapping(groups, variables, f"host {pattern}", "variables")
        groups.add_hosts(name, str(pattern), own, place)
    groups.group(name).variables.update(parts["vars"])
    _children(groups, parts["children"], name)


def _mapping(groups: Groups, found: Document, place: str, what: str) -> dict[str, Document]:
    """The mapping; empty where nothing stands."""
    if isinstance(found, dict):
        return found
    if found is not None:
        groups.refuse(place, f"has no names with values, as {what} should")
    return {}


def read_json(text: str) -> Groups:
    """What `ansible-inventory --list` prints; what is not understood is a fault of it."""
    groups = Groups()
    try:
        document = json.loads(text)
    except ValueError as error:
        groups.refuse("the file", f"is no JSON: {error}")
        return groups
    for name, body in document.items():
        if name != META:
            _listed(groups, name, body)
    meta = _mapping(groups, document.get(META), META, META)
    hosts = _mapping(groups, meta.get("hostvars"), META, "hostvars")
    for host, variables in hosts.items():
        groups.add_host(ALL, host, _mapping(groups, variables, f"host {host}", "variables"))
    return groups


def _listed(groups: Groups, name: str, body: Document) -> None:
    place = f"group {name}"
    parts = _mapping(groups, body, place, "a group")
    groups.group(name).variables.update(_mapping(groups, parts.get("vars"), place, "vars"))
    for child in _names(groups, parts.get("children"), place):
        groups.add_child(name, child)
    for host in _names(groups, parts.get("hosts"), place):
        groups.add_host(name, host, {})


def _names(groups: Groups, found: Document, place: str) -> list[str]:
    """The list of names; empty where nothing stands."""
    if isinstance(found, list) and all(isinstance(item, str) for item in found):
        return found
    if found is not None:
        groups.refuse(place, "has something else than a list of names")
    return []
