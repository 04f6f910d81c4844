"""fluentd: reads every container's log on every host and sends it on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from addons.objects import Manifest, find, load, text

if TYPE_CHECKING:
    from addons.context import AddonContext
    from model import Logging


def render(context: AddonContext) -> list[Manifest]:
    """The objects, with the output that the config asks for."""
    objects = load("fluentd.yaml", {"image": context.images["fluentd"]})
    find(objects, "ConfigMap", "fluentd")["data"]["output.conf"] = _output(
        context.config.addons.logging
    )
    return objects


def _output(logging: Logging) -> str:
    forward = logging.forward
    receiver = {"host": forward.host, "port": str(forward.port)} if forward else {}
    return text(f"fluentd-{logging.output}.conf", receiver)
