"""Checks of what the user hands through to a component: flags, and fields of the kubelet's config.

A kubelet with an unknown flag exits at once and for ever, one with an unknown field runs without
it: neither would be noticed before the cluster waits for its nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from findings import Finding, Loc
from validation.owned import FIELDS, FLAGS_OF, NEEDED_ITEMS
from validation.problems import listing, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pydantic import JsonValue

    from config import ClusterConfig
    from model import Component, Kubelet
    from validation.flags import Tables

Words = tuple[str, str]

VERSION: Loc = ("kubernetesVersion",)
KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int,), "a whole number"),
    "number": ((int, float), "a number"),
    "string": ((str,), "a text"),
    "duration": ((str,), "a duration, such as 1m30s"),
    "list": ((list,), "a list"),
    "object": ((dict,), "an object"),
}


def _components(config: ClusterConfig) -> Mapping[Loc, tuple[str, Component | Kubelet]]:
    """Everything that takes flags: where it stands, and the program that gets them."""
    return {
        ("apiserver",): ("kube-apiserver", config.apiserver),
        ("controllerManager",): ("kube-controller-manager", config.controller_manager),
        ("scheduler",): ("kube-scheduler", config.scheduler),
        ("etcd",): ("etcd", config.etcd),
        **{loc: ("kubelet", kubelet) for loc, kubelet in _kubelets(config).items()},
    }


def _kubelets(config: ClusterConfig) -> Mapping[Loc, Kubelet]:
    return {
        ("kubelet",): config.kubelet,
        ("masters", "kubelet"): config.masters.kubelet,
        **{("pools", index, "kubelet"): pool.kubelet for index, pool in enumerate(config.pools)},
    }


def extra_args(config: ClusterConfig, tables: Tables) -> Iterator[Finding]:
    """Every flag is known to that version, written without dashes, and not one of ours."""
    for loc, (component, settings) in _components(config).items():
        for flag, value in settings.extra_args.items():
            at = (*loc, "extraArgs", flag)
            if words := _flag_form_fault(component, flag, value):
                yield Finding(at, value, *words)
            elif words := _unknown_flag(component, flag, tables):
                yield Finding(at, value, *words, rests_on=(VERSION,))


def _flag_form_fault(component: str, flag: str, value: str) -> Words | None:
    """What is wrong in any version."""
    if flag.startswith("-"):
        return "begins with dashes, which we add", f"write {flag.lstrip('-')}"
    return FLAGS_OF[component].get(flag) or _item_fault(component, flag, value)


def _unknown_flag(component: str, flag: str, tables: Tables) -> Words | None:
    known = tables.flags(component)
    if flag not in known:
        close = nearest(flag, known)
        advice = f"write {close}, if that was meant, or leave it out" if close else "leave it out"
        return f"is no flag of {tables.version(component)}, which would exit", advice
    return None


def _item_fault(component: str, flag: str, value: str) -> Words | None:
    needed = NEEDED_ITEMS.get((component, flag), ())
    lost = [item for item in needed if item not in value.split(",")]
    if not lost:
        return None
    complete = ",".join((*lost, *filter(None, value.split(","))))
    return f"takes the place of ours, but lacks {listing(lost, 'and')}", f"write {complete}"


def kubelet_fields(config: ClusterConfig, tables: Tables) -> Iterator[Finding]:
    """Every field exists in that version, has a value of its kind, and is not one of ours."""
    for loc, kubelet in _kubelets(config).items():
        for field, value in kubelet.config.items():
            at = (*loc, "config", field)
            if field in FIELDS:
                yield Finding(at, value, *FIELDS[field])
            elif words := _field_fault(field, value, tables):
                yield Finding(at, value, *words, rests_on=(VERSION,))


def _field_fault(field: str, value: JsonValue, tables: Tables) -> Words | None:
    known = tables.kubelet_fields()
    if field not in known:
        close = nearest(field, list(known))
        advice = f"write {close}, if that was meant, or leave it out" if close else "leave it out"
        return f"is no field of KubeletConfiguration in {tables.version('kubelet')}", advice
    return _kind_fault(known[field], value)


def _kind_fault(kind: str, value: JsonValue) -> Words | None:
    types, words = KINDS[kind]
    # type() and not isinstance(): to Python, true is a whole number.
    return None if type(value) in types else (f"must be {words}", f"write {words}")


COMPONENT_CHECKS: tuple[Callable[[ClusterConfig, Tables], Iterator[Finding]], ...] = (
    extra_args,
    kubelet_fields,
)
