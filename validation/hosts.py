"""Checks of what the hosts are called and how they register: names, labels, taints."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from config import GIVEN_HOSTS, HOST_NAME_LIMIT
from findings import Finding, Loc
from model import Role
from validation.problems import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config import ClusterConfig
    from metal import MetalHost
    from model import Pool, Taint

_KEY_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_KEY_PREFIX = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*")
_PREFIX_LIMIT = 253
_KEY_WORDS = (
    "up to 63 letters, digits, dashes, dots and underscores, with a letter or digit first and "
    "last, maybe after PREFIX/"
)

# k8s.io/kubelet/pkg/apis/well_known_labels.go: all that a kubelet may give itself in Kubernetes'
# own namespaces; with any other label it exits.
KUBELET_LABELS = frozenset(
    {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
KUBELET_NAMESPACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
KUBERNETES_NAMESPACES = ("kubernetes.io", "k8s.io")


def names(config: ClusterConfig) -> Iterator[Finding]:
    """Every derived name is a DNS label. Hosts that exist already have names of their own."""
    if config.metal.hosts:
        return
    for index, pool in enumerate(config.pools):
        longest = f"{config.name}-{pool.name}-{max(0, pool.count - 1)}"
        excess = len(longest) - HOST_NAME_LIMIT
        if excess > 0:
            yield Finding(
                at=("pools", index, "name"),
                value=pool.name,
                message=f"gives the host name {longest}, which has {len(longest)} characters; "
                f"{HOST_NAME_LIMIT} is the most that DNS allows",
                remedy=f"shorten it or the cluster's name ({config.name}) by {excess} in all",
                rests_on=(("name",), ("pools", index, "count")),
            )


def pool_names(config: ClusterConfig) -> Iterator[Finding]:
    """No two hosts get the same name."""
    first: dict[str, int] = {}
    for index, pool in enumerate(config.pools):
        at: Loc = ("pools", index, "name")
        if pool.name == Role.MASTER:
            yield Finding(
                at, pool.name, "is taken: the masters' own names have it", "write another name"
            )
        elif pool.name in first:
            yield Finding(
                at,
                pool.name,
                f"is the name of pools[{first[pool.name]}] too",
                "write a name that no other pool has, or add up the two counts",
                (("pools", first[pool.name], "name"),),
            )
        first.setdefault(pool.name, index)


def labels(config: ClusterConfig) -> Iterator[Finding]:
    """Every label is one that a kubelet may give itself."""
    groups: dict[Loc, Pool | MetalHost] = {("pools", i): p for i, p in enumerate(config.pools)}
    groups.update({(*GIVEN_HOSTS, i): host for i, host in enumerate(config.metal.hosts)})
    for loc, group in groups.items():
        for key, value in group.labels.items():
            words = key_fault(key) or _namespace_fault(key)
            if words:
                yield Finding((*loc, "labels", key), value, *words)


def key_fault(key: str) -> tuple[str, str] | None:
    """What is wrong with a label's or taint's key, and the remedy."""
    prefix, slash, name = key.rpartition("/")
    if not _KEY_NAME.fullmatch(name):
        return (
            f"has a key that Kubernetes does not accept: {_KEY_WORDS}",
            "write a key like disk or example.com/disk",
        )
    if slash and (len(prefix) > _PREFIX_LIMIT or not _KEY_PREFIX.fullmatch(prefix)):
        return (
            f"has a key whose prefix {prefix} is no DNS name in lower case",
            f"write a key like example.com/{name}",
        )
    return None


def _belongs(namespace: str, to: tuple[str, ...]) -> bool:
    return any(namespace == owner or namespace.endswith(f".{owner}") for owner in to)


def _namespace_fault(key: str) -> tuple[str, str] | None:
    namespace, _, name = key.rpartition("/")
    allowed = key in KUBELET_LABELS or _belongs(namespace, KUBELET_NAMESPACES)
    if allowed or not _belongs(namespace, KUBERNETES_NAMESPACES):
        return None
    return (
        "is a label that no kubelet may give its own node (NodeRestriction): it would exit",
        f"write node.kubernetes.io/{name} or a prefix of your own, or set it with kubectl later",
    )


def taints(config: ClusterConfig) -> Iterator[Finding]:
    """Every taint has a key that Kubernetes accepts, and none comes twice."""
    for index, pool in enumerate(config.pools):
        yield from _repeated(index, pool)
        for number, taint in enumerate(pool.taints):
            words = key_fault(taint.key)
            if words:
                yield Finding(("pools", index, "taints", number, "key"), taint.key, *words)


def _repeated(index: int, pool: Pool) -> Iterator[Finding]:
    counts = Counter(map(_identity, pool.taints))
    for (key, effect), count in counts.items():
        numbers = [n for n, taint in enumerate(pool.taints) if _identity(taint) == (key, effect)]
        if count > 1:
            yield Finding(
                at=("pools", index, "taints", numbers[-1]),
                value=f"{key}:{effect}",
                message=f"comes {count} times (items {listing([str(n) for n in numbers], 'and')}): "
                "the API refuses a node with two taints of one key and effect",
                remedy="leave one of them",
            )


def _identity(taint: Taint) -> tuple[str, str]:
    return taint.key, taint.effect


HOST_CHECKS: tuple[Callable[[ClusterConfig], Iterator[Finding]], ...] = (
    names,
    pool_names,
    labels,
    taints,
)
