"""The add-ons as files that the addon-manager on each master keeps applied."""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.objects import Manifest, labelled, to_yaml
from interface import ADDONS_DIRECTORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# The addon-manager's mark of what it owns: it puts back what is changed or deleted by hand.
LABELS: Mapping[str, str] = {"addonmanager.kubernetes.io/mode": "Reconcile"}


def addon_files(rendered: Mapping[str, Iterable[Manifest]]) -> dict[str, str]:
    """`{path on a master: YAML}`, one file an add-on."""
    return {
        f"{ADDONS_DIRECTORY}/{name}.yaml": to_yaml(labelled(item, LABELS) for item in objects)
        for name, objects in rendered.items()
    }
