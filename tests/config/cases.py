"""How tests write a config, and the mistakes that it may have."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from validation import ConfigError, Problem, parse

if TYPE_CHECKING:
    from pathlib import Path

Raw = dict[str, Any]

OLD, NEW = "v1.36.3", "v1.37.2"
CATALOGUE = {
    "release": NEW,
    "images": {"registry.k8s.io/pause:3.10.2": "sha256:aa"},
    "archives": {"runc.amd64": "bb"},
    "unavailable": {"docker.io/fluent/x:1": "no source"},
}
NAME_WORDS = "lower-case letters, digits and dashes, a letter first and no dash last"


def problems(raw: object, flags: Path) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        parse(json.loads(json.dumps(raw)), flags)
    error: ConfigError = caught.value
    return error.problems


class Bad(NamedTuple):
    """One mistake: what is written, and the problem that has to come of it, word for word."""

    raw: object
    path: str
    value: object
    message: str  # a part of it
    remedy: str


def network(**keys: object) -> Raw:
    return {"network": keys}


def pools(*items: object) -> Raw:
    return {"pools": [*items]}


def pool(**keys: object) -> Raw:
    return pools({"name": "node", **keys})


def args(component: str, flag: str, value: object) -> Raw:
    return {component: {"extraArgs": {flag: value}}}


def field(name: str, value: object) -> Raw:
    return {"kubelet": {"config": {name: value}}}
