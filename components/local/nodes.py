"""The local nodes."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions

from components.local.machine import MachinesArgs, make_machine
from interface import Host


class Nodes(ComponentResource):
    """One container a node."""

    hosts: tuple[Host, ...]

    def __init__(self, name: str, args: MachinesArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:local:Nodes", name, {}, opts)
        self.hosts = tuple(make_machine(self, spec, args) for spec in args.specs)
        self.register_outputs({})
