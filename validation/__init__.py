"""Everything that can be wrong with a cluster config, found at once, before any resource.

`parse` first lets the model judge each key. Then it takes the faulty keys out, fills in their
defaults and runs the checks across keys on what is left; a verdict that rests on a key that was
taken out is dropped. So one typo does not hide an overlap, and no default is ever blamed.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import pulumi
from pulumi.config import ConfigTypeError
from pydantic import ValidationError

from components import complete, expand
from components import rules as platform_rules
from config import ClusterConfig
from findings import Finding, Loc
from validation.addons import ADDON_CHECKS
from validation.certificates import CERTIFICATE_CHECKS
from validation.components import COMPONENT_CHECKS
from validation.flags import FLAGS, Tables
from validation.hosts import HOST_CHECKS
from validation.networks import NETWORK_CHECKS
from validation.podnetwork import POD_NETWORK_CHECKS
from validation.problems import ConfigError, Problem, as_problem
from validation.translate import meant, problem_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from pydantic import JsonValue

__all__ = [
    "CLUSTER_KEY",
    "DEFAULTS_VARIABLE",
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
DEFAULTS_VARIABLE = "KUBERNETES_ANYWHERE_DEFAULTS"  # JSON: a cluster config object, or part of one

CHECKS = (
    *NETWORK_CHECKS,
    *POD_NETWORK_CHECKS,
    *HOST_CHECKS,
    *CERTIFICATE_CHECKS,
    *ADDON_CHECKS,
)


def load() -> ClusterConfig:
    """The cluster config of the stack at hand, or `ConfigError`."""
    try:
        raw = pulumi.Config(PROJECT).get_object(KEY)
    except ConfigTypeError:
        raise ConfigError([_not_an_object("text that is no JSON")]) from None
    return parse(with_environment(raw, os.environ))


def with_environment(raw: JsonValue, environment: Mapping[str, str]) -> JsonValue:
    """`raw`, completed by what the environment says.

    So no stack file needs to hold what is true on one person's computer only: where a mirror is, or
    this computer's public address. A key of the config wins; lists, such as those of who may log
    in, are joined. Raises ConfigError.
    """
    keys = {} if raw is None else raw
    if not isinstance(keys, dict):
        return raw
    directory = environment.get(MIRROR_VARIABLE)
    mirror: JsonValue = {"mirror": {"directory": directory}} if directory else {}
    defaults = _merged(mirror, _defaults(environment.get(DEFAULTS_VARIABLE)))
    merged = _merged(defaults, keys)
    if "mirror" in keys and isinstance(merged, dict):  # it is one thing, or none
        merged["mirror"] = keys["mirror"]
    return merged or raw


def _defaults(text: str | None) -> JsonValue:
    try:
        found: JsonValue = json.loads(text or "{}")
    except json.JSONDecodeError:
        found = text
    if not isinstance(found, dict):
        problem = "is no JSON object"
        raise ConfigError([Problem(DEFAULTS_VARIABLE, found, problem, "unset it, or write one")])
    return found


def _merged(base: JsonValue, over: JsonValue) -> JsonValue:
    if isinstance(base, dict) and isinstance(over, dict):
        both = {key: _merged(base[key], over[key]) for key in base.keys() & over.keys()}
        return {**base, **over, **both}
    if isinstance(base, list) and isinstance(over, list):
        return [*over, *(item for item in base if item not in over)]
    return over


def parse(raw: JsonValue, flags: Path = FLAGS) -> ClusterConfig:
    """The config that `raw` describes, or `ConfigError` with every problem."""
    keys = {} if raw is None else raw
    if not isinstance(keys, dict):
        raise ConfigError([_not_an_object(keys)])
    expansion = expand(keys)
    problems, dropped, judged = _judge_keys(expansion.keys)
    dropped += expansion.unknown
    config = complete(judged)
    findings = chain(
        chain.from_iterable(check(config) for check in CHECKS),
        chain.from_iterable(
            check(config, Tables(flags, config.release)) for check in COMPONENT_CHECKS
        ),
        platform_rules(judged),
    )
    told = chain(expansion.findings, _undisturbed(findings, dropped))
    problems += [as_problem(finding) for finding in told]
    if problems:
        placed = [replace(problem, path=expansion.place(problem.path)) for problem in problems]
        raise ConfigError(sorted(placed, key=lambda problem: problem.path))
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
