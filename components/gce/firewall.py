"""The table of what may come in, as Compute Engine's firewall rules: one for each row.

A machine is known by the network tag of its part. A tag stands for private addresses only: what
comes in by the public endpoint, health checks included, is known by ranges.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pulumi import Input, Resource, ResourceOptions
from pulumi_gcp import compute

from components.firewall import Peer, Rule
from components.gce import facts
from components.naming import physical
from config import ClusterConfig

Ranges = Mapping[Peer, Sequence[Input[str]]]  # CIDRs of those that have no tag


def tag(config: ClusterConfig, peer: Peer) -> str:
    """The network tag of the machines of a part."""
    return physical(f"{config.name}-{peer}", facts.NAME_LIMIT)


def make_rules(
    parent: Resource,
    config: ClusterConfig,
    network: Input[str],
    rules: Iterable[Rule],
    ranges: Ranges,
) -> None:
    """Let in what the rules say; a source that is not in `ranges` is known by its tag."""
    for rule in rules:
        name = f"{config.name}-{rule.name}"
        compute.Firewall(
            name,
            name=physical(name, facts.NAME_LIMIT),
            description=rule.why,
            network=network,
            allows=[compute.FirewallAllowArgs(protocol=rule.protocol, ports=[str(rule.port)])],
            source_ranges=ranges.get(rule.source),
            source_tags=None if rule.source in ranges else [tag(config, rule.source)],
            target_tags=[tag(config, rule.target)],
            opts=ResourceOptions(
                parent=parent,
                delete_before_replace=True,
                # A rule stays in its network, and the provider does not know it.
                replace_on_changes=["network"],
            ),
        )
