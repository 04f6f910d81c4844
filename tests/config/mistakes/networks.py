"""Ranges of addresses: by themselves, against each other, and against the number of hosts."""

from __future__ import annotations

from tests.config.cases import Bad, network

BAD: dict[str, Bad] = {
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
}
