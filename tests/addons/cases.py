"""Configs that between them make every add-on render every way it can."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from addons import AddonContext, Delivery, Selection, deliver, render, select
from config import ClusterConfig
from interface import Traits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from addons.objects import Manifest

FORWARD = {"output": "forward", "forward": {"host": "logs.example.com", "port": 24225}}
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "iptables": {"network": {"proxyMode": "iptables"}},
    "no-proxy": {"network": {"proxyMode": "none"}},
    "no-network": {"network": {"plugin": "none"}},
    "host-gw": {"network": {"backend": "host-gw"}},
    "other-ranges": {
        "network": {
            "podCidr": "10.128.0.0/14",
            "serviceCidr": "10.64.0.0/20",
            "clusterDomain": "k8s.example.org",
        }
    },
    "heapster": {"addons": {"metrics": "heapster"}},
    "no-metrics": {"addons": {"metrics": "none"}},
    "forward": {"addons": {"logging": FORWARD}},
    "no-logging": {"addons": {"logging": {"agent": "none"}}},
    "no-dns": {"addons": {"dns": "none"}},
    "older": {"kubernetesVersion": "v1.36.3"},
}


def config_of(raw: dict[str, Any] | None = None) -> ClusterConfig:
    return ClusterConfig.model_validate_json(json.dumps(raw or {}))


def context(
    raw: dict[str, Any] | None = None,
    traits: Traits | None = None,
    network: Sequence[Manifest] = (),
) -> AddonContext:
    config = config_of(raw)
    return AddonContext(
        config=config, traits=traits or Traits(), images=config.release.images, network=network
    )


def selection(
    raw: dict[str, Any] | None = None, unavailable: Mapping[str, str] | None = None
) -> Selection:
    return select(config_of(raw), unavailable)


def delivered(
    raw: dict[str, Any] | None = None,
    unavailable: Mapping[str, str] | None = None,
    network: Sequence[Manifest] = (),
) -> Delivery:
    return deliver(context(raw, network=network), selection(raw, unavailable))


def rendered(
    raw: dict[str, Any] | None = None, traits: Traits | None = None
) -> dict[str, list[Manifest]]:
    """The objects by add-on."""
    what = context(raw, traits)
    return {addon.name: render(addon, what) for addon in selection(raw).enabled}


def everything(raw: dict[str, Any] | None = None, traits: Traits | None = None) -> list[Manifest]:
    return [manifest for objects in rendered(raw, traits).values() for manifest in objects]


def one(objects: list[Manifest], kind: str, name: str) -> Manifest:
    (found,) = [o for o in objects if (o["kind"], o["metadata"]["name"]) == (kind, name)]
    return found
