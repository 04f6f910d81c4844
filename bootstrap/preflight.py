"""Step 1 of a host: what it must be and have, as data, and the text that finds what it lacks.

Everything that would fail later is asked here, before anything is changed. What cannot be known of
a host beforehand is a row of a table; `files/system.sh` and `files/network.sh` say in words what is
wrong and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bootstrap.kubelet import kubelet_config
from bootstrap.render import (
    CONTROLLER_MANAGER_PORT,
    ETCD_METRICS_PORT,
    SCHEDULER_PORT,
    downloads,
    images,
    machine,
    made_with,
)
from bootstrap.step import call, program
from bootstrap.view import HostView
from interface import API_PORT, ETCD_CLIENT_PORT, ETCD_PEER_PORT, KUBELET_PORT, VXLAN_PORT
from model import Role

# Distributions that phase 2 is made for, and the oldest version of each, by /etc/os-release.
DISTRIBUTIONS: Mapping[str, str] = {"debian": "12", "ubuntu": "22.04", "flatcar": "3510"}
KERNEL = "5.13"  # kube-proxy refuses nftables on older ones
COMMANDS = (
    *("awk", "cmp", "curl", "df", "find", "findmnt", "flock", "grep", "gzip", "ip", "journalctl"),
    *("mktemp", "mount", "sed", "sha256sum", "ss", "stat", "sysctl", "systemctl", "tar", "xargs"),
)
# What is written where, in MiB: archives; images, containers and volumes; configuration; logs.
ROOM_MEBIBYTES: Mapping[str, int] = {"/opt": 1024, "/var/lib": 4096, "/etc": 16, "/var/log": 256}
PROGRAMS = ("/opt", "/var/lib")  # where programs run from
# Kernel modules, and how their symbols begin in a kernel that has them built in.
FEATURES: Mapping[str, str] = {"overlay": "ovl", "nf_conntrack": "nf_conntrack"}
PROXY_FEATURES: Mapping[str, Mapping[str, str]] = {
    "nftables": {"nf_tables": "nf_tables"},
    "iptables": {"x_tables": "xt"},
    "none": {},
}
# Pods of one host are on a bridge, whose packets must meet the rules of Services.
FLANNEL_FEATURES: Mapping[str, Mapping[str, str]] = {
    "vxlan": {"br_netfilter": "br_nf", "vxlan": "vxlan"},
    "host-gw": {"br_netfilter": "br_nf"},
}
# Where the registry is whose images bear another name.
REGISTRY_HOSTS: Mapping[str, str] = {"docker.io": "registry-1.docker.io"}
POD_MTU = 1280  # the least that IPv6, and so most software, takes for granted
ENCAPSULATION = {"vxlan": 50, "host-gw": 0}

# What must be free, by what listens there.
HOST_PORTS = (f"{KUBELET_PORT}/tcp", "10248/tcp")
PROXY_PORTS = ("10249/tcp", "10256/tcp")
FLANNEL_PORTS: Mapping[str, tuple[str, ...]] = {
    "vxlan": ("8081/tcp", f"{VXLAN_PORT}/udp"),
    "host-gw": ("8081/tcp",),
}
MASTER_PORTS = tuple(
    f"{port}/tcp"
    for port in (
        API_PORT,
        ETCD_CLIENT_PORT,
        ETCD_PEER_PORT,
        ETCD_METRICS_PORT,
        CONTROLLER_MANAGER_PORT,
        SCHEDULER_PORT,
    )
)


def ports(view: HostView) -> tuple[str, ...]:
    """What must be free on a host before we come."""
    network = view.config.network
    return (
        *(MASTER_PORTS if view.spec.role is Role.MASTER else ()),
        *HOST_PORTS,
        *(PROXY_PORTS if network.proxy_mode != "none" else ()),
        *(FLANNEL_PORTS[network.backend] if network.plugin == "flannel" else ()),
    )


def features(view: HostView) -> Mapping[str, str]:
    """The kernel modules that a host needs."""
    network = view.config.network
    flannel = FLANNEL_FEATURES[network.backend] if network.plugin == "flannel" else {}
    return {**FEATURES, **PROXY_FEATURES[network.proxy_mode], **flannel}


def sources(view: HostView) -> Iterator[tuple[str, str]]:
    """(what, URL) of where a host gets its files from: an archive that is there, each registry."""
    yield "archives", downloads(view)[0].url
    if view.mirror_url:
        yield "images", f"{view.mirror_url}/v2/"
        return
    names = {image.split("/", 1)[0] for image in (*images(view), *view.pod_images)}
    registries = {REGISTRY_HOSTS.get(name, name) for name in names}
    yield from (("images", f"https://{registry}/v2/") for registry in sorted(registries))


def _kubelet(view: HostView) -> Iterator[str]:
    """What the kubelet's configuration lets pass and what not."""
    config = kubelet_config(view)
    yield call("needs_cgroups", "2" if config.get("failCgroupV1", True) else "1")
    if config.get("failSwapOn", True):
        yield "no_swap"


def _system(view: HostView) -> Iterator[str]:
    yield call("distribution", *_words(DISTRIBUTIONS))
    yield call("architecture", view.spec.arch)
    yield call("kernel", KERNEL)
    yield call("needs_features", *_words(features(view)))
    yield from _kubelet(view)
    yield call("needs_commands", *COMMANDS)
    yield call("needs_writable", *ROOM_MEBIBYTES)
    yield call("needs_programs", *PROGRAMS)
    yield call("needs_mebibytes", *_words(ROOM_MEBIBYTES))


def _words(table: Mapping[str, str | int]) -> Iterator[str]:
    return (str(word) for row in table.items() for word in row)


def _network(view: HostView) -> Iterator[str]:
    network = view.config.network
    yield call("has_address", view.address, str(POD_MTU + ENCAPSULATION[network.backend]))
    yield call("free_range", network.pod_cidr, "network.podCidr")
    yield call("free_range", network.service_cidr, "network.serviceCidr")
    yield call("free_ports", *ports(view))
    yield from (call("source_of", what, url) for what, url in sources(view))


def reachable(view: HostView, valid_from: str) -> str:
    """Step 1: wait for SSH, then find everything that would fail later.

    `valid_from` is when the certificates begin to be valid, as RFC 3339 has it.
    """
    return program(
        ("places", "leftovers", "system", "network", "reachable"),
        (
            *machine(view),
            "booted",
            call("cluster", view.config.name),
            *(("leftovers_may_go",) if view.traits.remove_leftovers else ()),
            call("clock", valid_from),
            *_system(view),
            *_network(view),
            *made_with(view),
            "check",
        ),
    )
