"""The clusters that are measured."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue

from config import ClusterConfig
from validation import parse, with_environment

NAME = "bench"
HOST_CIDR = "10.230.0.0/24"
# kubeadm installs neither; its procedure ends with DNS.
ALIKE: Mapping[str, JsonValue] = {"metrics": "none", "logging": {"agent": "none"}}


def cluster(nodes: int, *, alike: bool = False) -> dict[str, JsonValue]:
    """A cluster config object: one master and so many nodes; `alike`: only what kubeadm has."""
    return {
        "name": NAME,
        "masters": {"count": 1},
        "pools": [{"name": "node", "count": nodes}],
        "network": {"hostCidr": HOST_CIDR},
        **({"addons": dict(ALIKE)} if alike else {}),
    }


def effective(keys: Mapping[str, JsonValue], environment: Mapping[str, str]) -> ClusterConfig:
    """The whole config, defaults filled in. Raises ConfigError."""
    return parse(with_environment(dict(keys), environment))
