"""Values of the right type that no key takes: choices, numbers, forms of texts."""

from __future__ import annotations

from tests.config.cases import NAME_WORDS, Bad, network, pool, pools

VERSIONS = "write v1.36.3 or v1.37.2"

BAD: dict[str, Bad] = {
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
        "write local, gce, aws, azure or metal",
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
    "certificates-for-an-hour": Bad(
        {"certificates": {"validHours": 1, "renewHours": 1}},
        "certificates.validHours",
        1,
        "is out of range",
        "write a whole number from 2 to 43800",
    ),
    "certificates-beyond-their-authority": Bad(
        {"certificates": {"validHours": 43801}},
        "certificates.validHours",
        43801,
        "is out of range",
        "write a whole number from 2 to 43800",
    ),
    "certificates-never-renewed": Bad(
        {"certificates": {"renewHours": 0}},
        "certificates.renewHours",
        0,
        "is out of range",
        "write a whole number from 1 to 43799",
    ),
    "certificates-due-when-made": Bad(
        {"certificates": {"validHours": 48, "renewHours": 48}},
        "certificates.renewHours",
        48,
        "is not less than certificates.validHours, 48: every run would make all",
        "write renewHours: 47 or less, or a greater validHours",
    ),
    "certificates-shorter-than-the-default-renewal": Bad(
        {"certificates": {"validHours": 720}},
        "certificates.renewHours",
        1440,
        "is not less than certificates.validHours, 720",
        "write renewHours: 719 or less, or a greater validHours",
    ),
    # Forms of texts.
    "upper-case-name": Bad(
        {"name": "Lab"},
        "name",
        "Lab",
        f"is not made of {NAME_WORDS}",
        "write one like kubernetes or big-nodes",
    ),
    **{
        f"name-{name}": Bad(
            {"name": name},
            "name",
            name,
            f"is not made of {NAME_WORDS}",
            "write one like kubernetes or big-nodes",
        )
        for name in ("prod.cluster", "my_prod", "1abc", "prod-", "-prod")
    },
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
}
