"""Kubernetes objects as plain data: read from `manifests/`, edited, ordered and written as YAML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

import yaml

from interface import WORKLOAD_KINDS, Workload

Manifest = dict[str, Any]

CHECKSUM_ANNOTATION = "kubernetes-anywhere/config-sha256"
_PREPARATIONS = (
    "Namespace",
    "CustomResourceDefinition",
    "ServiceAccount",
    "Secret",
    "ClusterRole",
    "Role",
    "ClusterRoleBinding",
    "RoleBinding",
    "ConfigMap",
)
_BINDINGS = ("ClusterRoleBinding", "RoleBinding")


def text(name: str, values: Mapping[str, str]) -> str:
    """A file of `manifests/` with its `$placeholders` filled in; an unknown one is an error."""
    template = files(__package__).joinpath("manifests", name).read_text(encoding="utf-8")
    return Template(template).substitute(values)


def load(name: str, values: Mapping[str, str]) -> list[Manifest]:
    """The objects of a file of `manifests/`."""
    objects = list(yaml.safe_load_all(text(name, values)))
    # What the file says once with an anchor must not become one shared Python object.
    return json.loads(json.dumps(objects))  # type: ignore[no-any-return]


def find(objects: Iterable[Manifest], kind: str, name: str) -> Manifest:
    """The object of that kind and name."""
    return next(o for o in objects if o["kind"] == kind and o["metadata"]["name"] == name)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Manifest:
    """`base` with the fields of `over`, which wins; objects in both are merged in turn."""
    result = dict(base)
    for key, value in over.items():
        ours = result.get(key)
        if isinstance(ours, Mapping) and isinstance(value, Mapping):
            result[key] = merged(ours, value)
        else:
            result[key] = value
    return result


def amend(config_map: Manifest, key: str, changes: Mapping[str, Any]) -> None:
    """Merge fields into the YAML or JSON document that a ConfigMap holds under `key`."""
    if not changes:
        return  # As it stands in the file, comments and all.
    document = merged(yaml.safe_load(config_map["data"][key]), changes)
    if key.endswith(".json"):
        config_map["data"][key] = json.dumps(document, indent=2) + "\n"
    else:
        config_map["data"][key] = yaml.safe_dump(document, sort_keys=False)


def stamped(objects: list[Manifest]) -> list[Manifest]:
    """The objects, pod templates annotated with a checksum of the ConfigMaps that they mount.

    So pods are replaced when only their configuration has changed.
    """
    data = {name_of(o): o.get("data") for o in objects if o["kind"] == "ConfigMap"}
    return [_with_checksum(o, data) for o in objects]


def digest(value: object) -> str:
    """A checksum of plain data."""
    return sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _with_checksum(workload: Manifest, data: Mapping[str, Any]) -> Manifest:
    names = [f"{namespace_of(workload)}/{name}" for name in config_maps(workload)]
    used = [data[name] for name in names if name in data]  # a user's may be made by others
    if not used:
        return workload
    annotation = {"metadata": {"annotations": {CHECKSUM_ANNOTATION: digest(used)}}}
    return merged(workload, {"spec": {"template": annotation}})


def labelled(manifest: Manifest, labels: Mapping[str, str]) -> Manifest:
    """The object with more labels, on itself and not on what it makes."""
    return merged(manifest, {"metadata": {"labels": labels}})


def namespace_of(manifest: Manifest) -> str:
    """The namespace that the object is in; empty when it is in none."""
    return str(manifest["metadata"].get("namespace", ""))


def name_of(manifest: Manifest) -> str:
    """`NAMESPACE/NAME`, or `NAME` of an object that is in none: unique within its kind."""
    namespace, name = namespace_of(manifest), manifest["metadata"]["name"]
    return f"{namespace}/{name}" if namespace else str(name)


def pod_spec(manifest: Manifest) -> Manifest:
    """What the object makes pods from; empty when it makes none."""
    found: object = manifest
    for key in ("spec", "template", "spec"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def workloads(objects: Iterable[Manifest]) -> tuple[Workload, ...]:
    """Those of the objects whose pods run for good."""
    return tuple(
        Workload(kind=o["kind"], namespace=namespace_of(o), name=o["metadata"]["name"])
        for o in objects
        if o["apiVersion"] == "apps/v1" and o["kind"] in WORKLOAD_KINDS
    )


def config_maps(manifest: Manifest) -> list[str]:
    """Names of the ConfigMaps that the object's pods mount."""
    volumes = pod_spec(manifest).get("volumes", [])
    return [volume["configMap"]["name"] for volume in volumes if "configMap" in volume]


def ordered(objects: Iterable[Manifest]) -> list[Manifest]:
    """Namespaces and types first, then rights and configuration, then what runs; else as given."""
    last = len(_PREPARATIONS)
    rank = {kind: index for index, kind in enumerate(_PREPARATIONS)}
    return sorted(objects, key=lambda o: rank.get(o["kind"], last))


def needs(manifest: Manifest, other: Manifest) -> bool:
    """Whether `other` has to exist before this object is of use.

    Never a Service or a PodDisruptionBudget: pods work without, and these are of no use before.
    """
    if other["kind"] == "Namespace":
        return name_of(other) == namespace_of(manifest)
    if other["kind"] == "CustomResourceDefinition":
        return _defines(other["spec"], manifest)
    spec, namespace = pod_spec(manifest), namespace_of(manifest)
    if not spec:
        return False
    account = spec.get("serviceAccountName", "default")
    if other["kind"] in _BINDINGS:
        subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
        return any(subject.items() <= one.items() for one in other.get("subjects") or ())
    wanted = {"ServiceAccount": [account], "ConfigMap": config_maps(manifest)}
    return other["metadata"]["name"] in wanted.get(other["kind"], ()) and (
        namespace_of(other) == namespace
    )


def _defines(definition: Mapping[str, Any], manifest: Manifest) -> bool:
    group = str(manifest["apiVersion"]).partition("/")[0]
    return (group, manifest["kind"]) == (definition["group"], definition["names"]["kind"])


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks, so that a person can read them."""


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _represent_text)


def to_yaml(objects: Iterable[Manifest]) -> str:
    """The objects as one YAML file."""
    return yaml.dump_all(objects, Dumper=_Dumper, sort_keys=False, width=100, explicit_start=True)
