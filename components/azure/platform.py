"""Azure: its parts, and what is peculiar to its machines."""

from __future__ import annotations

from pulumi import ResourceOptions
from pulumi_azure_native import Provider

from components.azure import facts
from components.azure.masters import Masters
from components.azure.network import Network
from components.azure.nodes import Nodes
from components.cloud import Cloud, Parts, traits
from config import ClusterConfig
from interface import Machines

TRAITS = traits(facts.MTU)


def _provider(name: str, config: ClusterConfig, opts: ResourceOptions) -> Provider:
    return Provider(
        f"{name}-azure", subscription_id=config.account, location=config.region, opts=opts
    )


PARTS = Parts(
    kind="kubernetes-anywhere:azure:Azure",
    provider=_provider,
    network=Network,
    masters=Masters,
    nodes=Nodes,
    traits=TRAITS,
)


def provision(config: ClusterConfig) -> Machines:
    """The platform's entry point."""
    return Cloud(config.name, config, PARTS).machines
