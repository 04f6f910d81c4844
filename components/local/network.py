"""The local network: a Docker bridge, the API's load balancer, the mirror's server; no machine."""

from __future__ import annotations

from dataclasses import dataclass

from pulumi import ComponentResource, Output, Resource, ResourceOptions, get_stack

from components.local.host import answer, docker_verb
from components.local.image.build import image_tag
from config import ClusterConfig
from interface import API_PORT

# Whose the network is, and with it all that is on it: two stacks may not share a cluster's name.
STACK_LABEL = "io.kubernetes-anywhere.stack"


@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkArgs:
    """What the network is made for."""

    config: ClusterConfig


class Network(ComponentResource):
    """One bridge. With a mirror it has no way out: all that a host needs comes from the mirror."""

    network: Resource
    load_balancer: Resource
    api_host: Output[str]
    operator_api_host: Output[str]
    operator_api_port: Output[int]
    mirror_url: Output[str] | None

    def __init__(self, name: str, args: NetworkArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:local:Network", name, {}, opts)
        config = args.config
        common = {"cluster": config.name, "network": config.name, "image": image_tag()}
        self.network = docker_verb(
            f"{name}-network",
            "create-network",
            {
                "cluster": config.name,
                "name": config.name,
                "cidr": config.network.host_cidr,
                "internal": config.mirror is not None,
                "labels": {STACK_LABEL: get_stack()},
            },
            parent=self,
            delete="delete-network",
        )
        self.load_balancer = docker_verb(
            f"{name}-api",
            "create-load-balancer",
            {**common, "name": f"{config.name}-api", "port": API_PORT},
            parent=self,
            delete="delete-load-balancer",
            after=(self.network,),
        )
        self.api_host = answer(self.load_balancer, "address")
        self.operator_api_host = answer(self.load_balancer, "host")
        self.operator_api_port = answer(self.load_balancer, "port").apply(int)
        self.mirror_url = None
        if config.mirror is not None:
            mirror = docker_verb(
                f"{name}-mirror",
                "create-mirror",
                {**common, "name": f"{config.name}-mirror", "directory": config.mirror.directory},
                parent=self,
                delete="delete-mirror",
                after=(self.network,),
            )
            self.mirror_url = answer(mirror, "url")
        self.register_outputs({"api_host": self.api_host})
