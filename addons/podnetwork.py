"""The objects of a pod network that others wrote, before there is anything to apply them to.

A file of the user's, or what upstream publishes: read when the program starts, so that all that is
wrong with it is told before anything is made. What is changed in them, each plugin's module says.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from addons import cilium
from addons.documents import Documents, Fault, read
from addons.fetch import FetchError, fetch, kept
from addons.helm import HelmError, template
from addons.objects import Manifest, name_of
from validation.problems import ConfigError, Problem
from versions import POD_NETWORKS, Upstream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from config import ClusterConfig

PLUGIN = "network.plugin"
FILES = "network.manifests"


def load(config: ClusterConfig) -> tuple[Manifest, ...]:
    """The objects of the config's plugin as their source has them; none if they are ours.

    Raises ConfigError with all that is wrong.
    """
    reader = _READERS.get(config.network.plugin)
    return reader(config) if reader else ()


def _file(config: ClusterConfig) -> tuple[Manifest, ...]:
    """What upstream publishes as a file of objects."""
    data = _upstream(config.network.plugin, POD_NETWORKS[config.network.plugin])
    return tuple(_flawless(PLUGIN, config.network.plugin, read(data)))


def _chart(config: ClusterConfig) -> tuple[Manifest, ...]:
    """What upstream publishes as a chart, which Helm makes objects of."""
    plugin = config.network.plugin
    chart = _upstream(plugin, POD_NETWORKS[plugin])
    try:
        data = template(
            chart,
            plugin,
            namespace=cilium.NAMESPACE,
            kubernetes=config.kubernetes_version,
            values=cilium.values(config),
        )
    except HelmError as error:
        raise ConfigError([Problem(PLUGIN, plugin, str(error), error.remedy)]) from None
    return tuple(_flawless(PLUGIN, plugin, read(data)))


def _upstream(plugin: str, source: Upstream) -> bytes:
    try:
        return fetch(source.url, source.sha256)
    except FetchError as error:
        remedy = (
            f"run this where it can be reached, or save the file as {kept(source.sha256)}, or "
            "write flannel, which needs none"
        )
        problem = Problem(PLUGIN, plugin, f"is made from {source.url}, which {error}", remedy)
        raise ConfigError([problem]) from None


def _flawless(path: str, value: str, found: Documents) -> list[Manifest]:
    if found.faults:
        raise ConfigError([Problem(path, value, *fault) for fault in found.faults])
    return found.objects


def _files(config: ClusterConfig) -> tuple[Manifest, ...]:
    """What the user wrote."""
    objects: list[Manifest] = []
    problems: list[Problem] = []
    for index, source in enumerate(config.network.manifests):
        found = _source(source)
        faults = [*found.faults, *_unfit(found.objects, config, objects)]
        objects += found.objects
        problems += [Problem(f"{FILES}[{index}]", source, *fault) for fault in faults]
    if problems:
        raise ConfigError(problems)
    return tuple(objects)


def _source(source: str) -> Documents:
    try:
        if "://" in source:
            address, _, checksum = source.partition("#sha256=")
            return read(fetch(address, checksum))
        return read(Path(source).expanduser().read_bytes())
    except FetchError as error:
        return Documents([], [Fault(str(error), "write an address that this computer reaches")])
    except OSError as error:
        fault = Fault(f"cannot be read: {error.strerror}", "write the path of a file that can")
        return Documents([], [fault])


def _unfit(
    objects: Iterable[Manifest], config: ClusterConfig, others: Iterable[Manifest]
) -> Iterator[Fault]:
    """What is right in itself, and wrong beside the others or where it would go."""
    times = Counter(map(_identity, others))
    for found in objects:
        what = f"{found['kind']} {name_of(found)}"
        times[_identity(found)] += 1
        if times[_identity(found)] == 2:  # noqa: PLR2004 - told once
            yield Fault(f"{what} is there twice", "take one of the two out")
        if found["kind"] == "Secret" and config.addons.delivery == "addon-manager":
            yield Fault(
                f"{what} would lie in plain text in this program's state and on the masters",
                "make it with kubectl, or write addons.delivery: pulumi",
            )


def _identity(found: Manifest) -> tuple[str, str, str]:
    group = found["apiVersion"].rpartition("/")[0]
    return group, found["kind"], name_of(found)


_READERS: Mapping[str, Callable[[ClusterConfig], tuple[Manifest, ...]]] = {
    "calico": _file,
    "cilium": _chart,
    "manifests": _files,
    "weave": _file,
}
