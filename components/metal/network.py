"""What leads to the hosts: the API's endpoint, the bastion, the mirror. Nothing of it is made."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, Output, ResourceOptions

from components.cloud import mirror_url
from components.metal.machine import login
from config import ClusterConfig
from interface import API_PORT, Connection
from model import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkArgs:
    """What the hosts are a network of."""

    config: ClusterConfig


class Network(ComponentResource):
    """The ways that are there already, as the config says."""

    api_host: str  # as nodes reach it
    operator_api_host: str
    operator_api_port: int
    bastion: Connection | None
    mirror_url: Output[str] | None

    def __init__(self, name: str, args: NetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:metal:Network", name, {}, opts)
        metal = args.config.metal
        # Without an endpoint of its own there is one master, or the rules say so: each side reaches
        # it by the address that it knows of it.
        master = next(host for host in metal.hosts if host.role is Role.MASTER)
        self.api_host = metal.api_host or master.inner_address
        self.operator_api_host = metal.api_host or master.address
        self.operator_api_port = API_PORT
        self.bastion = login(metal.bastion) if metal.bastion else None
        self.mirror_url = mirror_url(args.config)
        self.register_outputs({"api_host": self.api_host})
