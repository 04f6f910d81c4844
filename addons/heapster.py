"""heapster: retired upstream, kept for clusters with something left that asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.objects import Manifest, load

if TYPE_CHECKING:
    from addons.context import AddonContext


def render(context: AddonContext) -> list[Manifest]:
    """The objects."""
    return load("heapster.yaml", {"image": context.images["heapster"]})
