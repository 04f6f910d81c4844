"""The masters, each with a disk for etcd, as backends of the API's load balancer."""

from __future__ import annotations

from pulumi import ComponentResource, ResourceOptions
from pulumi_gcp import compute

from components import disks
from components.cloud import MachinesArgs
from components.gce import facts
from components.gce.machine import Shape, host_address, make_machine
from components.gce.network import Network
from components.naming import physical, tags
from config import ClusterConfig, HostSpec
from interface import Host


class Masters(ComponentResource):
    """One instance a master, in the instance group of its zone."""

    hosts: tuple[Host, ...]

    def __init__(
        self, name: str, args: MachinesArgs[Network], opts: ResourceOptions | None = None
    ) -> None:
        super().__init__("kubernetes-anywhere:gce:Masters", name, {}, opts)
        self.hosts = tuple(self._host(spec, args) for spec in args.specs)
        self.register_outputs({})

    def _host(self, spec: HostSpec, args: MachinesArgs[Network]) -> Host:
        network = args.network
        shape = network.site.shape(spec)
        machine = make_machine(
            self,
            network.site,
            shape,
            host_address(self, spec, network.site),
            self._etcd_disk(shape, args.config),
        )
        # Not the group's own list of instances: a master that is made anew has left the group, has
        # the same link as before, and so would not be put back.
        compute.InstanceGroupMembership(
            f"{spec.name}-api",
            zone=shape.zone,
            instance=machine.instance.self_link,
            instance_group=network.groups[shape.zone].name,
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        return machine.host(spec)

    def _etcd_disk(self, shape: Shape, config: ClusterConfig) -> compute.Disk:
        """Outlives its master. Encrypted, as all disks are there."""
        name = f"{shape.name}-etcd"
        return compute.Disk(
            name,
            name=physical(name, facts.NAME_LIMIT),
            zone=shape.zone,
            type=facts.disk_type(shape.machine_type),
            size=config.masters.etcd_disk_gb or disks.ETCD_GB,
            labels=tags(config),
            opts=ResourceOptions(parent=self, protect=True, delete_before_replace=True),
        )
