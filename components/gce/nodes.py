"""The nodes of all pools, and the way that they come back in by the public endpoint."""

from __future__ import annotations

from pulumi import ComponentResource, Output, ResourceOptions

from components import firewall
from components.cloud import MachinesArgs
from components.firewall import Peer
from components.gce.firewall import make_rules
from components.gce.machine import host_address, make_machine
from components.gce.network import Network
from interface import Host


class Nodes(ComponentResource):
    """One instance a node."""

    hosts: tuple[Host, ...]

    def __init__(
        self, name: str, args: MachinesArgs[Network], opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:gce:Nodes", name, {}, opts)
        network, site = args.network, args.network.site
        addresses = [host_address(self, spec, site) for spec in args.specs]
        self.hosts = tuple(
            make_machine(self, site, site.shape(spec), address).host(spec)
            for spec, address in zip(args.specs, addresses, strict=True)
        )
        outside = network.nat_addresses or [own.address for own in addresses if own]
        make_rules(
            self,
            args.config,
            network.network,
            [rule for rule in firewall.rules(args.config) if rule.source is Peer.OUTSIDE],
            {Peer.OUTSIDE: [Output.concat(address, "/32") for address in outside]},
        )
        self.register_outputs({})
