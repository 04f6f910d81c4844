"""The network on AWS: a VPC or a piece of one, its ways out, the firewall, the API's endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pulumi import ComponentResource, Input, InvokeOptions, Output, Resource, ResourceOptions
from pulumi_aws import ec2, lb

from components import disks
from components.aws.facts import (
    ANYWHERE,
    BASTION_TYPES,
    IDLE_SECONDS,
    KEPT,
    LOAD_BALANCER_NAME,
    RESERVATION,
    cut,
    masters_arch,
    tags,
    zone_at,
    zone_of,
)
from components.aws.firewall import Groups, admit_outside, make_groups
from components.aws.lookups import Existing, find_images, find_network, find_zones
from components.aws.machine import Place, Size, make_machine
from components.cloud import Login, NetworkArgs, connection
from components.firewall import Peer
from components.naming import physical
from components.subnets import fixed_address, master_address
from config import HostSpec
from interface import API_PORT, Connection
from model import MOST_MASTERS, Role


@dataclass(frozen=True, kw_only=True, slots=True)
class _Side:
    """The subnets that have one way out, by zone, and what comes before whatever is in them."""

    subnets: Mapping[str, ec2.Subnet]
    ranges: Mapping[str, str]
    first: tuple[Resource, ...]  # the way out, and the masters' addresses


class Network(ComponentResource):
    """All that is no host. Asks AWS first, so that what cannot be fails before anything is made.

    Hosts are in subnets of their zones, which are public unless the config says otherwise. The
    load balancer, the NAT gateway and the bastion are always in public ones.
    """

    api_host: Output[str]
    bastion: Connection | None
    lifetime: Resource
    groups: Groups
    target_group: lb.TargetGroup

    def __init__(self, name: str, args: NetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:aws:Network", name, {}, opts)
        self._config = config = args.config
        ask = InvokeOptions(parent=self)
        self._zones = find_zones(config, ask)
        self._images = find_images(config, ask)
        vpc_id, gateway_id = self._vpc(find_network(config, ask))
        ranges = cut(config.network.host_cidr, len(self._zones))
        public = self._side("public", ranges.public, vpc_id, {"gateway_id": gateway_id})
        self.groups = make_groups(self, config, vpc_id)
        self.lifetime = self.groups[Peer.MASTER]
        self._key = self._key_pair(args.login)
        self._home = public
        self.bastion = None
        if config.access.private:
            self.bastion = self._make_bastion(args.login, public)
            self._home = self._private_side(ranges.private, vpc_id, public)
        self.target_group = self._make_target_group(vpc_id)
        self.api_host = self._make_load_balancer(public)
        self.register_outputs({"api_host": self.api_host})

    def place(self, spec: HostSpec) -> Place:
        """Where a host goes."""
        zone = zone_of(spec, self._zones)
        place = self._place(
            zone, self._home, Peer(spec.role), self._images[spec.arch, spec.image], self.bastion
        )
        return replace(place, address=fixed_address(spec, self._home.ranges[zone], KEPT))

    def _place(
        self, zone: str, side: _Side, peer: Peer, image_id: str, bastion: Connection | None
    ) -> Place:
        return Place(
            config=self._config,
            region=self._config.region or "",  # the rules have seen to it that there is one
            zone=zone,
            subnet_id=side.subnets[zone].id,
            group_id=self.groups[peer].id,
            image_id=image_id,
            key_name=self._config.name,
            bastion=bastion,
            after=(self._key, *side.first),
        )

    def _full_name(self, what: str) -> str:
        return f"{self._config.name}-{what}"

    def _options(
        self, *after: Resource, delete_before_replace: bool | None = None
    ) -> ResourceOptions:
        return ResourceOptions(
            parent=self, depends_on=list(after), delete_before_replace=delete_before_replace
        )

    def _vpc(self, existing: Existing | None) -> tuple[Input[str], Input[str]]:
        """The ids of the network, as big as the hosts' range if it is ours, and of its gateway."""
        if existing is not None:
            return existing.vpc_id, existing.gateway_id
        name = self._full_name("network")
        vpc = ec2.Vpc(
            name,
            cidr_block=self._config.network.host_cidr,
            tags=tags(self._config, name),
            opts=self._options(),
        )
        gateway = ec2.InternetGateway(
            name, vpc_id=vpc.id, tags=tags(self._config, name), opts=self._options()
        )
        return vpc.id, gateway.id

    def _side(
        self,
        kind: str,
        ranges: tuple[str, ...],
        vpc_id: Input[str],
        target: Mapping[str, Input[str]],
    ) -> _Side:
        """A subnet in each zone, and one table that sends what is not for the network there."""
        name, by_zone = self._full_name(kind), dict(zip(self._zones, ranges, strict=True))
        subnets: dict[str, ec2.Subnet] = {}
        table = ec2.RouteTable(
            name, vpc_id=vpc_id, tags=tags(self._config, name), opts=self._options()
        )
        route = ec2.Route(
            name,
            route_table_id=table.id,
            destination_cidr_block=ANYWHERE,
            **target,
            opts=self._options(),
        )
        first: list[Resource] = [route]
        for zone, cidr in by_zone.items():
            subnet = subnets[zone] = ec2.Subnet(
                f"{name}-{zone}",
                vpc_id=vpc_id,
                availability_zone=zone,
                cidr_block=cidr,
                # Here and not at each machine, where it would replace one that somebody stopped.
                map_public_ip_on_launch=kind == "public",
                tags=tags(self._config, f"{name}-{zone}"),
                opts=self._options(),
            )
            association = ec2.RouteTableAssociation(
                f"{name}-{zone}",
                route_table_id=table.id,
                subnet_id=subnet.id,
                opts=self._options(),
            )
            first.append(association)
        if (kind == "private") is self._config.access.private:  # where the hosts are
            first.extend(self._masters_addresses(subnets, by_zone))
        return _Side(subnets=subnets, ranges=by_zone, first=tuple(first))

    def _masters_addresses(
        self, subnets: Mapping[str, ec2.Subnet], ranges: Mapping[str, str]
    ) -> Iterator[ec2.SubnetCidrReservation]:
        """Reserve the addresses of as many masters as there can be, be there so many or not.

        AWS gives any other to whoever asks for none, a node or a load balancer. Else one of those
        might have what a later master needs, or what a master had that is being made anew.
        """
        for index in range(MOST_MASTERS):
            name, zone = self._full_name(f"{Role.MASTER}-{index}"), zone_at(index, self._zones)
            yield ec2.SubnetCidrReservation(
                name,
                subnet_id=subnets[zone].id,
                cidr_block=f"{master_address(ranges[zone], KEPT, index)}/32",
                reservation_type=RESERVATION,
                description=name,
                opts=self._options(),
            )

    def _private_side(self, ranges: tuple[str, ...], vpc_id: Input[str], public: _Side) -> _Side:
        """Subnets whose way out is one NAT gateway; the API lets in the nodes by its address."""
        name = self._full_name("nat")
        address = ec2.Eip(
            name,
            domain="vpc",
            tags=tags(self._config, name),
            opts=self._options(*public.first),
        )
        gateway = ec2.NatGateway(
            name,
            allocation_id=address.id,
            subnet_id=public.subnets[self._zones[0]].id,
            tags=tags(self._config, name),
            opts=self._options(*public.first),
        )
        admit_outside(self, self._config, self.groups, {name: address.public_ip})
        return self._side("private", ranges, vpc_id, {"nat_gateway_id": gateway.id})

    def _key_pair(self, login: Login) -> ec2.KeyPair:
        """The login key, as instances take it."""
        return ec2.KeyPair(
            self._config.name,
            key_name=self._config.name,
            public_key=login.public_key,
            tags=tags(self._config, self._config.name),
            opts=self._options(delete_before_replace=True),  # its name is taken until it is gone
        )

    def _make_bastion(self, login: Login, public: _Side) -> Connection:
        """The one machine with a public address, of the masters' image."""
        arch, image = masters_arch(self._config), self._config.masters.image
        machine = make_machine(
            self,
            self._full_name("bastion"),
            Size(machine_type=BASTION_TYPES[arch], disk_gb=disks.BASTION_GB),
            self._place(self._zones[0], public, Peer.BASTION, self._images[arch, image], None),
        )
        return connection(
            login=login,
            host_key=machine.host_key,
            private_address=machine.instance.private_ip,
            public_address=machine.instance.public_ip,
            bastion=None,
        )

    def _make_target_group(self, vpc_id: Input[str]) -> lb.TargetGroup:
        """The masters, and how to tell which are well: an API server says it to anybody."""
        name = self._full_name("api")
        return lb.TargetGroup(
            name,
            name=physical(name, LOAD_BALANCER_NAME),
            vpc_id=vpc_id,
            target_type="instance",
            protocol="TCP",
            port=API_PORT,
            preserve_client_ip="true",
            health_check=lb.TargetGroupHealthCheckArgs(
                protocol="HTTPS",
                path="/readyz",
                matcher="200",
                interval=10,
                healthy_threshold=2,
                unhealthy_threshold=2,
            ),
            tags=tags(self._config, name),
            opts=self._options(delete_before_replace=True),
        )

    def _make_load_balancer(self, public: _Side) -> Output[str]:
        """The endpoint's name. Its group is there from the start: it cannot be given one later."""
        name = self._full_name("api")
        balancer = lb.LoadBalancer(
            name,
            name=physical(name, LOAD_BALANCER_NAME),
            load_balancer_type="network",
            internal=False,
            security_groups=[self.groups[Peer.BALANCER].id],
            subnets=[subnet.id for subnet in public.subnets.values()],
            # Else an address serves the masters of its own zone only, of which there may be none.
            enable_cross_zone_load_balancing=True,
            tags=tags(self._config, name),
            opts=self._options(*public.first, delete_before_replace=True),
        )
        lb.Listener(
            name,
            load_balancer_arn=balancer.arn,
            protocol="TCP",
            port=API_PORT,
            tcp_idle_timeout_seconds=IDLE_SECONDS,
            default_actions=[
                lb.ListenerDefaultActionArgs(type="forward", target_group_arn=self.target_group.arn)
            ],
            tags=tags(self._config, name),
            opts=self._options(),
        )
        found: Output[str] = balancer.dns_name
        return found
