"""The nodes on AWS, of all pools."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions

from components.aws.firewall import admit_outside
from components.aws.machine import make_host
from components.aws.network import Network
from components.cloud import MachinesArgs
from interface import Host


class Nodes(ComponentResource):
    """One instance a node; the API's load balancer lets in each by its public address."""

    hosts: tuple[Host, ...]

    def __init__(
        self, name: str, args: MachinesArgs[Network], opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:aws:Nodes", name, {}, opts)
        network = args.network
        self.hosts = tuple(
            make_host(self, spec, args.login, network.place(spec), None) for spec in args.specs
        )
        # In a private network all nodes look like its NAT gateway, which the network lets in.
        if network.bastion is None:
            addresses = {host.spec.name: host.connection.host for host in self.hosts}
            admit_outside(self, args.config, network.groups, addresses)
        self.register_outputs({})
