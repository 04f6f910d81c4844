"""One virtual machine, with the keys that it is known by and reached with.

No service account: nothing on it can speak for the project. OS Login is off, since with it the keys
of the metadata count for nothing, and the project's own keys stay out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import yaml
from pulumi import Input, Output, Resource, ResourceOptions
from pulumi_gcp import compute

from components import disks
from components.cloud import Login, connection, topology
from components.firewall import Peer
from components.gce import facts, firewall
from components.gce.lookups import Image
from components.keys import host_key
from components.naming import physical, tags
from components.subnets import fixed_address
from components.userdata import cloud_config
from config import ClusterConfig, HostSpec
from interface import Connection, Host
from model import Role

# Inputs that a machine keeps as they were when it was made: the image and the labels of its disk
# can only be had anew with the whole machine, and user data is read at the first boot only. New
# login keys do get in: Google's guest agent reads them from the metadata at any time.
PINNED = (
    "bootDisk.initializeParams.image",
    "bootDisk.initializeParams.labels",
    'metadata["user-data"]',
)
# The metadata server tells every pod that asks what the user data is, and the host key is part of
# it; so packets that the machine only forwards may ask it for names and for nothing else.
_METADATA_GUARD = (
    f"iptables -w -t mangle -I FORWARD -d {facts.METADATA_SERVER} -p tcp ! --dport 53 -j DROP"
)
_GUEST = {
    "bootcmd": [_METADATA_GUARD.split()],
    # Else the guest agent may make host keys of its own at the first boot.
    "write_files": [
        {
            "path": "/etc/default/instance_configs.cfg",
            "content": "[InstanceSetup]\nset_host_keys = false\n",
        }
    ],
}
# All that a spot machine has to say. It is deleted when it is taken back, so that an update makes
# it again: one that is only stopped would not start by itself.
_SPOT = compute.InstanceSchedulingArgs(
    provisioning_model="SPOT",
    preemptible=True,
    automatic_restart=False,
    instance_termination_action="DELETE",
)
_SHIELDED = compute.InstanceShieldedInstanceConfigArgs(
    enable_secure_boot=True, enable_vtpm=True, enable_integrity_monitoring=True
)
_PEERS = {Role.MASTER: Peer.MASTER, Role.NODE: Peer.NODE}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """What a machine is like."""

    name: str
    zone: str
    machine_type: str
    image: str  # its self link
    signed: bool  # whether the image is known to start with Secure Boot
    disk_gb: int
    peer: Peer  # whose firewall rules it has
    spot: bool = False
    address: str | None = None  # of its own, and private; None: any that Google gives


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """What the machines of a cluster share."""

    config: ClusterConfig
    login: Login
    zones: tuple[str, ...]
    images: Mapping[Image, str]  # their self links
    subnetwork: Input[str]  # its self link
    bastion: Connection | None  # None: machines have public addresses
    first: Sequence[Resource]  # what comes before a machine: the masters' addresses, its way out

    def shape(self, spec: HostSpec) -> Shape:
        """The machine for a host."""
        return Shape(
            name=spec.name,
            zone=facts.zone_of(spec, self.zones),
            machine_type=facts.machine_type(spec),
            image=self.images[spec.image, spec.arch],
            signed=spec.image is None and spec.arch in facts.SECURE_BOOT,
            disk_gb=spec.disk_gb or disks.ROOT_GB,
            peer=_PEERS[spec.role],
            spot=spec.spot,
            address=fixed_address(spec, self.config.network.host_cidr, facts.KEPT),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """A machine that was made."""

    instance: compute.Instance
    address: Input[str]  # private
    connection: Connection
    labels: Mapping[str, str]

    def host(self, spec: HostSpec) -> Host:
        """The machine as phase 2 knows it."""
        return Host(
            spec=spec,
            address=self.address,
            connection=self.connection,
            machine=self.instance,
            identity=self.instance.instance_id,
            labels=self.labels,
        )


def make_address(parent: Resource, name: str, config: ClusterConfig) -> compute.Address:
    """A public address that stays the same."""
    return compute.Address(
        f"{name}-address",
        name=physical(name, facts.NAME_LIMIT),
        labels=tags(config),
        opts=ResourceOptions(parent=parent, delete_before_replace=True),
    )


def host_address(parent: Resource, spec: HostSpec, site: Site) -> compute.Address | None:
    """A host's public address, if hosts have one."""
    return None if site.bastion else make_address(parent, spec.name, site.config)


