"""The masters."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions

from components.metal.machine import MachinesArgs, find_machines
from interface import Host


class Masters(ComponentResource):
    """The hosts that the config gives the role."""

    hosts: tuple[Host, ...]

    def __init__(self, name: str, args: MachinesArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:metal:Masters", name, {}, opts)
        self.hosts = find_machines(args)
        self.register_outputs({})
