"""The cluster config object: its model and its defaults.

One JSON object describes a cluster, with the same keys on every platform. `validation.parse` turns
it into a frozen `ClusterConfig` or raises `ConfigError` with *all* problems at once. Nothing here
registers a resource, reads the network or knows an Output: the config shapes the graph, so every
value is plain.

    python -m config schema        the JSON Schema that is checked in as config.schema.json
    python -m config docs          the reference that is checked in as docs/config.md
    python -m config show [FILE]   the effective config of a stack file, every default filled in
"""

import platform
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from forms import Cidr, Domain, ExtraArgs, HostAddress, Label, MasterCount, Name, Version
from versions import DEFAULT_RELEASE, RELEASES, Arch, Release

HOST_NAME_LIMIT = 63  # a node's name is a DNS label: RFC 1123, section 2.1


class Role(StrEnum):
    """What a host is for."""

    MASTER = "master"
    NODE = "node"


class Model(BaseModel):
    """Frozen, strict about keys, camelCase outside and snake_case inside."""

    model_config = ConfigDict(
        alias_generator=to_camel, extra="forbid", frozen=True, populate_by_name=True, strict=True
    )


class Taint(Model):
    """A taint that a node registers with."""

    key: str = Field(description="A label key.", examples=["example.com/gpu"])
    value: Label = Field(default="", description="A label value.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = Field(
        description="What happens to pods that do not tolerate it."
    )


class Component(Model):
    """Settings of one control-plane component."""

    extra_args: ExtraArgs = Field(default_factory=dict)


class Kubelet(Model):
    """Settings of a kubelet."""

    extra_args: ExtraArgs = Field(default_factory=dict)
    config: Mapping[str, JsonValue] = Field(
        default_factory=dict,
        description="Fields of KubeletConfiguration, merged over ours, checked as flags are.",
        examples=[{"maxPods": 50}],
    )


class Masters(Model):
    """The hosts that run the control plane and, stacked, etcd."""

    count: MasterCount = Field(
        default=1,
        description="How many masters: an odd number, since each runs an etcd member.",
    )
    kubelet: Kubelet = Field(
        default_factory=Kubelet, description="Over `kubelet`, for masters only."
    )


class Pool(Model):
    """A group of like nodes."""

    name: Name = Field(
        description="Part of each node's name, CLUSTER-POOL-INDEX.", examples=["node"]
    )
    count: int = Field(default=1, ge=0, le=1000, description="How many nodes.")
    labels: Mapping[str, Label] = Field(
        default_factory=dict,
        description="Labels that the nodes register with.",
        examples=[{"example.com/disk": "ssd"}],
    )
    taints: tuple[Taint, ...] = Field(
        default=(),
        description="Taints that the nodes register with.",
        examples=[[{"key": "example.com/gpu", "effect": "NoSchedule"}]],
    )
    kubelet: Kubelet = Field(
        default_factory=Kubelet, description="Over `kubelet`, for this pool only."
    )


class Network(Model):
    """Addresses, and who moves packets between pods. No two ranges may overlap."""

    pod_cidr: Cidr = Field(default="10.244.0.0/16", description="Pods' addresses.")
    service_cidr: Cidr = Field(
        default="10.96.0.0/16",
        description="Services' virtual addresses: the first is the API's, the tenth the DNS's.",
    )
    host_cidr: Cidr = Field(default="172.30.0.0/24", description="Hosts' addresses.")
    node_prefix: int = Field(
        default=24,
        ge=16,
        le=28,
        description="Prefix length of the piece of `podCidr` that each host gets.",
    )
    cluster_domain: Domain = Field(default="cluster.local", description="DNS zone of Services.")
    plugin: Literal["flannel", "none"] = Field(
        default="flannel",
        description="The pod network; `none` leaves it to you (nodes stay NotReady until then).",
    )
    backend: Literal["vxlan", "host-gw"] = Field(
        default="vxlan",
        description="How flannel moves packets; `host-gw` needs all hosts on one network segment.",
    )
    proxy_mode: Literal["nftables", "iptables", "none"] = Field(
        default="nftables", description="kube-proxy's mode; `none` installs no kube-proxy."
    )


class Forward(Model):
    """A receiver that speaks fluentd's forward protocol."""

    host: HostAddress = Field(
        description="Its name or address, as pods reach it.", examples=["logs.example.com"]
    )
    port: int = Field(default=24224, ge=1, le=65535, description="Its TCP port.")


class Logging(Model):
    """What collects the containers' logs."""

    agent: Literal["fluentd", "none"] = Field(
        default="fluentd", description="Who collects them, on every host; `none` installs nobody."
    )
    output: Literal["stdout", "forward"] = Field(
        default="stdout",
        description="Where fluentd sends them: its own standard output, or `forward`.",
    )
    forward: Forward | None = Field(
        default=None, description="The receiver; needed by, and only by, `output: forward`."
    )


