"""The local masters, and the load balancer's knowledge of them."""

from __future__ import annotations

from pulumi import ComponentResource, Output, ResourceOptions

from components.local.host import docker_verb
from components.local.machine import MachinesArgs, make_machine
from interface import Host


class Masters(ComponentResource):
    """One container a master; the API's load balancer forwards to all of them."""

    hosts: tuple[Host, ...]

    def __init__(self, name: str, args: MachinesArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:local:Masters", name, {}, opts)
        self.hosts = tuple(make_machine(self, spec, args) for spec in args.specs)
        docker_verb(
            f"{name}-api-backends",
            "configure-load-balancer",
            {
                "cluster": args.config.name,
                "name": f"{args.config.name}-api",
                "backends": Output.all(*(host.address for host in self.hosts)),
            },
            parent=self,
            after=(args.load_balancer,),
        )
        self.register_outputs({})
