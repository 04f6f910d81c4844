"""Keys that are not known or missing, and values of another type than they must be."""

from __future__ import annotations

from tests.config.cases import OLD, Bad, args, network, pool, pools
from validation import CLUSTER_KEY

TOP_KEYS = (
    "known keys here are name, kubernetesVersion, platform, account, region, zones, tags, arch, "
    "systemContainers, masters, pools, metal, access, network, certificates, addons, "
    "mirror, kubelet, apiserver, controllerManager, scheduler and etcd"
)
NETWORK_KEYS = (
    "existing, podCidr, serviceCidr, hostCidr, nodePrefix, clusterDomain, plugin, manifests, "
    "backend and proxyMode"
)

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
}
