"""Phase 1: makes machines and keys, and never logs in.

This module is the program's one switch on the platform. Each platform is a package with the same
modules: `platform` returns `Machines`, `rules` judges a config. Only the one in use is imported,
since each cloud's SDK costs seconds and hundreds of megabytes. A file beside the config may list
hosts that exist already: their platform has its say before the config is judged.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic import JsonValue

    from components.expansion import Expansion
    from config import ClusterConfig
    from findings import Finding
    from interface import Machines

EXISTING = "metal"  # the platform of hosts that exist already
HERE = "local"  # the one whose machines are containers on this computer


def expand(keys: dict[str, JsonValue]) -> Expansion:
    """The cluster config object, with the hosts of the file that it names, if it names one."""
    from components.expansion import Expansion  # noqa: PLC0415 - `validation` alone needs it

    if keys.get("platform") != EXISTING:
        return Expansion(keys=keys)
    module = import_module(f"components.{EXISTING}.inventories")
    found: Expansion = module.expand(keys)
    return found


def complete(config: ClusterConfig) -> ClusterConfig:
    """The config with what follows from hosts that exist already: counts, pools, keys of SSH."""
    if config.platform != EXISTING:
        return config
    module = import_module(f"components.{EXISTING}.completion")
    found: ClusterConfig = module.complete(config)
    return found


def rules(config: ClusterConfig) -> Iterator[Finding]:
    """What the platform that the config names cannot do as the config says. Loads no SDK."""
    module = import_module(f"components.{config.platform}.rules")
    found: Iterator[Finding] = module.rules(config)
    return found


def dependency_group(config: ClusterConfig) -> str:
    """The group of dependencies that has the platform's SDK, if it needs one."""
    return config.platform


def needs_docker(config: ClusterConfig) -> bool:
    """Whether the machines need a Docker engine on this computer."""
    return config.platform == HERE


def provision(config: ClusterConfig) -> Machines:
    """The machines that the config asks for, on the platform that it names."""
    from components.containers import in_containers  # noqa: PLC0415 - `rules` needs no pulumi

    module = import_module(f"components.{config.platform}.platform")
    machines: Machines = module.provision(config)
    if not config.system_containers:
        return machines
    return replace(machines, traits=in_containers(machines.traits))
