"""What this computer cannot do as a config says."""

from __future__ import annotations

from collections.abc import Iterator

from config import ClusterConfig
from findings import Finding, Loc
from model import Machine, Model

# Keys that say something about machines, networks and accounts of a cloud.
_CLOUD_KEYS = ("account", "region", "zones", "tags", "access")


def rules(config: ClusterConfig) -> Iterator[Finding]:
    """Keys that would have no effect, each named."""
    yield from _without_effect((), config, _CLOUD_KEYS)
    yield from _without_effect(
        ("masters",), config.masters, (*Machine.model_fields, "etcd_disk_gb")
    )
    for index, pool in enumerate(config.pools):
        yield from _without_effect(("pools", index), pool, (*Machine.model_fields, "spot"))
    yield from _without_effect(("network",), config.network, ("existing",))


def _without_effect(loc: Loc, model: Model, keys: tuple[str, ...]) -> Iterator[Finding]:
    fields = type(model).model_fields
    for key in keys:
        value = getattr(model, key)
        if value != fields[key].get_default(call_default_factory=True):
            yield Finding(
                (*loc, fields[key].alias or key),
                model.model_dump(mode="json", by_alias=True)[fields[key].alias or key],
                "has no effect: the machines are containers on this computer",
                "leave it out, or choose another platform",
            )
