"""One virtual machine: its addresses, its disks, and the key that it is known by.

What a change would need and the API refuses makes the machine anew. Its interface, its addresses
and etcd's disk stay the same then, so that the old machine has to go first. User data is for the
machine's root: Azure's metadata service, which pods reach, does not hand it out.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from pulumi import ComponentResource, Input, Output, ResourceOptions
from pulumi_azure_native.compute import (
    CachingTypes,
    DataDiskArgsDict,
    Disk,
    SecurityProfileArgsDict,
    StorageProfileArgsDict,
    VirtualMachine,
)
from pulumi_azure_native.network import (
    ApplicationSecurityGroup,
    NetworkInterface,
    NetworkInterfaceIPConfigurationArgsDict,
    PublicIPAddress,
)
from pulumi_azure_native.network.outputs import NetworkInterfaceIPConfigurationResponse
from pulumi_azure_native.resources import ResourceGroup

from components import disks
from components.azure import facts
from components.azure.addresses import make_address, text_of
from components.cloud import Login, connection, topology
from components.firewall import Peer
from components.keys import host_key
from components.naming import physical, tags
from components.subnets import fixed_address
from components.userdata import cloud_config
from config import ClusterConfig, HostSpec
from interface import Connection, Host

_Configurations: TypeAlias = Sequence[NetworkInterfaceIPConfigurationResponse] | None

# Of the day when the machine is made. Trusted Launch goes with the image.
_PINNED = [
    "osProfile.customData",
    "osProfile.linuxConfiguration.ssh",
    "storageProfile.imageReference",
    "securityProfile",
]
# The API refuses to change these (PropertyChangeNotAllowed and others), and azure-native tries.
_MADE_ANEW = ["osProfile", "storageProfile.osDisk", "zones", "priority", "evictionPolicy"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Site:
    """Where the cluster's machines stand, and who may log in to them."""

    config: ClusterConfig
    login: Login
    resource_group: ResourceGroup
    subnet_id: Output[str]
    roles: Mapping[Peer, ApplicationSecurityGroup]
    bastion: Connection | None  # None: machines have public addresses


@dataclass(frozen=True, kw_only=True, slots=True)
class _Parts:
    """What a machine is put together from."""

    zone: list[str] | None
    size: str
    interface: NetworkInterface
    etcd_disk: Disk | None
    user_data: Output[str]


def make_host(  # noqa: PLR0913 (by name, all but the first four)
    parent: ComponentResource,
    spec: HostSpec,
    site: Site,
    role: Peer,
    *,
    pools: Sequence[Input[str]] = (),
    etcd_disk_gb: int | None = None,
) -> Host:
    """A machine for the spec. `pools` are ids of the load balancer's pools that it joins."""
    key = host_key(spec.name, parent)
    public = None
    if site.bastion is None:
        public = make_address(parent, f"{spec.name}-address", site.config, site.resource_group)
    fixed = fixed_address(spec, site.config.network.host_cidr, facts.KEPT)
    interface = _interface(parent, spec.name, site, role, fixed, public, pools)
    zones = site.config.zones or facts.zones(site.config.region)
    zone = [zones[spec.index % len(zones)]] if zones else None
    size = spec.machine_type or facts.MACHINE_TYPES[spec.arch]
    disk = None
    if etcd_disk_gb is not None:
        disk = _etcd_disk(parent, spec.name, site, zone, etcd_disk_gb)
    path = None if disk is None else facts.etcd_disk(size)
    user_data = Output.all(key.private_key_openssh, key.public_key_openssh).apply(
        lambda pair: b64encode(cloud_config(pair[0], pair[1], path).encode()).decode()
    )
    parts = _Parts(
        zone=zone,
        size=size,
        interface=interface,
        etcd_disk=disk,
        user_data=Output.secret(user_data),
    )
    machine = _machine(parent, spec, site, parts)
    # By way of the id: before the interface is made, all but its address seems to be known.
    configurations: Output[_Configurations] = interface.id.apply(
        lambda _: interface.ip_configurations
    )
    address = fixed or configurations.apply(_private_address)
    return Host(
        spec=spec,
        address=address,
        machine=machine,
        identity=machine.vm_id,
        # A zone's label has the region in it, as Azure's own controller writes it.
        labels=topology(
            str(site.config.region), f"{site.config.region}-{zone[0]}" if zone else None, size
        ),
        connection=connection(
            login=site.login,
            host_key=key.public_key_openssh,
            private_address=address,
            public_address=address if public is None else text_of(public),
            bastion=site.bastion,
        ),
    )


def _private_address(configurations: _Configurations) -> str:
    return next((found.private_ip_address or "" for found in configurations or ()), "")


