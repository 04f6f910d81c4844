"""Everything that can be wrong with a cluster config, found at once, before any resource.

`parse` first lets the model judge each key. Then it takes the faulty keys out, fills in their
defaults and runs the checks across keys on what is left; a verdict that rests on a key that was
taken out is dropped. So one typo does not hide an overlap, and no default is ever blamed.
"""

from __future__ import annotations

import json
import os
from itertools import chain
from typing import TYPE_CHECKING

import pulumi
from pulumi.config import ConfigTypeError
from pydantic import ValidationError

from config import ClusterConfig
from validation.addons import ADDON_CHECKS
from validation.components import COMPONENT_CHECKS
from validation.flags import FLAGS, Tables
from validation.hosts import HOST_CHECKS
from validation.networks import NETWORK_CHECKS
from validation.problems import ConfigError, Finding, Loc, Problem
from validation.translate import meant, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pydantic import JsonValue

__all__ = [
    "CLUSTER_KEY",
    "MIRROR_VARIABLE",
    "ConfigError",
    "Problem",
    "load",
    "parse",
    "with_environment",
]

PROJECT = "kubernetes-anywhere"
KEY = "cluster"
CLUSTER_KEY = f"{PROJECT}:{KEY}"  # as a stack file has it
MIRROR_VARIABLE = "KUBERNETES_ANYWHERE_MIRROR"

CHECKS = (*NETWORK_CHECKS, *HOST_CHECKS, *ADDON_CHECKS)


def load() -> ClusterConfig:
    """The cluster config of the stack at hand, or `ConfigError`."""
    try:
        raw = pulumi.Config(PROJECT).get_object(KEY)
    except ConfigTypeError:
        raise ConfigError([_not_an_object("text that is no JSON")]) from None
    return parse(with_environment(raw, os.environ))


def with_environment(raw: JsonValue, environment: Mapping[str, str]) -> JsonValue:
    """`raw`, with the mirror that the environment names where the config says nothing of one.

    So no stack file needs to hold a path that exists on one person's computer only.
    """
    directory = environment.get(MIRROR_VARIABLE)
    keys = {} if raw is None else raw
    if not directory or not isinstance(keys, dict) or "mirror" in keys:
        return raw
    return {**keys, "mirror": {"directory": directory}}


def parse(raw: JsonValue, flags: Path = FLAGS) -> ClusterConfig:
    """The config that `raw` describes, or `ConfigError` with every problem."""
    keys = {} if raw is None else raw
    if not isinstance(keys, dict):
        raise ConfigError([_not_an_object(keys)])
    problems, dropped, config = _judge_keys(keys)
    findings = chain(
        chain.from_iterable(check(config) for check in CHECKS),
        chain.from_iterable(
            check(config, Tables(flags, config.release)) for check in COMPONENT_CHECKS
        ),
    )
    problems += [finding.problem for finding in _undisturbed(findings, dropped)]
    if problems:
        raise ConfigError(sorted(problems, key=lambda problem: problem.path))
    return config


def _not_an_object(value: JsonValue) -> Problem:
    return Problem(
        CLUSTER_KEY, value, "is no object", "write keys and values, as docs/config.md has them"
    )


def _undisturbed(findings: Iterator[Finding], dropped: list[Loc]) -> Iterator[Finding]:
    return (f for f in findings if not any(f.is_about(loc) for loc in dropped))


def _judge_keys(raw: dict[str, JsonValue]) -> tuple[list[Problem], list[Loc], ClusterConfig]:
    """The model's problems, the keys that they cost, and the config without those keys."""
    problems: list[Problem] = []
    dropped: list[Loc] = []
    rest = json.dumps(raw, default=str)
    while True:
        try:
            # JSON, since from Python a strict model takes no list for a tuple.
            config = ClusterConfig.model_validate_json(rest, by_alias=True, by_name=False)
        except ValidationError as error:
            errors = error.errors(include_url=False)
        else:
            return problems, dropped, config
        # Later rounds only meet what the dropping itself caused, such as a missing name.
        problems = problems or [problem_of(item) for item in errors]
        document = json.loads(rest)
        for item in errors:
            loc = _droppable(item["type"], item["loc"])
            _drop(document, loc)
            dropped += _spoilt(item["type"], loc)
        rest = json.dumps(document)


def _droppable(kind: str, loc: Loc) -> Loc:
    """The key to take out: of a list never one item, since that would shift the others."""
    if kind == "missing":
        loc = loc[:-1]
    while isinstance(loc[-1], int):
        loc = loc[:-1]
    return loc


def _spoilt(kind: str, loc: Loc) -> list[Loc]:
    """The keys whose values are now unknown: a misspelt key spoils the one that was meant."""
    intended = meant(loc) if kind == "extra_forbidden" else None
    return [loc, intended] if intended else [loc]


def _drop(document: dict[str, JsonValue], loc: Loc) -> None:
    """Take the key out, unless what holds it has gone already."""
    *path, last = loc
    holder: JsonValue = document
    for part in path:
        holder = _child(holder, part)
    if isinstance(holder, dict):
        holder.pop(str(last), None)


def _child(holder: JsonValue, part: str | int) -> JsonValue:
    if isinstance(holder, dict):
        return holder.get(str(part))
    if isinstance(holder, list) and isinstance(part, int):
        return holder[part]
    return None
