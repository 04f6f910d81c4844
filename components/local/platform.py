"""The local machines as resources: network, masters, nodes, and what is peculiar to them."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions

from components.containers import in_containers
from components.keys import login_key
from components.local.machine import MachinesArgs
from components.local.masters import Masters
from components.local.network import Network, NetworkArgs
from components.local.nodes import Nodes
from config import ClusterConfig
from interface import Machines, Traits
from model import Role

# Its CAs go with `pulumi destroy`: nothing else was ever told to trust them.
TRAITS = in_containers(Traits(protect=False))


class Local(ComponentResource):
    """Network, masters and nodes on this computer."""

    machines: Machines

    def __init__(
        self, name: str, config: ClusterConfig, opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:local:Local", name, {}, opts)
        child = ResourceOptions(parent=self)
        network = Network(name, NetworkArgs(config=config), child)
        ssh_key = login_key(name, self)

        def arguments(role: Role) -> MachinesArgs:
            return MachinesArgs(
                config=config,
                specs=tuple(spec for spec in config.hosts if spec.role is role),
                network=network.network,
                load_balancer=network.load_balancer,
                ssh_private_key=ssh_key.private_key_openssh,
                ssh_public_key=ssh_key.public_key_openssh,
            )

        masters = Masters(name, arguments(Role.MASTER), child)
        nodes = Nodes(name, arguments(Role.NODE), child)
        self.machines = Machines(
            hosts=(*masters.hosts, *nodes.hosts),
            api_host=network.api_host,
            operator_api_host=network.operator_api_host,
            operator_api_port=network.operator_api_port,
            mirror_url=network.mirror_url,
            traits=TRAITS,
            lifetime=network.network,
        )
        self.register_outputs({})


def provision(config: ClusterConfig) -> Machines:
    """The platform's entry point."""
    return Local(config.name, config).machines
