"""Names, labels and taints of hosts."""

from __future__ import annotations

from tests.config.cases import Bad, pool, pools

LABEL_LIKE = "write one like ssd or zone-1"
KEY_LIKE = "write a key like disk or example.com/disk"
LONG = "n" * 40

BAD: dict[str, Bad] = {
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
}