def _interface(  # noqa: PLR0913, PLR0917 (parts of one interface)
    parent: ComponentResource,
    name: str,
    site: Site,
    role: Peer,
    fixed: str | None,
    public: PublicIPAddress | None,
    pools: Sequence[Input[str]],
) -> NetworkInterface:
    configuration: NetworkInterfaceIPConfigurationArgsDict = {
        "name": "primary",
        "primary": True,
        "subnet": {"id": site.subnet_id},
        # Azure reserves no address for whoever comes later. But a dynamic one is, as a rule, the
        # lowest that is free (docs, "Private IP addresses"; no promise), and the masters' are the
        # last of a subnet that the rules have found big enough: no node gets that far.
        "private_ip_allocation_method": "Static" if fixed else "Dynamic",
        "application_security_groups": [{"id": site.roles[role].id}],
    }
    # No key without a value: null would go to the API.
    if fixed is not None:
        configuration["private_ip_address"] = fixed
    if public is not None:
        configuration["public_ip_address"] = {"id": public.id}
    if pools:
        configuration["load_balancer_backend_address_pools"] = [{"id": pool} for pool in pools]
    return NetworkInterface(
        f"{name}-interface",
        network_interface_name=physical(f"{name}-interface", facts.NAME),
        resource_group_name=site.resource_group.name,
        location=site.config.region,
        ip_configurations=[configuration],
        tags=tags(site.config),
        opts=ResourceOptions(parent=parent, delete_before_replace=True),
    )


def _etcd_disk(
    parent: ComponentResource, name: str, site: Site, zone: list[str] | None, size_gb: int
) -> Disk:
    """Apart from the machine, so that the member's data outlives it."""
    return Disk(
        f"{name}-etcd",
        disk_name=physical(f"{name}-etcd", facts.NAME),
        resource_group_name=site.resource_group.name,
        location=site.config.region,
        zones=zone,
        creation_data={"create_option": "Empty"},
        disk_size_gb=size_gb,
        sku={"name": facts.ETCD_DISK_TYPE},
        encryption={"type": facts.ENCRYPTION},
        tags=tags(site.config),
        opts=ResourceOptions(
            parent=parent, protect=True, delete_before_replace=True, replace_on_changes=["zones"]
        ),
    )


def _machine(
    parent: ComponentResource, spec: HostSpec, site: Site, parts: _Parts
) -> VirtualMachine:
    text = spec.image or facts.IMAGES[spec.arch]
    image = facts.image(text)
    user = site.login.user
    return VirtualMachine(
        spec.name,
        vm_name=physical(spec.name, facts.MACHINE_NAME),
        resource_group_name=site.resource_group.name,
        location=site.config.region,
        zones=parts.zone,
        hardware_profile={"vm_size": parts.size},
        # A machine that is reclaimed is gone, with its root disk, and the next `up` makes another.
        priority="Spot" if spec.spot else "Regular",
        eviction_policy="Delete" if spec.spot else None,
        billing_profile={"max_price": -1} if spec.spot else None,
        os_profile={
            "computer_name": spec.name,
            "admin_username": user,
            "custom_data": parts.user_data,
            "linux_configuration": {
                "disable_password_authentication": True,
                "ssh": {
                    "public_keys": [
                        {
                            "path": f"/home/{user}/.ssh/authorized_keys",  # no other is allowed
                            "key_data": site.login.public_key,
                        }
                    ]
                },
            },
        },
        storage_profile=_storage_profile(spec, image, parts),
        # The interface waits for the next machine; deleting both is the program's.
        network_profile={
            "network_interfaces": [
                {"id": parts.interface.id, "primary": True, "delete_option": "Detach"}
            ]
        },
        security_profile=_TRUSTED_LAUNCH if text in facts.TRUSTED_LAUNCH else None,
        diagnostics_profile={"boot_diagnostics": {"enabled": True}},
        tags=tags(site.config),
        opts=ResourceOptions(
            parent=parent,
            delete_before_replace=True,
            ignore_changes=_PINNED,
            replace_on_changes=_MADE_ANEW,
        ),
    )


_TRUSTED_LAUNCH: SecurityProfileArgsDict = {
    "security_type": "TrustedLaunch",
    "uefi_settings": {"secure_boot_enabled": True, "v_tpm_enabled": True},
}


def _storage_profile(spec: HostSpec, image: facts.Image, parts: _Parts) -> StorageProfileArgsDict:
    profile: StorageProfileArgsDict = {
        "image_reference": {
            "publisher": image.publisher,
            "offer": image.offer,
            "sku": image.sku,
            "version": image.version,
        },
        "os_disk": {
            "create_option": "FromImage",
            "delete_option": "Delete",
            "disk_size_gb": spec.disk_gb or disks.ROOT_GB,
            "managed_disk": {"storage_account_type": facts.ROOT_DISK_TYPE},
        },
    }
    if parts.etcd_disk is not None:
        profile["data_disks"] = [_attached(parts.etcd_disk)]
    controller = facts.disk_controller(parts.size)
    if controller is not None:
        profile["disk_controller_type"] = controller
    return profile


def _attached(disk: Disk) -> DataDiskArgsDict:
    return {
        "lun": facts.ETCD_LUN,
        "create_option": "Attach",
        "managed_disk": {"id": disk.id},
        "caching": CachingTypes.NONE,  # etcd writes more than it reads, and waits for the disk
        "delete_option": "Detach",
    }
