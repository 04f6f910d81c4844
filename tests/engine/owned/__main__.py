"""A cluster whose machine and the way to it are files, with a step that goes before them."""

from __future__ import annotations

import json

import pulumi
from pulumi import ComponentResource, Output, ResourceOptions
from pulumi_command.local import Command

from bootstrap.gates import Gates
from config import ClusterConfig
from interface import ApiClient, Machines, Traits

config = pulumi.Config("owned")
folder = config.require("folder")
cloud = ComponentResource("owned:index:Cloud", "cloud")


def part(name: str, generation: str, *after: Command) -> Command:
    """A part of the cloud: a file, and another one for another generation."""
    return Command(
        name,
        create=f"echo made >'{folder}/{name}'",
        delete=f"rm '{folder}/{name}'",
        triggers=[generation],
        opts=ResourceOptions(parent=cloud, depends_on=list(after), delete_before_replace=True),
    )


machine = part("machine", config.require("generation"))
part("way", "1", machine)  # on which nothing depends, such as a balancer's list of machines


def known(key: str) -> Output[str]:
    """What is known once the machine is there."""
    value = config.require(key)
    return Output.all(machine.stdout).apply(lambda _: value)


machines = Machines(
    hosts=(),
    api_host="127.0.0.1",
    operator_api_host="127.0.0.1",
    operator_api_port=1,
    mirror_url=None,
    traits=Traits(protect=False, makes_cloud_things=True),
    everything=cloud,
)
client = ApiClient(
    server=known("server"),
    ca=known("ca"),
    certificate=known("certificate"),
    key=Output.secret(config.require("key")),
)
cluster = ClusterConfig.model_validate_json(json.dumps({"name": "c", "mirror": None}))
Gates("c", cluster, machines, client).owned(after=[])
