"""The cluster config object: every kind of bad input, and what a good one comes to."""

from __future__ import annotations

import json
from ipaddress import IPv4Address
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pulumi
import pytest
from pydantic import ValidationError

import configdoc
from catalogue import Catalogue, CatalogueError, read_catalogue
from config import ClusterConfig
from model import Role
from validation import CLUSTER_KEY, ConfigError, Problem, load, parse, with_environment
from validation import components as component_checks
from validation.flags import FLAGS, MissingTableError, Tables
from validation.networks import RESERVED
from validation.owned import FIELDS, FLAGS_OF, NEEDED_ITEMS
from validation.problems import render, show
from versions import DEFAULT_RELEASE, RELEASES

if TYPE_CHECKING:
    from collections.abc import Callable

Raw = dict[str, Any]

OLD, NEW = "v1.36.3", "v1.37.2"
TABLES = {
    "kubelet": "v\nnode-ip\nmax-pods\nhousekeeping-interval",
    "kube-apiserver": "v\nenable-admission-plugins\nauthorization-mode\naudit-log-maxage",
    "kube-controller-manager": "v\ncluster-signing-duration",
    "kube-scheduler": "v\nleader-elect",
    "etcd": "quota-backend-bytes\nsnapshot-count",
}


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small flag tables: v1.36 knows one kubelet flag and lacks one kubelet field more."""
    root = tmp_path_factory.mktemp("flags")
    for minor in ("v1.36", "v1.37"):
        (root / minor).mkdir()
        for component, words in TABLES.items():
            (root / minor / f"{component}.txt").write_text(f"# a comment\n{words}\n")
        fields = (FLAGS / minor / "kubelet-config.txt").read_text()
        (root / minor / "kubelet-config.txt").write_text(fields)
    with (root / "v1.36" / "kubelet.txt").open("a") as table:
        table.write("containerd\n")
    return root


def problems(raw: object, flags: Path) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        parse(json.loads(json.dumps(raw)), flags)
    error: ConfigError = caught.value
    return error.problems


class Bad(NamedTuple):
    """One mistake: what is written, and the problem that has to come of it, word for word."""

    raw: object
    path: str
    value: object
    message: str  # a part of it
    remedy: str


def network(**keys: object) -> Raw:
    return {"network": keys}


def pools(*items: object) -> Raw:
    return {"pools": [*items]}


def pool(**keys: object) -> Raw:
    return pools({"name": "node", **keys})


def args(component: str, flag: str, value: object) -> Raw:
    return {component: {"extraArgs": {flag: value}}}


def field(name: str, value: object) -> Raw:
    return {"kubelet": {"config": {name: value}}}


TOP_KEYS = (
    "known keys here are name, kubernetesVersion, platform, account, region, zones, tags, arch, "
    "systemContainers, masters, pools, access, network, addons, "
    "mirror, kubelet, apiserver, controllerManager, scheduler and etcd"
)
NETWORK_KEYS = (
    "existing, podCidr, serviceCidr, hostCidr, nodePrefix, clusterDomain, plugin, manifests, "
    "backend and proxyMode"
)
NAME_WORDS = "lower-case letters, digits and dashes, a letter first and no dash last"
LABEL_LIKE = "write one like ssd or zone-1"
KEY_LIKE = "write a key like disk or example.com/disk"
VERSIONS = "write v1.36.3 or v1.37.2"
LONG = "n" * 40

BAD: dict[str, Bad] = {
    # The object as a whole.
    "not-an-object": Bad(
        [1], CLUSTER_KEY, [1], "no object", "write keys and values, as docs/config.md has them"
    ),
    # Unknown keys.
    "unknown-key": Bad(
        {"kubernetesVerson": OLD},
        "kubernetesVerson",
        OLD,
        "is not a known key",
        f"write kubernetesVersion; {TOP_KEYS}",
    ),
    "unknown-key-snake-case": Bad(
        network(pod_cidr="10.0.0.0/16"),
        "network.pod_cidr",
        "10.0.0.0/16",
        "is not a known key",
        f"write podCidr; known keys here are {NETWORK_KEYS}",
    ),
    "unknown-key-wrong-place": Bad(
        {"podCidr": "10.0.0.0/16"},
        "podCidr",
        "10.0.0.0/16",
        "is not a known key here",
        f"write it as network.podCidr; {TOP_KEYS}",
    ),
    "unknown-key-like-nothing": Bad(
        pool(zzz=1),
        "pools[0].zzz",
        1,
        "is not a known key",
        "leave it out; known keys here are machineType, diskGb, image, arch, name, count, spot, "
        "labels, taints and kubelet",
    ),
    # Wrong types.
    "number-for-text": Bad(
        {"name": 7}, "name", 7, "is a number, but must be text", 'write it in quotes: "7"'
    ),
    "true-for-text": Bad(
        pool(labels={"gpu": True}),
        "pools[0].labels.gpu",
        value=True,
        message="is true or false, but must be text",
        remedy='write it in quotes: "true"',
    ),
    "number-for-flag": Bad(
        args("scheduler", "v", 4),
        "scheduler.extraArgs.v",
        4,
        "is a number, but must be text",
        'write it in quotes: "4"',
    ),
    "list-for-text": Bad(
        {"name": ["a"]}, "name", ["a"], "is a list, but must be text", "write one text"
    ),
    "text-for-number": Bad(
        {"masters": {"count": "3"}},
        "masters.count",
        "3",
        "is text, but must be a whole number",
        "write it without quotes: 3",
    ),
    "fraction": Bad(
        network(nodePrefix=24.5),
        "network.nodePrefix",
        24.5,
        "is a number with a fraction, but must be a whole number",
        "write a whole number from 16 to 28",
    ),
    "true-for-number": Bad(
        {"masters": {"count": True}},
        "masters.count",
        value=True,
        message="is true or false, but must be a whole number",
        remedy="write 1, 3, 5 or 7",
    ),
    "object-for-list": Bad(
        {"pools": {"node": 2}},
        "pools",
        {"node": 2},
        "is an object, but must be a list",
        "write a list: one item a line, each after a dash",
    ),
    "text-for-object": Bad(
        {"network": "flannel"},
        "network",
        "flannel",
        "is text, but must be an object",
        f"write keys and values; known keys are {NETWORK_KEYS}",
    ),
    "list-for-flags": Bad(
        {"etcd": {"extraArgs": ["--v=4"]}},
        "etcd.extraArgs",
        ["--v=4"],
        "is a list, but must be an object",
        "write names and values",
    ),
    "null-for-object": Bad(
        {"masters": None},
        "masters",
        None,
        "is null, but must be an object",
        "write keys and values; known keys are machineType, diskGb, image, arch, count, etcdDiskGb "
        "and kubelet",
    ),
    # Missing keys.
    "missing-pool-name": Bad(
        pools({"count": 1}),
        "pools[0].name",
        None,
        "is missing",
        "add name: node (Part of each node's name, CLUSTER-POOL-INDEX)",
    ),
    "missing-effect": Bad(
        pool(taints=[{"key": "gpu"}]),
        "pools[0].taints[0].effect",
        None,
        "is missing",
        "add effect: NoSchedule (What happens to pods that do not tolerate it)",
    ),
    "missing-mirror-directory": Bad(
        {"mirror": {}},
        "mirror.directory",
        None,
        "is missing",
        "add directory: /var/cache/kubernetes-anywhere/mirror (A folder made by `python -m airgap "
        "mirror`; on this computer the platform serves it to the hosts)",
    ),
    # Choices.
    "bad-version": Bad(
        {"kubernetesVersion": "v1.20.0"},
        "kubernetesVersion",
        "v1.20.0",
        "is not in the version table",
        VERSIONS,
    ),
    "version-without-v": Bad(
        {"kubernetesVersion": "1.37.2"},
        "kubernetesVersion",
        "1.37.2",
        "is not in the version table",
        VERSIONS,
    ),
    "bad-platform": Bad(
        {"platform": "openstack"},
        "platform",
        "openstack",
        "is not one of the choices",
        "write local, gce, aws or azure",
    ),
    "bad-arch": Bad(
        {"arch": "aarch64"},
        "arch",
        "aarch64",
        "is not one of the choices",
        "write amd64 or arm64 (did you mean arm64?)",
    ),
    "bad-plugin-nearly-right": Bad(
        network(plugin="flanel"),
        "network.plugin",
        "flanel",
        "is not one of the choices",
        "write flannel, calico, cilium, weave, manifests or none (did you mean flannel?)",
    ),
    "bad-backend": Bad(
        network(backend="hostgw"),
        "network.backend",
        "hostgw",
        "is not one of the choices",
        "write vxlan or host-gw (did you mean host-gw?)",
    ),
    "bad-proxy-mode": Bad(
        network(proxyMode="ipvs"),
        "network.proxyMode",
        "ipvs",
        "is not one of the choices",
        "write nftables, iptables or none",
    ),
    "bad-effect": Bad(
        pool(taints=[{"key": "gpu", "effect": "NoScheduled"}]),
        "pools[0].taints[0].effect",
        "NoScheduled",
        "is not one of the choices",
        "write NoSchedule, PreferNoSchedule or NoExecute (did you mean NoSchedule?)",
    ),
    # Ranges of numbers.
    "even-masters": Bad({"masters": {"count": 4}}, "masters.count", 4, "is even", "write 3 or 5"),
    "no-masters": Bad(
        {"masters": {"count": 0}},
        "masters.count",
        0,
        "is out of range",
        "write 1, 3, 5 or 7",
    ),
    "nine-masters": Bad(
        {"masters": {"count": 9}},
        "masters.count",
        9,
        "is out of range",
        "write 1, 3, 5 or 7",
    ),
    "negative-count": Bad(
        pool(count=-1),
        "pools[0].count",
        -1,
        "is out of range",
        "write a whole number from 0 to 1000",
    ),
    "bad-port": Bad(
        {"addons": {"logging": {"output": "forward", "forward": {"host": "a", "port": 70000}}}},
        "addons.logging.forward.port",
        70000,
        "is out of range",
        "write a whole number from 1 to 65535",
    ),
    # Forms of texts.
    "upper-case-name": Bad(
        {"name": "Lab"},
        "name",
        "Lab",
        f"is not made of {NAME_WORDS}",
        "write one like kubernetes or big-nodes",
    ),
    "name-with-line-end": Bad(
        {"name": "lab\n"},
        "name",
        "lab\n",
        f"is not made of {NAME_WORDS}",
        "write one like kubernetes or big-nodes",
    ),
    "empty-pool-name": Bad(
        pools({"name": ""}),
        "pools[0].name",
        "",
        f"is not made of {NAME_WORDS}",
        "write one like kubernetes or big-nodes",
    ),
    "name-too-long": Bad(
        {"name": "n" * 41},
        "name",
        "n" * 41,
        "has 41 characters",
        f"write at most 40: {NAME_WORDS}",
    ),
    "bad-cluster-domain": Bad(
        network(clusterDomain="cluster..local"),
        "network.clusterDomain",
        "cluster..local",
        "is not made of DNS labels",
        "write one like cluster.local",
    ),
    "empty-receiver": Bad(
        {"addons": {"logging": {"output": "forward", "forward": {"host": ""}}}},
        "addons.logging.forward.host",
        "",
        "is not made of letters",
        "write one like logs.example.com or 192.0.2.10",
    ),
    "receiver-with-scheme": Bad(
        {"addons": {"logging": {"output": "forward", "forward": {"host": "tcp://logs"}}}},
        "addons.logging.forward.host",
        "tcp://logs",
        "is not made of letters",
        "write one like logs.example.com or 192.0.2.10",
    ),
    # Networks, each by itself.
    "no-network": Bad(
        network(podCidr="ten"),
        "network.podCidr",
        "ten",
        "is not an IPv4 network",
        "write one like 10.244.0.0/16",
    ),
    "ipv6-network": Bad(
        network(serviceCidr="fd00::/108"),
        "network.serviceCidr",
        "fd00::/108",
        "is not an IPv4 network",
        "write one like 10.244.0.0/16",
    ),
    "host-bits": Bad(
        network(podCidr="10.244.3.1/16"),
        "network.podCidr",
        "10.244.3.1/16",
        "is not written as a network's first address",
        "write 10.244.0.0/16",
    ),
    "netmask": Bad(
        network(podCidr="10.244.0.0/255.255.0.0"),
        "network.podCidr",
        "10.244.0.0/255.255.0.0",
        "is not written as a network's first address",
        "write 10.244.0.0/16",
    ),
    "no-prefix": Bad(
        network(podCidr="10.244.0.0"),
        "network.podCidr",
        "10.244.0.0",
        "has no prefix length",
        "write one like 10.244.0.0/16",
    ),
    "services-too-small": Bad(
        network(serviceCidr="10.96.0.0/29"),
        "network.serviceCidr",
        "10.96.0.0/29",
        "is too small: the tenth address is the DNS's",
        "write a range of /28 or bigger",
    ),
    "services-too-big": Bad(
        network(serviceCidr="10.0.0.0/11"),
        "network.serviceCidr",
        "10.0.0.0/11",
        "is too big",
        "write a range of /12 or smaller",
    ),
    # Networks, against each other and what is there already.
    "pods-and-services-overlap": Bad(
        network(podCidr="10.96.0.0/12"),
        "network.podCidr",
        "10.96.0.0/12",
        "overlaps network.serviceCidr 10.96.0.0/16",
        "write a free range, such as 10.0.0.0/12 for one of the two",
    ),
    "services-inside-pods": Bad(
        network(serviceCidr="10.244.8.0/24"),
        "network.podCidr",
        "10.244.0.0/16",
        "overlaps network.serviceCidr 10.244.8.0/24",
        "write a free range, such as 10.0.0.0/16 for one of the two",
    ),
    "pods-and-hosts-overlap": Bad(
        network(podCidr="172.30.0.0/16"),
        "network.podCidr",
        "172.30.0.0/16",
        "overlaps network.hostCidr 172.30.0.0/24",
        "write a free range, such as 10.0.0.0/16 for one of the two",
    ),
    "services-and-hosts-overlap": Bad(
        network(hostCidr="10.96.255.0/24"),
        "network.serviceCidr",
        "10.96.0.0/16",
        "overlaps network.hostCidr 10.96.255.0/24",
        "write a free range, such as 10.0.0.0/16 for one of the two",
    ),
    "docker-bridge": Bad(
        network(hostCidr="172.17.5.0/24"),
        "network.hostCidr",
        "172.17.5.0/24",
        "overlaps 172.17.0.0/16 (Docker's default bridge)",
        "write a free range, such as 10.0.0.0/24",
    ),
    "docker-bridge-inside": Bad(
        network(podCidr="172.16.0.0/14"),
        "network.podCidr",
        "172.16.0.0/14",
        "overlaps 172.17.0.0/16 (Docker's default bridge)",
        "write a free range, such as 10.0.0.0/14",
    ),
    "loopback": Bad(
        network(serviceCidr="127.1.0.0/16"),
        "network.serviceCidr",
        "127.1.0.0/16",
        "overlaps 127.0.0.0/8 (loopback)",
        "write a free range, such as 10.0.0.0/16",
    ),
    # Networks, against the number of hosts.
    "pods-too-few-pieces": Bad(
        {"network": {"podCidr": "10.244.0.0/23"}, "pools": [{"name": "node", "count": 2}]},
        "network.podCidr",
        "10.244.0.0/23",
        "has room for 2 hosts at network.nodePrefix 24, but there are 3",
        "write nodePrefix 25 or more, or a podCidr of /22 or bigger",
    ),
    "pods-one-piece": Bad(
        network(podCidr="10.10.0.0/24"),
        "network.nodePrefix",
        24,
        "must be longer than the prefix of network.podCidr 10.10.0.0/24",
        "write nodePrefix 26 or more, or a podCidr of /22 or bigger",
    ),
    "pods-piece-as-big": Bad(
        network(podCidr="10.111.0.0/16", nodePrefix=16),
        "network.nodePrefix",
        16,
        "must be longer than the prefix of network.podCidr 10.111.0.0/16",
        "write nodePrefix 18 or more, or a podCidr of /14 or bigger",
    ),
    "pods-cannot-be-cut-smaller": Bad(
        network(podCidr="10.10.0.0/27", nodePrefix=28),
        "network.podCidr",
        "10.10.0.0/27",
        "has room for 2 hosts at network.nodePrefix 28, but there are 3",
        "write a podCidr of /26 or bigger",
    ),
    "hosts-too-many": Bad(
        {"network": {"hostCidr": "172.30.0.0/29"}, "pools": [{"name": "node", "count": 3}]},
        "network.hostCidr",
        "172.30.0.0/29",
        "has room for 3 hosts beside its gateway, the API endpoint and the mirror, but there are 4",
        "write a range of /28 or bigger",
    ),
    # Names of hosts.
    "host-name-too-long": Bad(
        {"name": LONG, "pools": [{"name": "p" * 21, "count": 11}]},
        "pools[0].name",
        "p" * 21,
        f"gives the host name {LONG}-{'p' * 21}-10, which has 65 characters",
        f"shorten it or the cluster's name ({LONG}) by 2 in all",
    ),
    "pool-named-master": Bad(
        pools({"name": "master"}),
        "pools[0].name",
        "master",
        "is taken: the masters' own names have it",
        "write another name",
    ),
    "duplicate-pool": Bad(
        pools({"name": "a"}, {"name": "b"}, {"name": "a"}),
        "pools[2].name",
        "a",
        "is the name of pools[0] too",
        "write a name that no other pool has, or add up the two counts",
    ),
    # Labels and taints.
    "label-value": Bad(
        pool(labels={"disk": "very fast"}),
        "pools[0].labels.disk",
        "very fast",
        "is not made of letters",
        LABEL_LIKE,
    ),
    "label-value-long": Bad(
        pool(labels={"disk": "x" * 64}),
        "pools[0].labels.disk",
        "x" * 64,
        "has 64 characters",
        "write at most 63: letters, digits, dashes, dots and underscores, with a letter or digit "
        "first and last",
    ),
    "label-key": Bad(
        pool(labels={"a b": "x"}),
        'pools[0].labels["a b"]',
        "x",
        "has a key that Kubernetes does not accept",
        KEY_LIKE,
    ),
    "label-prefix": Bad(
        pool(labels={"Example.com/disk": "x"}),
        'pools[0].labels["Example.com/disk"]',
        "x",
        "has a key whose prefix Example.com is no DNS name in lower case",
        "write a key like example.com/disk",
    ),
    "label-role": Bad(
        pool(labels={"node-role.kubernetes.io/worker": ""}),
        'pools[0].labels["node-role.kubernetes.io/worker"]',
        "",
        "is a label that no kubelet may give its own node",
        "write node.kubernetes.io/worker or a prefix of your own, or set it with kubectl later",
    ),
    "label-k8s-io": Bad(
        pool(labels={"x.k8s.io/pool": "a"}),
        'pools[0].labels["x.k8s.io/pool"]',
        "a",
        "is a label that no kubelet may give its own node",
        "write node.kubernetes.io/pool or a prefix of your own, or set it with kubectl later",
    ),
    "taint-key": Bad(
        pool(taints=[{"key": "gpu=true", "effect": "NoSchedule"}]),
        "pools[0].taints[0].key",
        "gpu=true",
        "has a key that Kubernetes does not accept",
        KEY_LIKE,
    ),
    "taint-twice": Bad(
        pool(
            taints=[
                {"key": "gpu", "value": "a", "effect": "NoSchedule"},
                {"key": "gpu", "value": "b", "effect": "NoSchedule"},
            ]
        ),
        "pools[0].taints[1]",
        "gpu:NoSchedule",
        "comes 2 times (items 0 and 1)",
        "leave one of them",
    ),
    # Flags.
    "flag-dashes": Bad(
        args("apiserver", "--audit-log-maxage", "5"),
        "apiserver.extraArgs.--audit-log-maxage",
        "5",
        "begins with dashes, which we add",
        "write audit-log-maxage",
    ),
    "flag-unknown": Bad(
        args("kubelet", "network-plugin", "cni"),
        "kubelet.extraArgs.network-plugin",
        "cni",
        "is no flag of kubelet v1.37.2, which would exit",
        "leave it out",
    ),
    "flag-nearly-right": Bad(
        args("controllerManager", "cluster_signing_duraton", "1h"),
        "controllerManager.extraArgs.cluster_signing_duraton",
        "1h",
        "is no flag of kube-controller-manager v1.37.2, which would exit",
        "write cluster-signing-duration, if that was meant, or leave it out",
    ),
    "flag-of-another-version": Bad(
        {"masters": {"kubelet": {"extraArgs": {"containerd": "x"}}}},
        "masters.kubelet.extraArgs.containerd",
        "x",
        "is no flag of kubelet v1.37.2, which would exit",
        "leave it out",
    ),
    "flag-etcd": Bad(
        args("etcd", "experimental-initial-corrupt-check", "true"),
        "etcd.extraArgs.experimental-initial-corrupt-check",
        "true",
        "is no flag of etcd 3.7.3, which would exit",
        "leave it out",
    ),
    "flag-ours-etcd": Bad(
        args("etcd", "data-dir", "/data"),
        "etcd.extraArgs.data-dir",
        "/data",
        "is where the pod mounts the cluster's data",
        "leave it out",
    ),
    "flag-ours-apiserver": Bad(
        args("apiserver", "etcd-servers", "http://x"),
        "apiserver.extraArgs.etcd-servers",
        "http://x",
        "is the same in several places of the cluster",
        "leave it out",
    ),
    "flag-ours-with-a-key": Bad(
        args("controllerManager", "cluster-cidr", "10.0.0.0/8"),
        "controllerManager.extraArgs.cluster-cidr",
        "10.0.0.0/8",
        "must agree with the rest of the cluster",
        "write network.podCidr instead",
    ),
    "flag-ours-scheduler": Bad(
        args("scheduler", "config", "/etc/x"),
        "scheduler.extraArgs.config",
        "/etc/x",
        "names a file that is not in the container",
        "write its settings as flags",
    ),
    "flag-ours-kubelet-of-pool": Bad(
        pool(kubelet={"extraArgs": {"node-labels": "a=b"}}),
        "pools[0].kubelet.extraArgs.node-labels",
        "a=b",
        "must agree with the rest of the cluster",
        "write pools[].labels instead",
    ),
    "flag-loses-node-restriction": Bad(
        args("apiserver", "enable-admission-plugins", "PodNodeSelector"),
        "apiserver.extraArgs.enable-admission-plugins",
        "PodNodeSelector",
        "takes the place of ours, but lacks NodeRestriction",
        "write NodeRestriction,PodNodeSelector",
    ),
    # Fields of the kubelet's config.
    "field-unknown": Bad(
        field("maxPod", 50),
        "kubelet.config.maxPod",
        50,
        "is no field of KubeletConfiguration in kubelet v1.37.2",
        "write maxPods, if that was meant, or leave it out",
    ),
    "field-of-another-version": Bad(
        {"kubernetesVersion": OLD, **field("defaultPodSysctls", {})},
        "kubelet.config.defaultPodSysctls",
        {},
        "is no field of KubeletConfiguration in kubelet v1.36.3",
        "leave it out",
    ),
    "field-kind": Bad(
        field("maxPods", "50"),
        "kubelet.config.maxPods",
        "50",
        "must be a whole number",
        "write a whole number",
    ),
    "field-kind-true-is-no-number": Bad(
        field("maxPods", value=True),
        "kubelet.config.maxPods",
        value=True,
        message="must be a whole number",
        remedy="write a whole number",
    ),
    "field-kind-duration": Bad(
        field("imageMaximumGCAge", 60),
        "kubelet.config.imageMaximumGCAge",
        60,
        "must be a duration, such as 1m30s",
        "write a duration, such as 1m30s",
    ),
    "field-ours": Bad(
        {"masters": {"kubelet": {"config": {"staticPodPath": "/x"}}}},
        "masters.kubelet.config.staticPodPath",
        "/x",
        "is the same in several places of the cluster",
        "leave it out",
    ),
    "field-ours-authentication": Bad(
        field("authentication", {"anonymous": {"enabled": True}}),
        "kubelet.config.authentication",
        {"anonymous": {"enabled": True}},
        "decides who may call the kubelet",
        "leave it out",
    ),
    "field-ours-with-a-key": Bad(
        pool(kubelet={"config": {"clusterDomain": "a.b"}}),
        "pools[0].kubelet.config.clusterDomain",
        "a.b",
        "must agree with the rest of the cluster",
        "write network.clusterDomain instead",
    ),
    # Add-ons.
    "forward-missing": Bad(
        {"addons": {"logging": {"output": "forward"}}},
        "addons.logging.forward",
        None,
        "is missing: addons.logging.output is forward",
        "add forward: {host: logs.example.com}, or write output: stdout",
    ),
    "forward-idle": Bad(
        {"addons": {"logging": {"forward": {"host": "logs"}}}},
        "addons.logging.forward",
        "logs",
        "has no effect: addons.logging.output is stdout",
        "write output: forward, or leave out forward",
    ),
    "heapster-arm64": Bad(
        {"arch": "arm64", "addons": {"metrics": "heapster"}},
        "addons.metrics",
        "heapster",
        "has an image for amd64 only, but arch is arm64",
        "write metrics-server or none",
    ),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_input(case: Bad, flags: Path) -> None:
    (problem,) = problems(case.raw, flags)
    assert (problem.path, problem.value) == (case.path, case.value)
    assert case.message in problem.message
    assert problem.remedy == case.remedy


def test_all_problems_at_once(flags: Path) -> None:
    """Keys that are wrong do not hide what is wrong between the others."""
    raw = {
        "nam": "x",
        "masters": {"count": 2},
        "pools": [{"name": "a", "count": "2"}, {"name": "a", "labels": {"k8s.io/x": "y"}}],
        "network": {"podCidr": "10.96.0.0/16", "hostCidr": "172.17.0.0/24", "plugin": "x"},
        "etcd": {"extraArgs": {"data-dir": "/x", "nonsense": "1"}},
        "kubelet": {"config": {"staticPodPath": "/x"}},
    }
    assert [problem.path for problem in problems(raw, flags)] == [
        "etcd.extraArgs.data-dir",
        "etcd.extraArgs.nonsense",
        "kubelet.config.staticPodPath",
        "masters.count",
        "nam",
        "network.hostCidr",
        "network.plugin",
        "network.podCidr",
        "pools[0].count",
        'pools[1].labels["k8s.io/x"]',
        "pools[1].name",
    ]


DROPPED: dict[str, tuple[Raw, list[str]]] = {
    # The default podCidr would collide with these services, but nobody asked for the default.
    "faulty-key": (network(podCidr="ten", serviceCidr="10.244.0.0/16"), ["network.podCidr"]),
    "misspelt-key": (
        network(podCidrs="10.0.0.0/16", serviceCidr="10.244.0.0/16"),
        ["network.podCidrs"],
    ),
    "faulty-object": ({"network": 3, "name": "Lab"}, ["name", "network"]),
    # The two default nodes would not fit, but how many the user wants is unknown.
    "faulty-list": (
        {"network": {"podCidr": "10.0.0.0/23"}, "pools": ["node"]},
        ["pools[0]"],
    ),
    # Which flags exist depends on a version that is unknown; which are ours does not.
    "faulty-version": (
        {
            "kubernetesVersion": "v0",
            "kubelet": {"extraArgs": {"nonsense": "1"}, "config": {"nonsense": 1, "port": 1}},
        },
        ["kubelet.config.port", "kubernetesVersion"],
    ),
}


@pytest.mark.parametrize(("raw", "paths"), DROPPED.values(), ids=DROPPED)
def test_no_default_is_blamed(raw: Raw, paths: list[str], flags: Path) -> None:
    assert [problem.path for problem in problems(raw, flags)] == paths


def test_text_of_the_error(flags: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"name": "Lab", "masters": {"count": 2}}, flags)
    assert str(caught.value) == (
        "the cluster config has 2 problems:\n\n"
        "masters.count: 2\n"
        "    is even, and an even number of etcd members survives no more losses than one fewer\n"
        "    write 1 or 3\n\n"
        "name: Lab\n"
        f"    is not made of {NAME_WORDS}\n"
        "    write one like kubernetes or big-nodes\n"
    )


def test_pulumi_prints_the_error_without_a_traceback() -> None:
    """Its Python host prints only the message of a RunError, of anything else the stack too."""
    assert issubclass(ConfigError, pulumi.RunError)


SHOWN: dict[str, tuple[Any, str, str]] = {
    "text": ("flanel", "plugin", "flanel"),
    "text-of-a-number": ("2", "count", '"2"'),
    "range": ("10.0.0.0/16", "podCidr", "10.0.0.0/16"),
    "empty": ("", "name", '""'),
    "text-of-true": ("true", "x", '"true"'),
    "control-characters": ("a\x1b[31m\n", "name", '"a\\u001b[31m\\n"'),
    "long": ("x" * 100, "name", "x" * 67 + "..."),
    "object": ({"a": [1]}, "x", '{"a": [1]}'),
    "secret": ("hunter2", "dbPassword", "(hidden)"),
    "secret-within": ({"user": "me", "token": "t"}, "x", '{"user": "me", "token": "(hidden)"}'),
    "secret-in-list": ([{"clientSecret": "t"}], "x", '[{"clientSecret": "(hidden)"}]'),
}


@pytest.mark.parametrize(("value", "path", "text"), SHOWN.values(), ids=SHOWN)
def test_values_on_one_line_without_secrets(value: Any, path: str, text: str) -> None:
    assert show(value, path) == text


def test_secrets_in_unknown_keys_are_not_printed(flags: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"registry": {"password": "hunter2"}, "apiToken": "hunter2"}, flags)
    assert "hunter2" not in str(caught.value)
    assert "apiToken: (hidden)" in str(caught.value)


def test_paths_as_a_user_writes_them() -> None:
    assert render(("pools", 1, "labels", "example.com/disk")) == (
        'pools[1].labels["example.com/disk"]'
    )


# What is right.


@pytest.mark.parametrize("raw", [None, {}])
def test_defaults(raw: Raw | None, flags: Path) -> None:
    config = parse(raw, flags)
    assert config == ClusterConfig()
    assert config.kubernetes_version == DEFAULT_RELEASE
    assert [host.name for host in config.hosts] == [
        "kubernetes-master-0",
        "kubernetes-node-0",
        "kubernetes-node-1",
    ]
    assert [host.role for host in config.hosts] == [Role.MASTER, Role.NODE, Role.NODE]


GOOD: dict[str, Raw] = {
    "seven-masters-no-pools": {"masters": {"count": 7}, "pools": []},
    "empty-pool": pool(count=0),
    "thousand-nodes": {
        "pools": [{"name": "node", "count": 1000}],
        "network": {"podCidr": "10.128.0.0/14", "hostCidr": "10.0.0.0/20"},
    },
    "labels-a-kubelet-may-have": pool(
        labels={
            "disk": "",
            "example.com/disk": "ssd",
            "node.kubernetes.io/any": "x",
            "a.node.kubernetes.io/any": "x",
            "topology.kubernetes.io/zone": "a",
            "notkubernetes.io/x": "y",
        }
    ),
    "taints-of-one-key": pool(
        taints=[{"key": "gpu", "effect": "NoSchedule"}, {"key": "gpu", "effect": "NoExecute"}]
    ),
    "known-flags": {
        **args("apiserver", "audit-log-maxage", "5"),
        **args("etcd", "quota-backend-bytes", "1"),
    },
    "own-admission-plugins": args(
        "apiserver", "enable-admission-plugins", "PodNodeSelector,NodeRestriction"
    ),
    "flag-of-the-older-version": {"kubernetesVersion": OLD, **args("kubelet", "containerd", "x")},
    "field-of-the-newer-version": field("defaultPodSysctls", {}),
    "kubelet-fields": {
        "kubelet": {
            "config": {
                "maxPods": 50,
                "failSwapOn": False,
                "evictionHard": {"memory.available": "5%"},
                "memoryThrottlingFactor": 1,
                "imageMaximumGCAge": "24h",
                "clusterDNS": ["169.254.20.10"],
            }
        }
    },
    "forward": {"addons": {"logging": {"output": "forward", "forward": {"host": "logs"}}}},
    "heapster": {"arch": "amd64", "addons": {"metrics": "heapster"}},
    "no-mirror": {"mirror": None},
    "ranges-side-by-side": network(
        podCidr="10.0.0.0/16", serviceCidr="10.1.0.0/16", hostCidr="10.2.0.0/24"
    ),
    "beside-docker": network(hostCidr="172.18.0.0/24", podCidr="172.16.0.0/16"),
}


@pytest.mark.parametrize("raw", GOOD.values(), ids=GOOD)
def test_good_input(raw: Raw, flags: Path) -> None:
    assert isinstance(parse(raw, flags), ClusterConfig)


def test_names_are_camel_case_outside_only(flags: Path) -> None:
    assert parse({"kubernetesVersion": OLD}, flags) == ClusterConfig(kubernetes_version=OLD)


def test_the_config_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(ClusterConfig(), "name", "other")  # noqa: B010 - mypy knows that it is frozen


@pytest.mark.parametrize("count", [1, 10, 11, 100, 101, 1000])
@pytest.mark.parametrize("cluster", [1, 20, 40])
def test_the_longest_name_that_fits_fits_and_one_more_does_not(
    cluster: int, count: int, flags: Path
) -> None:
    """63 characters, whatever the digits of the last index."""
    digits = len(str(count - 1))
    room = 63 - cluster - digits - 2
    network = {"podCidr": "10.128.0.0/14", "hostCidr": "10.0.0.0/20"}

    def named(length: int) -> Raw:
        item = {"name": "p" * length, "count": count}
        return {"name": "c" * cluster, "pools": [item], "network": network}

    fits = min(room, 40)
    longest = max(len(host.name) for host in parse(named(fits), flags).hosts)
    assert longest == (63 if room <= 40 else cluster + 40 + digits + 2)
    assert [problem.path for problem in problems(named(fits + 1), flags)] == ["pools[0].name"]


@pytest.mark.parametrize(
    ("cidr", "first", "tenth"),
    [
        ("10.96.0.0/12", "10.96.0.1", "10.96.0.10"),
        ("172.20.0.128/25", "172.20.0.129", "172.20.0.138"),
        ("10.96.0.240/28", "10.96.0.241", "10.96.0.250"),
    ],
)
def test_service_addresses(cidr: str, first: str, tenth: str, flags: Path) -> None:
    config = parse(network(serviceCidr=cidr), flags)
    assert config.kubernetes_service_address == IPv4Address(first)
    assert config.dns_service_address == IPv4Address(tenth)


@pytest.mark.parametrize("bits", range(1, 9))
def test_exactly_as_many_hosts_as_there_are_pieces(bits: int, flags: Path) -> None:
    """2^bits hosts fit, one more does not: report H19."""
    network = {"podCidr": f"10.128.0.0/{24 - bits}", "hostCidr": "172.30.0.0/16"}

    def hosts(count: int) -> Raw:
        return {"network": network, "pools": [{"name": "node", "count": count - 1}]}

    assert len(parse(hosts(1 << bits), flags).hosts) == 1 << bits
    assert [p.path for p in problems(hosts((1 << bits) + 1), flags)] == ["network.podCidr"]


@pytest.mark.parametrize("prefix", [29, 28, 27])
def test_exactly_as_many_hosts_as_there_are_addresses(prefix: int, flags: Path) -> None:
    room = (1 << (32 - prefix)) - 5

    def hosts(count: int) -> Raw:
        network = {"hostCidr": f"172.30.0.0/{prefix}"}
        return {"network": network, "pools": [{"name": "node", "count": count - 1}]}

    assert len(parse(hosts(room), flags).hosts) == room
    assert [p.path for p in problems(hosts(room + 1), flags)] == ["network.hostCidr"]


@pytest.mark.parametrize("reserved", RESERVED.values(), ids=str)
def test_no_advice_collides(reserved: Any, flags: Path) -> None:
    """What a remedy about ranges proposes is accepted."""
    cidr = f"{reserved.network_address}/24"
    (problem,) = problems(network(podCidr=cidr, nodePrefix=26), flags)
    advice = problem.remedy.rsplit(" ", 1)[-1]
    assert parse(network(podCidr=advice, nodePrefix=26), flags).network.pod_cidr == advice


def test_settings_of_a_pool_win_over_those_of_all(flags: Path) -> None:
    raw: Raw = {
        "kubelet": {"config": {"maxPods": 50, "failSwapOn": False}, "extraArgs": {"v": "2"}},
        "pools": [{"name": "small", "kubelet": {"config": {"maxPods": 9}}}],
    }
    master, node = parse(raw, flags).hosts
    assert master.kubelet.config == {"maxPods": 50, "failSwapOn": False}
    assert node.kubelet.config == {"maxPods": 9, "failSwapOn": False}
    assert node.kubelet.extra_args == {"v": "2"}


# Tables.


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
@pytest.mark.parametrize("component", FLAGS_OF)
def test_each_version_has_its_tables(release: Any, component: str) -> None:
    """What we refuse to hand through, and what must stay in a list, are real flags."""
    known = Tables(FLAGS, release).flags(component)
    needed = {flag for owner, flag in NEEDED_ITEMS if owner == component}
    assert needed <= set(known)
    assert len(known) > 20


def test_a_missing_table_is_never_a_skipped_check(tmp_path: Path) -> None:
    with pytest.raises(MissingTableError, match=r"v1\.37/etcd\.txt is missing"):
        parse(args("etcd", "quota-backend-bytes", "1"), tmp_path)


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_owned_kubelet_fields_exist(release: Any) -> None:
    fields = Tables(FLAGS, release).kubelet_fields()
    assert set(FIELDS) <= set(fields)
    assert set(fields.values()) <= set(component_checks.KINDS)


# The mirror.

CATALOGUE = {
    "release": NEW,
    "images": {"registry.k8s.io/pause:3.10.2": "sha256:aa"},
    "archives": {"runc.amd64": "bb"},
    "unavailable": {"docker.io/fluent/x:1": "no source"},
}


@pytest.fixture
def mirror(tmp_path: Path) -> Callable[[object], str]:
    def write(document: object) -> str:
        text = document if isinstance(document, str) else json.dumps(document)
        (tmp_path / "catalog.json").write_text(text)
        return str(tmp_path)

    return write


def test_read_catalogue(mirror: Callable[[object], str]) -> None:
    assert read_catalogue(mirror(CATALOGUE)) == Catalogue(
        release=NEW,
        images={"registry.k8s.io/pause:3.10.2": "sha256:aa"},
        archives={"runc.amd64": "bb"},
        unavailable={"docker.io/fluent/x:1": "no source"},
    )


def test_a_mirror_says_what_it_lacks_and_why(mirror: Callable[[object], str]) -> None:
    found = read_catalogue(mirror(CATALOGUE))
    there, named, unknown = "registry.k8s.io/pause:3.10.2", "docker.io/fluent/x:1", "quay.io/a/b:1"
    assert found.missing([there, named, unknown]) == {
        named: "no source",
        unknown: "it was made before that was asked for",
    }


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "has a broken catalog.json: Invalid JSON"),
        ({**CATALOGUE, "images": []}, "has a broken catalog.json: images: "),
        ({"release": NEW}, "has a broken catalog.json: images: "),
    ],
)
def test_broken_catalogue(
    document: object, message: str, mirror: Callable[[object], str], flags: Path
) -> None:
    directory = mirror(document)
    with pytest.raises(CatalogueError, match=message):
        read_catalogue(directory)
    (problem,) = problems({"mirror": {"directory": directory}}, flags)
    assert problem.path == "mirror.directory"
    assert message in problem.message


def test_no_mirror_there(tmp_path: Path, flags: Path) -> None:
    (problem,) = problems({"mirror": {"directory": str(tmp_path)}}, flags)
    assert (problem.path, problem.value) == ("mirror.directory", str(tmp_path))
    assert problem.message == "holds no catalog.json, so it is no mirror"
    assert problem.remedy == (
        "write a folder that `python -m airgap mirror` made, or leave out mirror (and unset "
        "KUBERNETES_ANYWHERE_MIRROR)"
    )


def test_mirror_of_another_release(mirror: Callable[[object], str], flags: Path) -> None:
    directory = mirror({**CATALOGUE, "release": OLD})
    (problem,) = problems({"mirror": {"directory": directory}}, flags)
    assert problem.message == f"was made for {OLD}, but kubernetesVersion is {NEW}"
    assert problem.remedy == f"write a mirror made for {NEW}, or kubernetesVersion: {OLD}"
    parse({"mirror": {"directory": directory}, "kubernetesVersion": OLD}, flags)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, {"mirror": {"directory": "/m"}}),
        ({"name": "a"}, {"name": "a", "mirror": {"directory": "/m"}}),
        ({"mirror": {"directory": "/own"}}, {"mirror": {"directory": "/own"}}),
        ({"mirror": None}, {"mirror": None}),
        ("nonsense", "nonsense"),
    ],
)
def test_mirror_from_the_environment(raw: Any, expected: Any) -> None:
    """Only where the config says nothing of one: a null is a word too."""
    assert with_environment(raw, {"KUBERNETES_ANYWHERE_MIRROR": "/m"}) == expected
    assert with_environment(raw, {"KUBERNETES_ANYWHERE_MIRROR": ""}) == raw
    assert with_environment(raw, {}) == raw


# Reading it.


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the stack's config as the engine hands it over: as JSON text."""
    monkeypatch.delenv("KUBERNETES_ANYWHERE_MIRROR", raising=False)

    def use(text: str) -> None:
        def get_config(key: str) -> str | None:
            return text if key == CLUSTER_KEY else None

        monkeypatch.setattr("pulumi.runtime.config.get_config", get_config)
        monkeypatch.setattr("pulumi.config.get_config", get_config, raising=False)

    return use


