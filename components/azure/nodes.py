"""The nodes on Azure, of all pools, and what lets them call the API from outside."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions

from components.azure.firewall import let_in
from components.azure.machine import make_host
from components.azure.network import Network
from components.cloud import MachinesArgs
from components.firewall import Peer, rules
from interface import Host


class Nodes(ComponentResource):
    """One virtual machine a node."""

    hosts: tuple[Host, ...]

    def __init__(
        self, name: str, args: MachinesArgs[Network], opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:azure:Nodes", name, {}, opts)
        network = args.network
        self.hosts = tuple(make_host(self, spec, network.site, Peer.NODE) for spec in args.specs)
        outside = [rule for rule in rules(args.config) if rule.source is Peer.OUTSIDE]
        addresses = [host.connection.host for host in self.hosts]
        ranges = {Peer.OUTSIDE: addresses if network.way_out is None else [network.way_out]}
        let_in(self, network.firewall, outside, ranges, network.last_rule)
        self.register_outputs({})
