"""Cilium: carries packets between pods in VXLAN, by programs in the kernel; keeps policies.

Its makers publish a chart and no file of objects: what is ours is in the chart's values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.amend import with_images
from interface import IN_CLUSTER_KUBECONFIG, VXLAN_PORT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from addons.context import AddonContext
    from addons.objects import Manifest
    from config import ClusterConfig

IMAGES = ("cilium", "cilium-operator")
NAMESPACE = "kube-system"


def values(config: ClusterConfig) -> Mapping[str, JsonValue]:
    """The chart's values: no more than what carries pods' packets, with this cluster's network."""
    return {
        # Not through the API's Service: that would have to wait for kube-proxy.
        "kubeConfigPath": IN_CLUSTER_KUBECONFIG,
        "kubeProxyReplacement": "true" if config.network.proxy_mode == "none" else "false",
        # Each host's piece of the pods' range is the one that Kubernetes gave it.
        "ipam": {"mode": "kubernetes"},
        "routingMode": "tunnel",  # no cloud carries packets to pods' addresses
        "tunnelProtocol": "vxlan",
        "tunnelPort": VXLAN_PORT,
        "cluster": {"name": config.name},
        # The agent can do what the separate proxy does.
        "envoy": {"enabled": False},
        # Its certificates would be others in each run.
        "hubble": {"enabled": False},
        # With two, one of them would wait for a second host in a cluster of one.
        "operator": {"replicas": 1},
    }


def render(context: AddonContext) -> list[Manifest]:
    """The chart's objects with our images."""
    return with_images(context.network, [context.images[name] for name in IMAGES])