def test_load(stack: Callable[[str], None]) -> None:
    stack('{"name": "lab"}')
    assert load() == ClusterConfig(name="lab")


def test_load_takes_the_mirror_from_the_environment(
    stack: Callable[[str], None],
    mirror: Callable[[object], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stack('{"name": "lab"}')
    directory = mirror(CATALOGUE)
    monkeypatch.setenv("KUBERNETES_ANYWHERE_MIRROR", directory)
    loaded = load().mirror
    assert loaded is not None
    assert loaded.directory == directory


@pytest.mark.parametrize("text", ["nonsense", "[]", '"text"'])
def test_load_of_no_object(text: str, stack: Callable[[str], None]) -> None:
    stack(text)
    with pytest.raises(ConfigError) as caught:
        load()
    assert [problem.path for problem in caught.value.problems] == [CLUSTER_KEY]
    assert caught.value.problems[0].message == "is no object"


STACK = f"""\
config:
  pulumi:disable-default-providers: [kubernetes]
  {CLUSTER_KEY}:
    name: lab
    pools: []
    kubelet: {{config: {{maxPods: 50}}}}
"""
EFFECTIVE = f"""\
config:
  {CLUSTER_KEY}:
    name: lab
    kubernetesVersion: v1.37.2
    platform: local
    account: null
    region: null
    zones: []
    tags: {{}}
    arch: null
    systemContainers: false
    masters:
      machineType: null
      diskGb: null
      image: null
      arch: null
      count: 1
      etcdDiskGb: null
      kubelet:
        extraArgs: {{}}
        config: {{}}
    pools: []
    access:
      sshFrom: []
      apiFrom: []
      sshUser: ubuntu
      private: false
    network:
      existing: null
      podCidr: 10.244.0.0/16
      serviceCidr: 10.96.0.0/16
      hostCidr: 172.30.0.0/24
      nodePrefix: 24
      clusterDomain: cluster.local
      plugin: flannel
      manifests: []
      backend: vxlan
      proxyMode: nftables
    addons:
      dns: coredns
      metrics: metrics-server
      logging:
        agent: fluentd
        output: stdout
        forward: null
      delivery: pulumi
    mirror: null
    kubelet:
      extraArgs: {{}}
      config:
        maxPods: 50
    apiserver:
      extraArgs: {{}}
    controllerManager:
      extraArgs: {{}}
    scheduler:
      extraArgs: {{}}
    etcd:
      extraArgs: {{}}
derived:
  etcd: 3.7.3
  kubernetesServiceAddress: 10.96.0.1
  dnsServiceAddress: 10.96.0.10
  hosts:
  - name: lab-master-0
    role: master
    index: 0
    arch: {ClusterConfig().architecture}
    machineType: null
    diskGb: null
    image: null
    spot: false
    labels: {{}}
    taints:
    - key: node-role.kubernetes.io/control-plane
      value: ''
      effect: NoSchedule
    kubelet:
      extraArgs: {{}}
      config:
        maxPods: 50
"""


@pytest.fixture
def show_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[int, str, str]]:
    """Exit code, standard output and standard error of `python -m config show FILE`."""
    monkeypatch.delenv("KUBERNETES_ANYWHERE_MIRROR", raising=False)

    def run(text: str) -> tuple[int, str, str]:
        file = tmp_path / "Pulumi.test.yaml"
        file.write_text(text)
        code = configdoc.main(["show", str(file)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_show_prints_the_effective_config(
    show_file: Callable[[str], tuple[int, str, str]],
) -> None:
    assert show_file(STACK) == (0, EFFECTIVE, "")


def test_what_show_prints_is_a_stack_file(
    show_file: Callable[[str], tuple[int, str, str]],
) -> None:
    assert show_file(EFFECTIVE) == (0, EFFECTIVE, "")


@pytest.mark.parametrize("text", ["", "config:\n", f"config: {{{CLUSTER_KEY}: '{{}}'}}\n"])
def test_show_fills_in_everything(
    text: str, show_file: Callable[[str], tuple[int, str, str]]
) -> None:
    code, out, _ = show_file(text)
    assert code == 0
    assert out == configdoc.effective({})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"config: {{{CLUSTER_KEY}: {{name: Lab}}}}", "name: Lab\n"),
        (f"config: {{{CLUSTER_KEY}: {{secure: AAAA}}}}", "is encrypted as a whole"),
        (f"config: {{{CLUSTER_KEY}: '{{'}}", "cannot be read"),
        ("config: {a: [", "cannot be read"),
        ("- 1", "cannot be read"),
    ],
)
def test_show_of_bad_input(
    text: str, message: str, show_file: Callable[[str], tuple[int, str, str]]
) -> None:
    code, out, err = show_file(text)
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err


def test_show_of_no_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert configdoc.main(["show", str(tmp_path / "none.yaml")]) == 1
    assert "No such file" in capsys.readouterr().err
