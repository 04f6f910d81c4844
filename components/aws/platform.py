"""The machines on AWS as resources: network, masters, nodes, and what is peculiar to them."""

from __future__ import annotations

from pulumi import ResourceOptions
from pulumi_aws import Provider

from components.aws.facts import MTU
from components.aws.masters import Masters
from components.aws.network import Network
from components.aws.nodes import Nodes
from components.cloud import Cloud, Parts, traits
from config import ClusterConfig
from interface import Machines

TRAITS = traits(MTU)


def _provider(name: str, config: ClusterConfig, opts: ResourceOptions) -> Provider:
    """The region and, where the config says whose machines they are, nobody else's account."""
    accounts = None if config.account is None else [config.account]
    return Provider(name, region=config.region, allowed_account_ids=accounts, opts=opts)


PARTS = Parts(
    kind="kubernetes-anywhere:aws:Aws",
    provider=_provider,
    network=Network,
    masters=Masters,
    nodes=Nodes,
    traits=TRAITS,
)


def provision(config: ClusterConfig) -> Machines:
    """The platform's entry point."""
    return Cloud(config.name, config, PARTS).machines
