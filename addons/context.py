"""What an add-on is rendered from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from addons.objects import Manifest
    from config import ClusterConfig
    from interface import Traits


@dataclass(frozen=True, kw_only=True, slots=True)
class AddonContext:
    """Everything that the objects depend on: plain values, known before there is a cluster."""

    config: ClusterConfig
    traits: Traits
    images: Mapping[str, str]  # by the name that the version table has for it
    # What the pod network consists of where others wrote it: podnetwork.load.
    network: Sequence[Manifest] = ()
