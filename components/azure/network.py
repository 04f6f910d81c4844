"""The network on Azure: a subnet and its firewall, the way out, the API's load balancer, a bastion.

With `access.private`, machines have no public address: they leave by a NAT gateway, and SSH goes
through the bastion. Otherwise each has one of its own, for both ways.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import IPv4Network, ip_network

from pulumi import (
    ComponentResource,
    Input,
    InvokeOptions,
    Output,
    Resource,
    ResourceOptions,
)
from pulumi_azure_native.network import (
    LoadBalancer,
    NatGateway,
    PublicIPAddress,
    Subnet,
    VirtualNetwork,
    get_virtual_network,
)
from pulumi_azure_native.resources import ResourceGroup

from components.asking import refusal, refuse_taken, virtual_ranges
from components.azure import facts
from components.azure.addresses import make_address, text_of
from components.azure.firewall import Firewall, let_in, make_firewall, refuse_others
from components.azure.machine import Site, make_host
from components.cloud import NetworkArgs
from components.firewall import Peer, rules
from components.naming import physical, tags
from config import ClusterConfig, HostSpec
from interface import API_PORT, Connection
from model import Role

# Names within the load balancer.
_FRONTEND, _POOL, _PROBE, _RULE, _OUT = "public", "masters", "ready", "api", "out"


@dataclass(frozen=True, kw_only=True, slots=True)
class _VirtualNetwork:
    """Where the subnet is made."""

    resource_group_name: Input[str]
    name: Input[str]


class Network(ComponentResource):
    """All that is neither a master nor a node, in a resource group that dies with it."""

    api_host: Output[str]
    bastion: Connection | None
    lifetime: Resource
    site: Site
    firewall: Firewall
    last_rule: Resource  # of the firewall: others are written after it
    way_out: Output[str] | None  # what all hosts look like outside; None: each like itself
    pool_id: Output[str]  # of the load balancer's backends

    def __init__(self, name: str, args: NetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:azure:Network", name, {}, opts)
        config = args.config
        existing = _existing(self, config)
        group = ResourceGroup(
            f"{name}-group",
            resource_group_name=physical(name, facts.GROUP_NAME),
            location=config.region,
            tags=tags(config),
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        self.lifetime = group
        self.firewall = make_firewall(self, config, group)
        self.last_rule = self._open(config)
        out = make_address(self, f"{name}-nat-address", config, group) if _private(config) else None
        self.way_out = None if out is None else text_of(out)
        self.site = Site(
            config=config,
            login=args.login,
            resource_group=group,
            subnet_id=self._subnet(config, existing or self._virtual_network(config), out).id,
            roles=self.firewall.roles,
            bastion=None,
        )
        self.bastion = None
        if _private(config):
            self.bastion = make_host(self, _bastion(config), self.site, Peer.BASTION).connection
            self.site = replace(self.site, bastion=self.bastion)
        address = make_address(self, f"{name}-api-address", config, group)
        self.api_host = text_of(address)
        self.pool_id = self._balancer(config, group, address)
        self.register_outputs({"api_host": self.api_host})

    def _open(self, config: ClusterConfig) -> Resource:
        """Let in whoever is known before there are nodes: what comes from outside is theirs."""
        ranges: dict[Peer, list[Input[str]]] = {
            Peer.ADMINISTRATOR: [*facts.apart(config.access.ssh_from)],
            Peer.CLIENT: [*facts.apart(config.access.api_from)],
        }
        known = [rule for rule in rules(config) if rule.source is not Peer.OUTSIDE]
        return let_in(self, self.firewall, known, ranges, refuse_others(self, self.firewall))

    def _virtual_network(self, config: ClusterConfig) -> _VirtualNetwork:
        """One of our own; its subnet is a resource beside it, never a part of it."""
        group = self.firewall.resource_group
        network = VirtualNetwork(
            f"{config.name}-network",
            virtual_network_name=physical(f"{config.name}-network", facts.NETWORK_NAME),
            resource_group_name=group.name,
            location=config.region,
            address_space={"address_prefixes": [config.network.host_cidr]},
            tags=tags(config),
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        return _VirtualNetwork(resource_group_name=group.name, name=network.name)

    def _subnet(
        self, config: ClusterConfig, network: _VirtualNetwork, out: PublicIPAddress | None
    ) -> Subnet:
        gateway = None if out is None else self._nat(config, out)
        return Subnet(
            f"{config.name}-subnet",
            subnet_name=physical(f"{config.name}-subnet", facts.NAME),
            resource_group_name=network.resource_group_name,
            virtual_network_name=network.name,
            address_prefix=config.network.host_cidr,
            default_outbound_access=False,  # only by what we give a machine
            network_security_group={"id": self.firewall.security_group.id},
            nat_gateway=None if gateway is None else {"id": gateway.id},
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )

    def _nat(self, config: ClusterConfig, address: PublicIPAddress) -> NatGateway:
        return NatGateway(
            f"{config.name}-nat",
            nat_gateway_name=physical(f"{config.name}-nat", facts.NAME),
            resource_group_name=self.firewall.resource_group.name,
            location=config.region,
            sku={"name": "Standard"},
            public_ip_addresses=[{"id": address.id}],
            idle_timeout_in_minutes=facts.IDLE_MINUTES,
            tags=tags(config),
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )

    def _balancer(
        self, config: ClusterConfig, group: ResourceGroup, address: PublicIPAddress
    ) -> Output[str]:
        """The API's load balancer; masters join the pool whose id this is."""
        name = physical(f"{config.name}-api", facts.NAME)

        def part(kind: str, of: str) -> Output[str]:
            """A part's id, which the other parts need before there is any."""
            kinds = "providers/Microsoft.Network/loadBalancers"
            return Output.format("{0}/{1}/{2}/{3}/{4}", group.id, kinds, name, kind, of)

        frontend = part("frontendIPConfigurations", _FRONTEND)
        pool = part("backendAddressPools", _POOL)
        balancer = LoadBalancer(
            f"{config.name}-api",
            load_balancer_name=name,
            resource_group_name=group.name,
            location=config.region,
            sku={"name": "Standard"},
            frontend_ip_configurations=[
                {"name": _FRONTEND, "public_ip_address": {"id": address.id}}
            ],
            backend_address_pools=[{"name": _POOL}],
            probes=[
                {
                    "name": _PROBE,
                    "protocol": "Https",
                    "port": API_PORT,
                    "request_path": facts.PROBE_PATH,
                    "interval_in_seconds": facts.PROBE_SECONDS,
                    "probe_threshold": facts.PROBE_ANSWERS,
                }
            ],
            load_balancing_rules=[
                {
                    "name": _RULE,
                    "protocol": "Tcp",
                    "frontend_port": API_PORT,
                    "backend_port": API_PORT,
                    "frontend_ip_configuration": {"id": frontend},
                    "backend_address_pools": [{"id": pool}],
                    "probe": {"id": part("probes", _PROBE)},
                    "enable_tcp_reset": True,
                    "idle_timeout_in_minutes": facts.IDLE_MINUTES,
                    "disable_outbound_snat": True,  # the outbound rule has the same frontend
                }
            ],
            outbound_rules=[
                {
                    "name": _OUT,
                    "protocol": "All",
                    "frontend_ip_configurations": [{"id": frontend}],
                    "backend_address_pool": {"id": pool},
                    "enable_tcp_reset": True,
                    "idle_timeout_in_minutes": facts.IDLE_MINUTES,
                }
            ],
            tags=tags(config),
            opts=ResourceOptions(parent=self, delete_before_replace=True),
        )
        return Output.concat(balancer.id, "/backendAddressPools/", _POOL)


