"""flannel: carries packets between pods on different hosts."""

from __future__ import annotations

from addons.context import AddonContext
from addons.objects import Manifest, amend, find, load
from interface import IN_CLUSTER_KUBECONFIG


def render(context: AddonContext) -> list[Manifest]:
    """The objects, with what this platform's machines need of its backend merged in."""
    network, backend = context.config.network, context.traits.flannel
    objects = load(
        "flannel.yaml",
        {
            "backend": network.backend,
            "image": context.images["flannel"],
            "kubeconfig": IN_CLUSTER_KUBECONFIG,
            # One kind of rules on a host: those of kube-proxy.
            "nftables": "true" if network.proxy_mode == "nftables" else "false",
            "plugin_image": context.images["flannel-cni-plugin"],
            "pod_cidr": network.pod_cidr,
        },
    )
    changes = {"Backend": backend} if backend else {}
    amend(find(objects, "ConfigMap", "kube-flannel-cfg"), "net-conf.json", changes)
    return objects
