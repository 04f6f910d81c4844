"""The inputs of the three types, and the defaults of a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airgap.plugins.command.shapes import (
    ASSET,
    FLAG,
    INTEGER,
    LIST,
    NUMBER,
    TEXT,
    TEXT_MAP,
    TEXTS,
    Record,
    Shape,
)
from airgap.plugins.values import Properties, Secret, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDPOINT: Mapping[str, Shape] = {
    "host": TEXT,
    "port": NUMBER,
    "user": TEXT,
    "password": TEXT,
    "privateKey": TEXT,
    "privateKeyPassword": TEXT,
    "agentSocketPath": TEXT,
    "dialErrorLimit": INTEGER,
    "perDialTimeout": INTEGER,
    "hostKey": TEXT,
}
_PROXY = Record("remote.ProxyConnection", _ENDPOINT, frozenset({"host"}))
_CONNECTION = Record("remote.Connection", {**_ENDPOINT, "proxy": _PROXY}, frozenset({"host"}))

_COMMAND: Mapping[str, Shape] = {
    "create": TEXT,
    "update": TEXT,
    "delete": TEXT,
    "stdin": TEXT,
    "logging": TEXT,
    "triggers": LIST,
    "environment": TEXT_MAP,
    "addPreviousOutputInEnv": FLAG,
}
LOCAL = Record(
    "local.CommandInputs",
    {
        **_COMMAND,
        "interpreter": TEXTS,
        "dir": TEXT,
        "assetPaths": TEXTS,
        "archivePaths": TEXTS,
    },
)
REMOTE = Record(
    "remote.CommandInputs", {**_COMMAND, "connection": _CONNECTION}, frozenset({"connection"})
)
COPY = Record(
    "remote.CopyToRemoteInputs",
    {"connection": _CONNECTION, "source": ASSET, "remotePath": TEXT, "triggers": LIST},
    frozenset({"connection", "source", "remotePath"}),
)

CONNECTION_DEFAULTS: Mapping[str, Value] = {
    "port": 22,
    "user": "root",
    "dialErrorLimit": 10,
    "perDialTimeout": 15,
}


def complete(inputs: Properties) -> Properties:
    """Drop nulls, give a connection its defaults, and make a secret of it."""
    given = _without_nulls(inputs)
    if "connection" in given:
        connection = given["connection"]
        given["connection"] = Secret(_filled(_bare(connection)))
    return given


def _filled(connection: Value) -> Value:
    if not isinstance(connection, dict):
        return connection
    members = _without_nulls({**CONNECTION_DEFAULTS, **_without_nulls(connection)})
    if "proxy" in members:
        proxy = members["proxy"]
        filled = _filled(_bare(proxy))
        members["proxy"] = Secret(filled) if isinstance(proxy, Secret) else filled
    return members


def _without_nulls(members: Properties) -> Properties:
    return {name: member for name, member in members.items() if member is not None}


def _bare(value: Value) -> Value:
    return value.value if isinstance(value, Secret) else value
