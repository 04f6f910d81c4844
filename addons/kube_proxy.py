"""kube-proxy: makes each host carry packets for Services to pods."""

from __future__ import annotations

from addons.context import AddonContext
from addons.objects import Manifest, amend, find, load
from interface import IN_CLUSTER_KUBECONFIG


def render(context: AddonContext) -> list[Manifest]:
    """The objects, with what this platform's machines need of it merged into its configuration."""
    network = context.config.network
    objects = load(
        "kube-proxy.yaml",
        {
            "image": context.images["kube-proxy"],
            "kubeconfig": IN_CLUSTER_KUBECONFIG,
            "mode": network.proxy_mode,
            "pod_cidr": network.pod_cidr,
        },
    )
    amend(find(objects, "ConfigMap", "kube-proxy"), "config.yaml", context.traits.kube_proxy)
    return objects
