"""The masters on AWS, and the load balancer's knowledge of them."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions
from pulumi_aws import lb

from components import disks
from components.aws.machine import make_host
from components.aws.network import Network
from components.cloud import MachinesArgs
from interface import Host


class Masters(ComponentResource):
    """One instance and one disk for etcd a master; the API's load balancer forwards to all."""

    hosts: tuple[Host, ...]

    def __init__(
        self, name: str, args: MachinesArgs[Network], opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:aws:Masters", name, {}, opts)
        network, etcd_disk_gb = args.network, args.config.masters.etcd_disk_gb or disks.ETCD_GB
        self.hosts = tuple(
            make_host(self, spec, args.login, network.place(spec), etcd_disk_gb)
            for spec in args.specs
        )
        for host in self.hosts:
            lb.TargetGroupAttachment(
                f"{host.spec.name}-api",
                target_group_arn=network.target_group.arn,
                target_id=host.identity,
                opts=ResourceOptions(parent=self),
            )
        self.register_outputs({})
