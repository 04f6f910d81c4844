"""What this computer cannot do as a config says."""

from __future__ import annotations

from collections.abc import Iterator

from components.unused import without_effect
from config import ClusterConfig
from findings import Finding
from model import Machine

# Keys that say something about machines, networks and accounts of a cloud, or about hosts that
# exist.
_UNUSED = ("account", "region", "zones", "tags", "metal", "access")
_REASON = "the machines are containers on this computer"


def rules(config: ClusterConfig) -> Iterator[Finding]:
    """Keys that would have no effect, each named."""
    machine = tuple(Machine.model_fields)
    yield from without_effect((), config, _UNUSED, _REASON)
    yield from without_effect(("masters",), config.masters, (*machine, "etcd_disk_gb"), _REASON)
    for index, pool in enumerate(config.pools):
        yield from without_effect(("pools", index), pool, (*machine, "spot"), _REASON)
    yield from without_effect(("network",), config.network, ("existing",), _REASON)
