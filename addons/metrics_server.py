"""metrics-server: what `kubectl top` and autoscaling read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.objects import Manifest, load

if TYPE_CHECKING:
    from addons.context import AddonContext


def render(context: AddonContext) -> list[Manifest]:
    """The objects."""
    return load("metrics-server.yaml", {"image": context.images["metrics-server"]})
