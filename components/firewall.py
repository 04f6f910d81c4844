"""Which traffic a cluster needs from outside of each machine: one table for all clouds.

A cloud's `firewall` module turns the rows into its own kind of rules and adds none: what is not
here is closed. Packets that answer others pass by themselves, since every cloud's rules have a
memory. Way out of a machine is free: it fetches images and archives, and asks DNS and time servers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from config import ClusterConfig
from interface import (
    API_PORT,
    CALICO_PORT,
    CILIUM_HEALTH_PORT,
    ETCD_CLIENT_PORT,
    ETCD_PEER_PORT,
    KUBELET_PORT,
    SSH_PORT,
    VXLAN_PORT,
    WEAVE_FAST_PORT,
    WEAVE_PORT,
)


class Peer(StrEnum):
    """Who sends or receives."""

    ADMINISTRATOR = "administrator"  # the ranges of access.sshFrom
    CLIENT = "client"  # the ranges of access.apiFrom
    BALANCER = "balancer"  # what asks the API servers whether they are well
    BASTION = "bastion"
    MASTER = "master"  # by its private address, as the node is
    NODE = "node"
    OUTSIDE = "outside"  # the nodes as they look when they come back in by the public endpoint


Protocol = Literal["tcp", "udp"]
Need = Callable[[ClusterConfig], bool]


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """One thing that may come in."""

    service: str
    protocol: Protocol
    port: int
    source: Peer
    target: Peer
    why: str  # what does not work without it
    needed: Need

    @property
    def name(self) -> str:
        """`kubelet-master-node`: unique, and fit for every cloud's names."""
        return f"{self.service}-{self.source}-{self.target}"


def _nodes(config: ClusterConfig) -> int:
    return sum(pool.count for pool in config.pools)


def _always(_config: ClusterConfig) -> bool:
    return True


def _public(config: ClusterConfig) -> bool:
    return not config.access.private


def _private(config: ClusterConfig) -> bool:
    return config.access.private


def _any_node(config: ClusterConfig) -> bool:
    return _nodes(config) > 0


def _nodes_meet(config: ClusterConfig) -> bool:
    return _nodes(config) > 1


def _masters_meet(config: ClusterConfig) -> bool:
    return config.masters.count > 1


def _vxlan(config: ClusterConfig) -> bool:
    network = config.network
    return network.plugin == "cilium" or (network.plugin, network.backend) == ("flannel", "vxlan")


def _plugin(name: str) -> Need:
    return lambda config: config.network.plugin == name


def _metrics(config: ClusterConfig) -> bool:
    return config.addons.metrics != "none"


def _all(*needs: Need) -> Need:
    return lambda config: all(need(config) for need in needs)


def _rows(
    service: str, protocol: Protocol, port: int, *rows: tuple[Peer, Peer, Need, str]
) -> tuple[Rule, ...]:
    return tuple(
        Rule(
            service=service,
            protocol=protocol,
            port=port,
            source=source,
            target=target,
            why=why,
            needed=needed,
        )
        for source, target, needed, why in rows
    )


def _among_hosts(
    service: str, protocol: Protocol, port: int, needed: Need, why: str
) -> tuple[Rule, ...]:
    """Rows for what every host does with every other."""
    return _rows(
        service,
        protocol,
        port,
        (Peer.MASTER, Peer.NODE, _all(needed, _any_node), why),
        (Peer.NODE, Peer.MASTER, _all(needed, _any_node), why),
        (Peer.NODE, Peer.NODE, _all(needed, _nodes_meet), why),
        (Peer.MASTER, Peer.MASTER, _all(needed, _masters_meet), why),
    )


TABLE: tuple[Rule, ...] = (
    *_rows(
        "ssh",
        "tcp",
        SSH_PORT,
        (Peer.ADMINISTRATOR, Peer.MASTER, _public, "phase 2 on masters"),
        (Peer.ADMINISTRATOR, Peer.NODE, _all(_public, _any_node), "phase 2 on nodes"),
        (Peer.ADMINISTRATOR, Peer.BASTION, _private, "the way to all hosts"),
        (Peer.BASTION, Peer.MASTER, _private, "phase 2 on masters"),
        (Peer.BASTION, Peer.NODE, _all(_private, _any_node), "phase 2 on nodes"),
    ),
    *_rows(
        "api",
        "tcp",
        API_PORT,
        (Peer.CLIENT, Peer.MASTER, _always, "kubectl, and the add-ons of phase 3"),
        (Peer.BALANCER, Peer.MASTER, _always, "the endpoint, which forwards to the well only"),
        (Peer.OUTSIDE, Peer.MASTER, _any_node, "kubelets and kube-proxies, by the endpoint"),
        (Peer.NODE, Peer.MASTER, _any_node, "pods, by the Service `kubernetes`"),
        (Peer.MASTER, Peer.MASTER, _masters_meet, "pods on a master, by another's API server"),
    ),
    *_rows(
        "etcd",
        "tcp",
        ETCD_PEER_PORT,
        (Peer.MASTER, Peer.MASTER, _masters_meet, "etcd's members"),
    ),
    *_rows(
        "members",
        "tcp",
        ETCD_CLIENT_PORT,
        (Peer.MASTER, Peer.MASTER, _masters_meet, "a master that joins etcd, or leaves it"),
    ),
    *_rows(
        "kubelet",
        "tcp",
        KUBELET_PORT,
        (Peer.MASTER, Peer.NODE, _any_node, "kubectl logs and exec of pods on nodes"),
        (Peer.MASTER, Peer.MASTER, _masters_meet, "the same of another master's pods"),
        (Peer.NODE, Peer.MASTER, _all(_metrics, _any_node), "kubectl top of masters"),
        (Peer.NODE, Peer.NODE, _all(_metrics, _nodes_meet), "kubectl top of other nodes"),
    ),
    *_rows(
        "vxlan",
        "udp",
        VXLAN_PORT,
        (Peer.MASTER, Peer.NODE, _all(_vxlan, _any_node), "API servers to metrics-server's pod"),
        (Peer.NODE, Peer.MASTER, _all(_vxlan, _any_node), "that pod's answers"),
        (Peer.NODE, Peer.NODE, _all(_vxlan, _nodes_meet), "pods of one node to those of another"),
        (Peer.MASTER, Peer.MASTER, _all(_vxlan, _masters_meet), "the same on masters"),
    ),
    *_among_hosts("calico", "udp", CALICO_PORT, _plugin("calico"), "Calico: pods of two hosts"),
    *_among_hosts(
        "health", "tcp", CILIUM_HEALTH_PORT, _plugin("cilium"), "Cilium: whether hosts are well"
    ),
    *_among_hosts("weave", "tcp", WEAVE_PORT, _plugin("weave"), "Weave: hosts find each other"),
    *_among_hosts("weave-udp", "udp", WEAVE_PORT, _plugin("weave"), "Weave: pods of two hosts"),
    *_among_hosts(
        "weave-fast", "udp", WEAVE_FAST_PORT, _plugin("weave"), "Weave: the same, faster"
    ),
)


def rules(config: ClusterConfig) -> tuple[Rule, ...]:
    """What this cluster needs, in the table's order."""
    return tuple(rule for rule in TABLE if rule.needed(config))
