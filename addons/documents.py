"""Kubernetes objects that others wrote: read from YAML, and all that is wrong with them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

import yaml

from addons.files import LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from addons.objects import Manifest

# What makes the addon-manager take an object for its own, and delete it if no file of its has it.
CLAIMS = (*LABELS, "kubernetes.io/cluster-service")
ADVICE = "write a file of Kubernetes objects, documents parted by ---"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # chosen when it runs
    """YAML as Kubernetes reads it: a date is a text, and so is `=`."""


_TEXTS = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag not in _TEXTS]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


class Fault(NamedTuple):
    """What is wrong with a document, and what to write instead."""

    message: str
    remedy: str


class Documents(NamedTuple):
    """What a file holds, and what is wrong with it."""

    objects: list[Manifest]
    faults: list[Fault]


def read(data: bytes) -> Documents:
    """The objects of a YAML file, in its order; those of a List one by one."""
    found = Documents([], [])
    try:
        documents = list(yaml.load_all(data, Loader=_Loader))
        # What the file says once with an anchor must not become one shared Python object.
        documents = json.loads(json.dumps(documents))
    except yaml.YAMLError as error:
        found.faults.append(Fault(f"is no YAML: {' '.join(str(error).split())}", ADVICE))
        return found
    except (TypeError, ValueError) as error:
        found.faults.append(Fault(f"holds what no object can: {error}", ADVICE))
        return found
    for number, document in enumerate(documents, start=1):
        for place, item in _items(document, f"document {number}"):
            if not isinstance(item, dict):
                found.faults.append(Fault(f"{place} is no object", ADVICE))
            elif fault := _fault(item, place):
                found.faults.append(fault)
            else:
                found.objects.append(item)
    if not any(found):
        found.faults.append(Fault("holds no object", ADVICE))
    return found


def _items(document: object, place: str) -> Iterator[tuple[str, object]]:
    """A document as it is, a List item by item, nothing of an empty one."""
    if document is None:
        return
    if isinstance(document, dict) and str(document.get("kind")).endswith("List"):
        items = document.get("items")
        if isinstance(items, list):
            yield from ((f"{place}, item {at}", item) for at, item in enumerate(items, start=1))
            return
    yield place, document


def _fault(item: Manifest, place: str) -> Fault | None:
    for key in ("apiVersion", "kind"):
        if not (isinstance(item.get(key), str) and item[key]):
            return Fault(f"{place} has no {key}", f"add {key} to it")
    metadata = item.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if not (isinstance(name, str) and name):
        return Fault(f"{place} ({item['kind']}) has no metadata.name", "add one to it")
    for label in CLAIMS:
        if label in (item["metadata"].get("labels") or ()):
            what = f"{place} ({item['kind']} {name}) has the label {label}"
            return Fault(f"{what}, by which the addon-manager would own it", "take the label out")
    return None
