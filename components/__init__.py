"""Phase 1: makes machines and keys, and never logs in.

`provision` is the program's one switch on the platform. Each platform is a package whose module
`platform` returns `Machines`; only the one in use is imported, since each cloud's SDK costs seconds
and hundreds of megabytes.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from config import ClusterConfig
    from interface import Machines


def provision(config: ClusterConfig) -> Machines:
    """The machines that the config asks for, on the platform that it names."""
    machines: Machines = import_module(f"components.{config.platform}.platform").provision(config)
    return machines
