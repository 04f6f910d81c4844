"""What the clouds have in common: which parts there are, in which order, and what comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, Protocol, TypeVar

from pulumi import ComponentResource, Input, Output, ProviderResource, Resource, ResourceOptions

from components.keys import login_key
from config import ClusterConfig, HostSpec
from interface import API_PORT, Connection, Host, Machines, Traits
from model import Role

_VXLAN_BYTES = 50  # RFC 7348: what a packet grows by


@dataclass(frozen=True, kw_only=True, slots=True)
class Login:
    """How phase 2 logs in: the same user and key on every host, the bastion included."""

    user: str
    private_key: Output[str]
    public_key: Output[str]  # one line, `ssh-ed25519 AAAA...`


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkArgs:
    """What a cloud's network is made for."""

    config: ClusterConfig
    login: Login


class CloudNetwork(Protocol):
    """What a cloud's `Network` has: all that is not a master or a node."""

    api_host: Output[str]  # address or name of the API's load balancer
    bastion: Connection | None
    lifetime: Resource  # what everything in the network dies with


class HostGroup(Protocol):
    """What a cloud's `Masters` and `Nodes` have."""

    hosts: tuple[Host, ...]


_Network = TypeVar("_Network", bound=CloudNetwork)


@dataclass(frozen=True, kw_only=True, slots=True)
class MachinesArgs(Generic[_Network]):
    """The machines to make: masters, or nodes of all pools."""

    config: ClusterConfig
    specs: tuple[HostSpec, ...]
    network: _Network
    login: Login


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts(Generic[_Network]):
    """A cloud, as its package has it."""

    kind: str  # the component's type: kubernetes-anywhere:aws:Aws
    provider: Callable[[str, ClusterConfig, ResourceOptions], ProviderResource]
    network: Callable[[str, NetworkArgs, ResourceOptions], _Network]
    masters: Callable[[str, MachinesArgs[_Network], ResourceOptions], HostGroup]
    nodes: Callable[[str, MachinesArgs[_Network], ResourceOptions], HostGroup]
    traits: Traits


class Cloud(ComponentResource, Generic[_Network]):
    """A cluster's machines in a cloud. All of it uses one provider, made here."""

    machines: Machines

    def __init__(self, name: str, config: ClusterConfig, parts: Parts[_Network]) -> None:
        super().__init__(parts.kind, name, {})
        provider = parts.provider(name, config, ResourceOptions(parent=self))
        child = ResourceOptions(parent=self, providers=[provider])
        key = login_key(name, self)
        login = Login(
            user=config.access.ssh_user,
            private_key=key.private_key_openssh,
            public_key=key.public_key_openssh.apply(str.strip),
        )
        network = parts.network(name, NetworkArgs(config=config, login=login), child)

        def arguments(role: Role) -> MachinesArgs[_Network]:
            return MachinesArgs(
                config=config,
                specs=tuple(spec for spec in config.hosts if spec.role is role),
                network=network,
                login=login,
            )

        masters = parts.masters(name, arguments(Role.MASTER), child)
        nodes = parts.nodes(name, arguments(Role.NODE), child)
        self.machines = Machines(
            hosts=(*masters.hosts, *nodes.hosts),
            api_host=network.api_host,
            operator_api_host=network.api_host,
            operator_api_port=API_PORT,
            mirror_url=mirror_url(config),
            traits=replace(parts.traits, makes_cloud_things=True),
            lifetime=network.lifetime,
            everything=self,
        )
        self.register_outputs({"api_host": network.api_host})


def traits(mtu: int) -> Traits:
    """What is peculiar to machines in a network that takes packets of `mtu` bytes."""
    return Traits(flannel={"MTU": mtu - _VXLAN_BYTES})


def topology(region: str, zone: str | None, machine_type: str) -> Mapping[str, str]:
    """The labels by which a scheduler spreads pods; a cloud's controller would set the same."""
    labels = {
        "topology.kubernetes.io/region": region,
        "node.kubernetes.io/instance-type": machine_type,
    }
    return labels if zone is None else {**labels, "topology.kubernetes.io/zone": zone}


def mirror_url(config: ClusterConfig) -> Output[str] | None:
    """Where hosts get images and archives; the rules have seen to it that a mirror has a URL."""
    if config.mirror is None or config.mirror.url is None:
        return None
    return Output.from_input(config.mirror.url)


def connection(
    *,
    login: Login,
    host_key: Input[str],
    private_address: Input[str],
    public_address: Input[str],
    bastion: Connection | None,
) -> Connection:
    """The way to a host: by its public address, or through the bastion by its private one."""
    return Connection(
        host=public_address if bastion is None else private_address,
        user=login.user,
        private_key=login.private_key,
        host_key=host_key,
        proxy=bastion,
    )
