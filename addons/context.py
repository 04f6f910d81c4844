"""What an add-on is rendered from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from config import ClusterConfig
    from interface import Traits

# Phase 2 writes it on every host: its own API server on a master, the endpoint on a node, and the
# service account token of whichever pod reads it. What must run before Services do goes through it.
IN_CLUSTER_KUBECONFIG = "/etc/kubernetes/in-cluster.kubeconfig"


@dataclass(frozen=True, kw_only=True, slots=True)
class AddonContext:
    """Everything that the objects depend on: plain values, known before there is a cluster."""

    config: ClusterConfig
    traits: Traits
    images: Mapping[str, str]  # by the name that the version table has for it
