"""Names and tags of what is made in a cloud."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from config import ClusterConfig

# On everything that is made: what one looks for when something is left.
CLUSTER_TAG = "kubernetes-anywhere-cluster"
_HASH = 6


def physical(name: str, limit: int) -> str:
    """The name itself, or as much of it as fits and a hash of the whole: short, unique, the same.

    Explicit, since random endings would make a node hard to find in a cloud's console. What has
    such a name is deleted before its replacement is made.
    """
    if len(name) <= limit:
        return name
    ending = sha256(name.encode()).hexdigest()[:_HASH]
    return f"{name[: limit - _HASH - 1].rstrip('-')}-{ending}"


def tags(config: ClusterConfig) -> Mapping[str, str]:
    """The tags of whatever is made for the cluster."""
    return {**config.tags, CLUSTER_TAG: config.name}
