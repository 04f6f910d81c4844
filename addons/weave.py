"""Weave Net: carries packets between pods over connections that its hosts make to each other.

Its makers closed in 2024, and 2.8.1 of 2021 is the last release: kept for clusters that have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.amend import container, set_environment, with_images
from addons.objects import Manifest, find

if TYPE_CHECKING:
    from addons.context import AddonContext
    from model import Network

IMAGES = ("weave-kube", "weave-npc")


# Every host has this kind of rules; the old one that Weave might choose is not everywhere.
RULES = {"IPTABLES_BACKEND": "nft"}


def environment(network: Network) -> dict[str, str]:
    """What the router is told, in place of what upstream's file tells it."""
    return {
        **RULES,
        "IPALLOC_RANGE": network.pod_cidr,
        "CHECKPOINT_DISABLE": "1",  # it would ask its makers for newer versions
    }


def render(context: AddonContext) -> list[Manifest]:
    """Upstream's objects with our images and this cluster's network."""
    objects = with_images(context.network, [context.images[name] for name in IMAGES])
    daemons = find(objects, "DaemonSet", "weave-net")
    set_environment(container(daemons, "weave"), environment(context.config.network))
    set_environment(container(daemons, "weave-npc"), RULES)
    return objects
