"""Checks of the pod network's keys against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findings import Finding, Loc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config import ClusterConfig

PLUGIN: Loc = ("network", "plugin")
MANIFESTS: Loc = ("network", "manifests")
BACKEND: Loc = ("network", "backend")
PROXY_MODE: Loc = ("network", "proxyMode")
# They reach the API server by its Service, as their makers' objects have it.
NEEDS_SERVICES = ("calico", "weave")


def manifests(config: ClusterConfig) -> Iterator[Finding]:
    """Sources are given exactly if they are to be applied, and each once."""
    sources, plugin = config.network.manifests, config.network.plugin
    if plugin == "manifests" and not sources:
        yield Finding(
            at=MANIFESTS,
            value=None,
            message="is missing: network.plugin is manifests, but nothing says which",
            remedy="add manifests: [PATH or https://HOST/FILE], or write another plugin",
            rests_on=(PLUGIN,),
        )
    if plugin != "manifests" and sources:
        yield Finding(
            at=MANIFESTS,
            value=list(sources),
            message=f"has no effect: network.plugin is {plugin}",
            remedy="write plugin: manifests, or leave out manifests",
            rests_on=(PLUGIN,),
        )
    for index, source in enumerate(sources):
        if source in sources[:index]:
            yield Finding((*MANIFESTS, index), source, "is there twice", "leave one of the two")


def backend(config: ClusterConfig) -> Iterator[Finding]:
    """Only flannel has a choice of how it moves packets."""
    network = config.network
    if network.backend != "vxlan" and network.plugin != "flannel":
        yield Finding(
            at=BACKEND,
            value=network.backend,
            message=f"has no effect: it is flannel's, but network.plugin is {network.plugin}",
            remedy="write plugin: flannel, or leave out backend",
            rests_on=(PLUGIN,),
        )


def services(config: ClusterConfig) -> Iterator[Finding]:
    """What reaches the API by its Service needs somebody who carries packets for Services."""
    network = config.network
    if network.proxy_mode == "none" and network.plugin in NEEDS_SERVICES:
        yield Finding(
            at=PROXY_MODE,
            value=network.proxy_mode,
            message=f"cannot work with network.plugin {network.plugin}, which reaches the API by "
            "its Service: without kube-proxy there is no way there",
            remedy="write nftables or iptables, or leave out proxyMode",
            rests_on=(PLUGIN,),
        )


POD_NETWORK_CHECKS: tuple[Callable[[ClusterConfig], Iterator[Finding]], ...] = (
    manifests,
    backend,
    services,
)
