"""All that is neither a master nor a node: network, firewall, the API's endpoint, NAT, bastion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pulumi import (
    ComponentResource,
    Input,
    InvokeOptions,
    Output,
    Resource,
    ResourceOptions,
)
from pulumi_gcp import compute

from components import disks, firewall
from components.cloud import NetworkArgs
from components.firewall import Peer
from components.gce import facts
from components.gce.firewall import make_rules
from components.gce.lookups import find_images, find_network, find_zones
from components.gce.machine import Shape, Site, make_address, make_machine
from components.naming import physical, tags
from components.subnets import master_address
from config import ClusterConfig
from interface import API_PORT, Connection
from model import MOST_MASTERS, Role


class Network(ComponentResource):
    """One regional subnet, what may come in to it, and one address for the API servers."""

    api_host: Output[str]
    bastion: Connection | None
    lifetime: Resource
    network: Input[str]  # its self link
    site: Site
    groups: Mapping[str, compute.InstanceGroup]  # {zone: the masters there}
    nat_addresses: tuple[Output[str], ...]  # what private machines look like outside

    def __init__(self, name: str, args: NetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:gce:Network", name, {}, opts)
        config, ask = args.config, InvokeOptions(parent=self)
        zones, images = find_zones(config, ask), find_images(config, ask)
        self.network = find_network(config, ask) or self._own(config)
        subnetwork = compute.Subnetwork(
            f"{name}-subnetwork",
            name=_physical(name),
            network=self.network,
            ip_cidr_range=config.network.host_cidr,
            opts=self._child(),
        )
        self.lifetime = subnetwork
        self.site = Site(
            config=config,
            login=args.login,
            zones=zones,
            images=images,
            subnetwork=subnetwork.self_link,
            bastion=None,
            first=tuple(self._masters_addresses(config, subnetwork)),
        )
        self._let_in(config)
        self.groups, self.api_host = self._endpoint(config, zones)
        self.bastion, self.nat_addresses = None, ()
        if config.access.private:
            self._make_private(subnetwork)
        self.register_outputs({"api_host": self.api_host})

    def _child(self) -> ResourceOptions:
        """For what has a name of its own, which no second one may have beside it."""
        return ResourceOptions(parent=self, delete_before_replace=True)

    def _own(self, config: ClusterConfig) -> Output[str]:
        network = compute.Network(
            f"{config.name}-network",
            name=_physical(config.name),
            auto_create_subnetworks=False,
            mtu=facts.MTU,
            opts=self._child(),
        )
        found: Output[str] = network.self_link
        return found

    def _masters_addresses(
        self, config: ClusterConfig, subnetwork: compute.Subnetwork
    ) -> Iterator[compute.Address]:
        """Reserve the addresses of as many masters as there can be, be there so many or not.

        Google gives any other to whoever asks for none. Else a node might have what a later master
        needs, or what a master had that is being made anew. They cost nothing.
        """
        for index in range(MOST_MASTERS):
            name = f"{config.name}-{Role.MASTER}-{index}-private"
            yield compute.Address(
                f"{name}-address",
                name=_physical(name),
                address_type=facts.PRIVATE_ADDRESS,
                subnetwork=subnetwork.self_link,
                address=master_address(config.network.host_cidr, facts.KEPT, index),
                labels=tags(config),
                opts=self._child(),
            )

    def _let_in(self, config: ClusterConfig) -> None:
        """All rules but those for nodes as they look outside, which have no address yet."""
        make_rules(
            self,
            config,
            self.network,
            [rule for rule in firewall.rules(config) if rule.source is not Peer.OUTSIDE],
            {
                Peer.ADMINISTRATOR: config.access.ssh_from,
                Peer.CLIENT: config.access.api_from,
                Peer.BALANCER: facts.PROBES,
            },
        )

    def _endpoint(
        self, config: ClusterConfig, zones: tuple[str, ...]
    ) -> tuple[Mapping[str, compute.InstanceGroup], Output[str]]:
        """A passthrough load balancer: clients' addresses stay, and so do TLS connections."""
        name = f"{config.name}-api"
        address = make_address(self, name, config)
        masters = (spec for spec in config.hosts if spec.role is Role.MASTER)
        groups = {
            zone: compute.InstanceGroup(
                f"{config.name}-masters-{zone}",
                name=_physical(f"{config.name}-masters"),
                zone=zone,
                network=self.network,
                opts=self._child(),
            )
            for zone in sorted({facts.zone_of(spec, zones) for spec in masters})
        }
        check = compute.RegionHealthCheck(
            name,
            name=_physical(name),
            https_health_check=compute.RegionHealthCheckHttpsHealthCheckArgs(
                port=API_PORT, request_path="/readyz"
            ),
            opts=self._child(),
        )
        backend = compute.RegionBackendService(
            name,
            name=_physical(name),
            load_balancing_scheme="EXTERNAL",
            protocol="TCP",
            health_checks=check.self_link,
            backends=[
                compute.RegionBackendServiceBackendArgs(
                    group=group.self_link, balancing_mode="CONNECTION"
                )
                for group in groups.values()
            ],
            opts=self._child(),
        )
        compute.ForwardingRule(
            name,
            name=_physical(name),
            load_balancing_scheme="EXTERNAL",
            backend_service=backend.self_link,
            ip_address=address.address,
            ip_protocol="TCP",
            ports=[str(API_PORT)],
            labels=tags(config),
            opts=self._child(),
        )
        return groups, address.address

    def _make_private(self, subnetwork: compute.Subnetwork) -> None:
        """Machines get out by NAT, with an address that is known, and are reached by a bastion."""
        config = self.site.config
        address = make_address(self, f"{config.name}-nat", config)
        router = compute.Router(
            f"{config.name}-router",
            name=_physical(config.name),
            network=self.network,
            opts=self._child(),
        )
        nat = compute.RouterNat(
            f"{config.name}-nat",
            name=_physical(f"{config.name}-nat"),
            router=router.name,
            nat_ip_allocate_option="MANUAL_ONLY",
            nat_ips=[address.self_link],
            source_subnetwork_ip_ranges_to_nat="LIST_OF_SUBNETWORKS",
            subnetworks=[
                compute.RouterNatSubnetworkArgs(
                    name=subnetwork.self_link, source_ip_ranges_to_nats=["PRIMARY_IP_RANGE"]
                )
            ],
            # By default a machine has 64 ports, and a node that pulls images may need more.
            enable_dynamic_port_allocation=True,
            opts=self._child(),
        )
        name = f"{config.name}-bastion"
        shape = Shape(
            name=name,
            zone=self.site.zones[0],
            machine_type=facts.BASTION_TYPE,
            image=self.site.images[None, facts.BASTION_ARCH],
            signed=True,
            disk_gb=disks.BASTION_GB,
            peer=Peer.BASTION,
        )
        bastion = make_machine(self, self.site, shape, make_address(self, name, config))
        self.bastion = bastion.connection
        self.nat_addresses = (address.address,)
        self.site = replace(self.site, bastion=self.bastion, first=(*self.site.first, nat))


def _physical(name: str) -> str:
    return physical(name, facts.NAME_LIMIT)
