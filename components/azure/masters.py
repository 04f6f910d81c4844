"""The masters on Azure, in the pool of the API's load balancer."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions

from components import disks
from components.azure.machine import make_host
from components.azure.network import Network
from components.cloud import MachinesArgs
from components.firewall import Peer
from interface import Host


class Masters(ComponentResource):
    """One virtual machine a master, each with a disk for etcd."""

    hosts: tuple[Host, ...]

    def __init__(
        self, name: str, args: MachinesArgs[Network], opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:azure:Masters", name, {}, opts)
        network = args.network
        self.hosts = tuple(
            make_host(
                self,
                spec,
                network.site,
                Peer.MASTER,
                pools=(network.pool_id,),
                etcd_disk_gb=args.config.masters.etcd_disk_gb or disks.ETCD_GB,
            )
            for spec in args.specs
        )
        self.register_outputs({})
