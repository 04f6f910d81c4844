"""Hosts that exist already, as the phases after this one see them."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions

from components.metal.machine import MachinesArgs
from components.metal.masters import Masters
from components.metal.network import Network, NetworkArgs
from components.metal.nodes import Nodes
from config import ClusterConfig
from interface import Machines, Traits
from model import Role


class Metal(ComponentResource):
    """Network, masters and nodes, none of which is made here."""

    machines: Machines

    def __init__(
        self, name: str, config: ClusterConfig, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:metal:Metal", name, {}, opts)
        child = ResourceOptions(parent=self)
        network = Network(name, NetworkArgs(config=config), child)

        def arguments(role: Role) -> MachinesArgs:
            return MachinesArgs(
                config=config,
                specs=tuple(spec for spec in config.hosts if spec.role is role),
                bastion=network.bastion,
            )

        masters = Masters(name, arguments(Role.MASTER), child)
        nodes = Nodes(name, arguments(Role.NODE), child)
        self.machines = Machines(
            hosts=(*masters.hosts, *nodes.hosts),
            api_host=network.api_host,
            operator_api_host=network.operator_api_host,
            operator_api_port=network.operator_api_port,
            mirror_url=network.mirror_url,
            traits=Traits(remove_leftovers=config.metal.leftovers == "remove"),
        )
        self.register_outputs({})


def provision(config: ClusterConfig) -> Machines:
    """The platform's entry point."""
    return Metal(config.name, config).machines
