"""One instance, with its host key and, for a master, etcd's disk.

User data holds the host's private key. Pods cannot read it: the metadata service answers only to
those who ask twice, and its answer does not travel further than the host itself (hop limit 1).
"""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, Input, Output, Resource, ResourceOptions
from pulumi_aws import ebs, ec2

from components import disks
from components.aws.facts import (
    DISK_TYPE,
    ETCD_DEVICE,
    etcd_disk,
    machine_type,
    tags,
)
from components.cloud import Login, connection, topology
from components.keys import host_key
from components.userdata import cloud_config
from config import ClusterConfig, HostSpec
from interface import Connection, Host

# Changes that concern the next machine: of a running one they would make another, or stop it.
_ONLY_AT_FIRST = ["ami", "keyName", "userData"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a machine goes, what it is made of, and what it shares with others."""

    config: ClusterConfig
    region: str
    zone: str
    subnet_id: Input[str]
    group_id: Input[str]
    image_id: str
    # Its name and not the resource's output: a new login key must not replace the machines.
    key_name: str
    bastion: Connection | None
    after: tuple[Resource, ...]  # the key and what a subnet needs: there as long as the machine is
    address: str | None = None  # of its own, and private; None: any that AWS gives


@dataclass(frozen=True, kw_only=True, slots=True)
class Size:
    """How big a machine is, and for how long."""

    machine_type: str
    disk_gb: int
    etcd_disk_gb: int | None = None
    spot: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """An instance, and the public key that SSH knows it by."""

    instance: ec2.Instance
    host_key: Output[str]


def make_host(
    parent: ComponentResource, spec: HostSpec, login: Login, place: Place, etcd_disk_gb: int | None
) -> Host:
    """The machine of a spec, as phase 2 needs it."""
    size = Size(
        machine_type=machine_type(spec),
        disk_gb=spec.disk_gb or disks.ROOT_GB,
        etcd_disk_gb=etcd_disk_gb,
        spot=spec.spot,
    )
    machine = make_machine(parent, spec.name, size, place)
    instance = machine.instance
    # A master's is known before there is a machine: what others know of it does not wait for one.
    address = place.address or instance.private_ip
    return Host(
        spec=spec,
        address=address,
        identity=instance.id,
        labels=topology(place.region, place.zone, size.machine_type),
        machine=instance,
        connection=connection(
            login=login,
            host_key=machine.host_key,
            private_address=address,
            public_address=instance.public_ip,
            bastion=place.bastion,
        ),
    )


def make_machine(parent: ComponentResource, name: str, size: Size, place: Place) -> Machine:
    """An instance that is known before its first login."""
    key, config = host_key(name, parent), place.config
    volume = None if size.etcd_disk_gb is None else _volume(parent, name, size.etcd_disk_gb, place)
    known = Output.all(
        key.private_key_openssh,
        key.public_key_openssh,
        None if volume is None else volume.id.apply(etcd_disk),
    )
    user_data: Output[str] = Output.secret(known.apply(lambda parts: cloud_config(*parts)))
    instance = ec2.Instance(
        name,
        ami=place.image_id,
        instance_type=size.machine_type,
        subnet_id=place.subnet_id,
        private_ip=place.address,
        vpc_security_group_ids=[place.group_id],
        key_name=place.key_name,
        user_data=user_data,
        root_block_device=ec2.InstanceRootBlockDeviceArgs(
            volume_type=DISK_TYPE,
            volume_size=size.disk_gb,
            encrypted=True,
            tags=tags(config, name),
        ),
        metadata_options=ec2.InstanceMetadataOptionsArgs(
            http_tokens="required", http_put_response_hop_limit=1
        ),
        instance_market_options=_spot() if size.spot else None,
        tags=tags(config, name),
        opts=ResourceOptions(
            parent=parent,
            depends_on=list(place.after),
            ignore_changes=_ONLY_AT_FIRST,
            # Its address is taken until then.
            delete_before_replace=True if place.address else None,
        ),
    )
    if volume is not None:
        _attach(parent, name, instance, volume)
    return Machine(instance=instance, host_key=key.public_key_openssh)


def _spot() -> ec2.InstanceInstanceMarketOptionsArgs:
    """Spare capacity. What was taken back is gone, and the next `pulumi up` makes another."""
    return ec2.InstanceInstanceMarketOptionsArgs(
        market_type="spot",
        spot_options=ec2.InstanceInstanceMarketOptionsSpotOptionsArgs(
            spot_instance_type="one-time", instance_interruption_behavior="terminate"
        ),
    )


def _volume(parent: ComponentResource, name: str, size_gb: int, place: Place) -> ebs.Volume:
    """The disk of a master's etcd, which outlives the machine."""
    return ebs.Volume(
        f"{name}-etcd",
        availability_zone=place.zone,
        type=DISK_TYPE,
        size=size_gb,
        encrypted=True,
        tags=tags(place.config, f"{name}-etcd"),
        opts=ResourceOptions(parent=parent, protect=True),
    )


def _attach(
    parent: ComponentResource, name: str, instance: ec2.Instance, volume: ebs.Volume
) -> None:
    """Where a machine is made anew, the old one lets go of the disk before the new one gets it."""
    ec2.VolumeAttachment(
        f"{name}-etcd",
        device_name=ETCD_DEVICE,
        instance_id=instance.id,
        volume_id=volume.id,
        stop_instance_before_detaching=True,  # a mounted disk is not let go of
        opts=ResourceOptions(parent=parent, delete_before_replace=True),
    )
