"""Phase 3: what runs in the cluster from the start. Knows no host and no platform.

Each add-on is a file of `manifests/` and a function that fills it in. The same objects go one of
two ways: Pulumi registers them (`addons.deploy`), or masters keep them as files and the
addon-manager applies them (`addons.files`). Never both.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pulumi import RunError

from addons import (
    access,
    calico,
    cilium,
    coredns,
    flannel,
    fluentd,
    heapster,
    kube_proxy,
    metrics_server,
    weave,
)
from addons.context import AddonContext
from addons.files import addon_files
from addons.objects import Manifest, digest, ordered, stamped, workloads
from interface import Workload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from config import ClusterConfig

__all__ = [
    "ADDONS",
    "Addon",
    "AddonContext",
    "Delivery",
    "EssentialImageError",
    "Selection",
    "Skipped",
    "deliver",
    "render_all",
    "select",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Addon:
    """One add-on: when it is wanted, what it consists of, which images it needs."""

    name: str
    enabled: Callable[[ClusterConfig], bool]
    render: Callable[[AddonContext], list[Manifest]]
    images: tuple[str, ...] = ()
    essential: bool = False  # whether a cluster without it is none


def _plugin(name: str) -> Callable[[ClusterConfig], bool]:
    return lambda config: config.network.plugin == name


# Pod networks as others publish them.
UPSTREAM = {"calico": calico, "cilium": cilium, "weave": weave}

ADDONS: tuple[Addon, ...] = (
    Addon(name="access", enabled=lambda _: True, render=access.render),
    Addon(
        name="kube-proxy",
        enabled=lambda config: config.network.proxy_mode != "none",
        render=kube_proxy.render,
        images=("kube-proxy",),
        essential=True,
    ),
    Addon(
        name="flannel",
        enabled=_plugin("flannel"),
        render=flannel.render,
        images=("flannel", "flannel-cni-plugin"),
        essential=True,
    ),
    *(
        Addon(
            name=name,
            enabled=_plugin(name),
            render=module.render,
            images=module.IMAGES,
            essential=True,
        )
        for name, module in UPSTREAM.items()
    ),
    Addon(
        name="pod-network",
        enabled=_plugin("manifests"),
        render=lambda context: list(context.network),
    ),
    Addon(
        name="coredns",
        enabled=lambda config: config.addons.dns == "coredns",
        render=coredns.render,
        images=("coredns",),
        essential=True,
    ),
    Addon(
        name="metrics-server",
        enabled=lambda config: config.addons.metrics == "metrics-server",
        render=metrics_server.render,
        images=("metrics-server",),
    ),
    Addon(
        name="heapster",
        enabled=lambda config: config.addons.metrics == "heapster",
        render=heapster.render,
        images=("heapster",),
    ),
    Addon(
        name="fluentd",
        enabled=lambda config: config.addons.logging.agent == "fluentd",
        render=fluentd.render,
        images=("fluentd",),
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Skipped:
    """An add-on that is wanted and left out, as a whole, for want of an image."""

    name: str
    image: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name} is left out: the mirror has no {self.image} ({self.reason})"


class EssentialImageError(RunError):
    """The mirror lacks images without which there is no cluster; the message names all of them."""

    def __init__(self, missing: Iterable[Skipped]) -> None:
        lines = "\n".join(f"  {skip.name}: {skip.image} ({skip.reason})" for skip in missing)
        super().__init__(
            f"The mirror lacks images without which the cluster would not work:\n{lines}\n"
            "Fill the mirror again, or switch off in the config what you replace yourself."
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """Which of the add-ons that the config asks for can be had."""

    enabled: tuple[Addon, ...]
    skipped: tuple[Skipped, ...]

    @property
    def essential_images(self) -> tuple[str, ...]:
        """The names of what is sure to run on nodes."""
        return tuple(image for addon in self.enabled if addon.essential for image in addon.images)


def select(config: ClusterConfig, unavailable: Mapping[str, str] | None = None) -> Selection:
    """The add-ons to install; `unavailable` is {image reference: why the mirror has not got it}.

    Raises EssentialImageError.
    """
    wanted = [addon for addon in ADDONS if addon.enabled(config)]
    missing = {addon.name: _missing(addon, config, unavailable or {}) for addon in wanted}
    fatal = [skip for addon in wanted if addon.essential for skip in missing[addon.name]]
    if fatal:
        raise EssentialImageError(fatal)
    return Selection(
        enabled=tuple(addon for addon in wanted if not missing[addon.name]),
        skipped=tuple(skip for skips in missing.values() for skip in skips),
    )


def _missing(
    addon: Addon, config: ClusterConfig, unavailable: Mapping[str, str]
) -> tuple[Skipped, ...]:
    images = [config.release.images[image] for image in addon.images]
    return tuple(
        Skipped(name=addon.name, image=image, reason=unavailable[image])
        for image in images
        if image in unavailable
    )


def render(addon: Addon, context: AddonContext) -> list[Manifest]:
    """The objects of one add-on, in the order in which they are of use."""
    return ordered(stamped(addon.render(context)))


def render_all(context: AddonContext, addons: Iterable[Addon]) -> list[Manifest]:
    """The objects of several add-ons: namespaces, then rights and configuration, then what runs."""
    return ordered(manifest for addon in addons for manifest in render(addon, context))


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """The add-ons of a cluster, each object with one owner."""

    objects: tuple[Manifest, ...] = ()  # Pulumi's
    files: Mapping[str, str] = field(default_factory=dict)  # the addon-manager's, {path: YAML}
    skipped: tuple[Skipped, ...] = ()
    workloads: tuple[Workload, ...] = ()  # whoever owns them
    revision: str = ""  # another one whenever an object is another


def deliver(context: AddonContext, selection: Selection) -> Delivery:
    """The selected add-ons, to the owner that the config names."""
    objects = render_all(context, selection.enabled)
    common = Delivery(
        skipped=selection.skipped, workloads=workloads(objects), revision=digest(objects)
    )
    if context.config.addons.delivery == "pulumi":
        return replace(common, objects=tuple(objects))
    rendered = {addon.name: render(addon, context) for addon in selection.enabled}
    return replace(common, files=addon_files(rendered))
