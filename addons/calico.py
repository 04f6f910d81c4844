"""Calico: carries packets between pods in VXLAN, and keeps NetworkPolicies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.amend import container, set_environment, with_images
from addons.objects import Manifest, find

if TYPE_CHECKING:
    from addons.context import AddonContext
    from model import Network

IMAGES = ("calico-cni", "calico-kube-controllers", "calico-node")
# What Calico takes for the size of a host's piece of the pods' range.
LARGEST_BLOCK, SMALLEST_BLOCK = 20, 32


def environment(network: Network) -> dict[str, str]:
    """What calico-node is told, in place of what upstream's file tells it."""
    block = min(max(network.node_prefix, LARGEST_BLOCK), SMALLEST_BLOCK)
    return {
        "CALICO_IPV4POOL_CIDR": network.pod_cidr,
        "CALICO_IPV4POOL_BLOCK_SIZE": str(block),
        # Between hosts of one subnet, too: no cloud carries packets to pods' addresses, and Azure
        # drops IP-in-IP.
        "CALICO_IPV4POOL_IPIP": "Never",
        "CALICO_IPV4POOL_VXLAN": "Always",
        # The address that the kubelet registered, however many the host has.
        "IP_AUTODETECTION_METHOD": "kubernetes-internal-ip",
        # One kind of rules on a host: those of kube-proxy.
        "FELIX_NFTABLESMODE": "Enabled" if network.proxy_mode == "nftables" else "Disabled",
    }


def render(context: AddonContext) -> list[Manifest]:
    """Upstream's objects with our images and this cluster's network."""
    objects = with_images(context.network, [context.images[name] for name in IMAGES])
    node = container(find(objects, "DaemonSet", "calico-node"), "calico-node")
    set_environment(node, environment(context.config.network))
    return objects
