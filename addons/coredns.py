"""CoreDNS: names of Services, and every other name through the hosts' resolvers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.objects import Manifest, load

if TYPE_CHECKING:
    from addons.context import AddonContext


def render(context: AddonContext) -> list[Manifest]:
    """The objects."""
    return load(
        "coredns.yaml",
        {
            "cluster_domain": context.config.network.cluster_domain,
            "image": context.images["coredns"],
            "service_address": str(context.config.dns_service_address),
        },
    )