def _private(config: ClusterConfig) -> bool:
    return config.access.private


def _existing(parent: ComponentResource, config: ClusterConfig) -> _VirtualNetwork | None:
    """The virtual network that the config names, or RunError if the hosts' range is not in it."""
    existing = config.network.existing
    if existing is None:
        return None
    group, name = facts.network_names(existing)
    try:
        found = get_virtual_network(
            resource_group_name=group,
            virtual_network_name=name,
            opts=InvokeOptions(parent=parent),
        )
    except Exception as error:
        remedy = "write the id of a virtual network that is there and that you may read"
        raise refusal("network.existing", existing, f"cannot be read: {error}", remedy) from error
    prefixes = found.address_space.address_prefixes if found.address_space else None
    networks = map(ip_network, prefixes or ())
    ranges = [network for network in networks if isinstance(network, IPv4Network)]
    ours = IPv4Network(config.network.host_cidr)
    if not any(ours.subnet_of(theirs) for theirs in ranges):
        message = f"is not within {existing}, which has {', '.join(map(str, ranges))}"
        raise refusal(
            "network.hostCidr", str(ours), message, "write a free range within one of those"
        )
    refuse_taken(virtual_ranges(config), [(str(theirs), existing) for theirs in ranges])
    if found.location != config.region:
        message = f"is not that of {existing}, which is in {found.location}"
        remedy = f"write region: {found.location}, or another network"
        raise refusal("region", str(config.region), message, remedy)
    return _VirtualNetwork(resource_group_name=group, name=name)


def _bastion(config: ClusterConfig) -> HostSpec:
    """The smallest machine that SSH can go through."""
    return HostSpec(
        name=f"{config.name}-bastion",
        role=Role.NODE,  # of no pool: it is never a host of the cluster
        index=0,
        arch=config.architecture,
        machine_type=facts.BASTION_TYPES[config.architecture],
        disk_gb=None,
        image=None,
        spot=False,
        labels={},
        taints=(),
        kubelet=config.kubelet,
    )