def user_data(private_key: str, public_key: str, etcd_disk: str | None) -> str:
    """The cloud config of a machine, with what only a guest of Google's needs."""
    return cloud_config(private_key, public_key, etcd_disk) + yaml.safe_dump(_GUEST)


def make_machine(
    parent: Resource,
    site: Site,
    shape: Shape,
    address: compute.Address | None,
    etcd_disk: compute.Disk | None = None,
) -> Machine:
    """An instance, and the host key that SSH knows it by from the first login on."""
    login = site.login
    etcd_path = facts.ETCD_PATH if etcd_disk else None
    key = host_key(shape.name, parent)
    instance = compute.Instance(
        shape.name,
        name=physical(shape.name, facts.NAME_LIMIT),
        zone=shape.zone,
        machine_type=shape.machine_type,
        boot_disk=_boot_disk(shape, site.config),
        attached_disks=_attached(etcd_disk),
        network_interfaces=[_interface(site, shape, address)],
        tags=[firewall.tag(site.config, shape.peer)],
        labels=tags(site.config),
        metadata={
            "ssh-keys": Output.concat(login.user, ":", login.public_key),
            "enable-oslogin": "FALSE",
            "block-project-ssh-keys": "TRUE",
            "user-data": Output.all(key.private_key_openssh, key.public_key_openssh).apply(
                lambda keys: user_data(keys[0], keys[1], etcd_path)
            ),
        },
        scheduling=_SPOT if shape.spot else None,
        shielded_instance_config=_SHIELDED if shape.signed else None,
        allow_stopping_for_update=True,  # else a new machine type is an error
        opts=ResourceOptions(
            parent=parent,
            depends_on=list(site.first),
            delete_before_replace=True,
            ignore_changes=list(PINNED),
            additional_secret_outputs=["metadata"],
        ),
    )
    # A master's is known before there is a machine: what others know of it does not wait for one.
    private = shape.address or _once_made(
        instance, instance.network_interfaces.apply(lambda of: of[0].network_ip)
    )
    public = _once_made(instance, address.address) if address else private
    return Machine(
        instance=instance,
        address=private,
        labels=topology(str(site.config.region), shape.zone, shape.machine_type),
        connection=connection(
            login=login,
            host_key=key.public_key_openssh,
            private_address=private,
            public_address=public,
            bastion=site.bastion,
        ),
    )


def _boot_disk(shape: Shape, config: ClusterConfig) -> compute.InstanceBootDiskArgs:
    """Encrypted, as all disks are there, and gone with the machine."""
    return compute.InstanceBootDiskArgs(
        initialize_params=compute.InstanceBootDiskInitializeParamsArgs(
            image=shape.image,
            size=shape.disk_gb,
            type=facts.disk_type(shape.machine_type),
            labels=tags(config),
        )
    )


def _attached(disk: compute.Disk | None) -> list[compute.InstanceAttachedDiskArgs]:
    if disk is None:
        return []
    return [compute.InstanceAttachedDiskArgs(source=disk.self_link, device_name=facts.ETCD_DEVICE)]


def _interface(
    site: Site, shape: Shape, address: compute.Address | None
) -> compute.InstanceNetworkInterfaceArgs:
    public = (
        [compute.InstanceNetworkInterfaceAccessConfigArgs(nat_ip=address.address)]
        if address
        else []
    )
    return compute.InstanceNetworkInterfaceArgs(
        subnetwork=site.subnetwork, network_ip=shape.address, access_configs=public
    )


def _once_made(instance: compute.Instance, value: Output[str] | Output[str | None]) -> Output[str]:
    """The value, once there is the machine that it belongs to: in a preview, not yet.

    A preview may show an interface as it was asked for, which is without an address.
    """
    return Output.all(instance.instance_id, value).apply(lambda known: str(known[1]))
