"""Google Compute Engine: its parts, and what is peculiar to its machines."""

from __future__ import annotations

from pulumi import ResourceOptions
from pulumi_gcp import Provider

from components.cloud import Cloud, Parts, traits
from components.gce import facts
from components.gce.masters import Masters
from components.gce.network import Network
from components.gce.nodes import Nodes
from config import ClusterConfig
from interface import Machines

TRAITS = traits(facts.MTU)


def _provider(name: str, config: ClusterConfig, opts: ResourceOptions) -> Provider:
    return Provider(f"{name}-gcp", project=config.account, region=config.region, opts=opts)


PARTS = Parts(
    kind="kubernetes-anywhere:gce:Gce",
    provider=_provider,
    network=Network,
    masters=Masters,
    nodes=Nodes,
    traits=TRAITS,
)


def provision(config: ClusterConfig) -> Machines:
    """The platform's entry point."""
    return Cloud(config.name, config, PARTS).machines