class Addons(Model):
    """What runs in the cluster from the start, and who keeps it there."""

    dns: Literal["coredns", "none"] = Field(default="coredns", description="The cluster's DNS.")
    metrics: Literal["metrics-server", "heapster", "none"] = Field(
        default="metrics-server",
        description="heapster was retired in 2018; `kubectl top` needs metrics-server.",
    )
    logging: Logging = Field(
        default_factory=Logging, description="Who collects the containers' logs."
    )
    delivery: Literal["pulumi", "addon-manager"] = Field(
        default="pulumi",
        description="Who owns them: this program, or the masters' addon-manager, which heals them.",
    )


class Mirror(Model):
    """Where images and archives come from when the internet is not used."""

    directory: str = Field(
        description="A folder made by `python -m airgap mirror`; the platform serves it to the "
        "hosts.",
        examples=["/var/cache/kubernetes-anywhere/mirror"],
    )


class ClusterConfig(Model):
    """One cluster: the object under `kubernetes-anywhere:cluster`."""

    name: Name = Field(default="kubernetes", description="Begins every host's name.")
    kubernetes_version: Version = Field(
        default=DEFAULT_RELEASE,
        description="A version of the version table, which pins everything that goes with it.",
    )
    platform: Literal["local"] = Field(
        default="local", description="Where the machines come from; `local`: Docker containers."
    )
    arch: Arch | None = Field(
        default=None,
        strict=False,
        description="The hosts' architecture; unset: that of this computer.",
    )
    masters: Masters = Field(
        default_factory=Masters,
        description="The hosts that run the control plane and, stacked, etcd.",
    )
    pools: tuple[Pool, ...] = Field(
        default=(Pool(name="node", count=2),), description="Groups of like nodes."
    )
    network: Network = Field(
        default_factory=Network, description="Addresses, and who moves packets between pods."
    )
    addons: Addons = Field(
        default_factory=Addons, description="What runs from the start, and who keeps it there."
    )
    mirror: Mirror | None = Field(
        default=None,
        description="Unset: the one that the environment variable KUBERNETES_ANYWHERE_MIRROR "
        "names, else official registries and download sites; null: those in any case.",
    )
    kubelet: Kubelet = Field(default_factory=Kubelet, description="Every kubelet.")
    apiserver: Component = Field(default_factory=Component, description="Every API server.")
    controller_manager: Component = Field(
        default_factory=Component, description="Every controller manager."
    )
    scheduler: Component = Field(default_factory=Component, description="Every scheduler.")
    etcd: Component = Field(default_factory=Component, description="Every etcd member.")

    @cached_property
    def release(self) -> Release:
        """The component versions that go with `kubernetesVersion`."""
        return RELEASES[self.kubernetes_version]

    @property
    def architecture(self) -> Arch:
        """The hosts' architecture: what the config says, else this computer's."""
        machine = platform.machine().lower()
        return self.arch or {"aarch64": Arch.ARM64, "arm64": Arch.ARM64}.get(machine, Arch.AMD64)

    @property
    def kubernetes_service_address(self) -> IPv4Address:
        """The first address of the service range: `kubernetes.default`."""
        return IPv4Network(self.network.service_cidr)[1]

    @property
    def dns_service_address(self) -> IPv4Address:
        """The tenth address of the service range, by convention the cluster's DNS."""
        return IPv4Network(self.network.service_cidr)[10]

    @cached_property
    def hosts(self) -> "tuple[HostSpec, ...]":
        """Every host that the config asks for, masters first, with names that never shift."""
        masters = (
            HostSpec(
                name=f"{self.name}-{Role.MASTER}-{index}",
                role=Role.MASTER,
                labels={},
                taints=(MASTER_TAINT,),
                kubelet=merge_kubelets(self.kubelet, self.masters.kubelet),
            )
            for index in range(self.masters.count)
        )
        nodes = (
            HostSpec(
                name=f"{self.name}-{pool.name}-{index}",
                role=Role.NODE,
                labels=pool.labels,
                taints=pool.taints,
                kubelet=merge_kubelets(self.kubelet, pool.kubelet),
            )
            for pool in self.pools
            for index in range(pool.count)
        )
        return (*masters, *nodes)


MASTER_TAINT = Taint(key="node-role.kubernetes.io/control-plane", effect="NoSchedule")


class HostSpec(Model):
    """One host that the config asks for, before there is a machine for it."""

    name: str
    role: Role
    labels: Mapping[str, str]
    taints: tuple[Taint, ...]
    kubelet: Kubelet


def merge_kubelets(base: Kubelet, over: Kubelet) -> Kubelet:
    """Settings of `over` win, key by key at the top level."""
    return Kubelet(
        extra_args={**base.extra_args, **over.extra_args}, config={**base.config, **over.config}
    )


if __name__ == "__main__":
    import sys

    from configdoc import main

    sys.exit(main(sys.argv[1:]))
