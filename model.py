"""The parts of the cluster config object: what each key is, and its default.

`config.ClusterConfig` puts them together. Nothing here knows a platform: what a platform needs or
refuses of it, its package says (`components/<platform>/rules.py`).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue
from pydantic.alias_generators import to_camel

from forms import (
    MASTER_COUNTS,
    Cidr,
    Domain,
    ExtraArgs,
    HostAddress,
    Id,
    Label,
    ManifestSource,
    MasterCount,
    Name,
    Url,
    User,
)
from versions import Arch

MOST_MASTERS = MASTER_COUNTS[-1]
CA_HOURS = 10 * 365 * 24  # how long a CA's certificate is valid
# A leaf that is made in the first half of its CA's life ends before it.
MOST_LEAF_HOURS = CA_HOURS // 2


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


class Machine(Model):
    """What kind of machine a host is. A platform that makes no virtual machines refuses these."""

    machine_type: Id | None = Field(
        default=None,
        description="The platform's name of a size; unset: a small one of the architecture.",
        examples=["t3.large"],
    )
    disk_gb: int | None = Field(
        default=None, ge=20, le=16384, description="Size of the root disk; unset: 30."
    )
    image: Id | None = Field(
        default=None,
        description="What the machine starts from, with cloud-init and systemd in it; unset: "
        "Ubuntu 24.04, the newest on the day that the machine is made. Machines that run keep "
        "theirs.",
        examples=["ami-0123456789abcdef0"],
    )
    arch: Arch | None = Field(
        default=None, strict=False, description="Their architecture; unset: the cluster's."
    )


class Masters(Machine):
    """The hosts that run the control plane and, stacked, etcd."""

    count: MasterCount = Field(
        default=1,
        description="How many masters: an odd number, since each runs an etcd member.",
    )
    etcd_disk_gb: int | None = Field(
        default=None,
        ge=8,
        le=1024,
        description="Size of each master's own disk for etcd's data; unset: 10.",
    )
    kubelet: Kubelet = Field(
        default_factory=Kubelet, description="Over `kubelet`, for masters only."
    )


class Pool(Machine):
    """A group of like nodes."""

    name: Name = Field(
        description="Part of each node's name, CLUSTER-POOL-INDEX.", examples=["node"]
    )
    count: int = Field(default=1, ge=0, le=1000, description="How many nodes.")
    spot: bool = Field(
        default=False,
        description="Whether the platform may take the machines back at any time, for less money.",
    )
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


class Access(Model):
    """Who may reach the hosts and the API from outside, and how."""

    ssh_from: tuple[Cidr, ...] = Field(
        default=(),
        description="Ranges that may log in, this computer's among them.",
        examples=[["203.0.113.7/32"]],
    )
    api_from: tuple[Cidr, ...] = Field(
        default=(),
        description="Ranges that may call the API, this computer's among them.",
        examples=[["203.0.113.7/32", "198.51.100.0/24"]],
    )
    ssh_user: User = Field(
        default="ubuntu", description="The user that the image logs in, with sudo."
    )
    private: bool = Field(
        default=False,
        description="Whether hosts have no public address: they reach out through NAT, and SSH "
        "goes through a bastion.",
    )


class Network(Model):
    """Addresses, and who moves packets between pods. No two ranges may overlap."""

    existing: Id | None = Field(
        default=None,
        description="The id of a network that is there already, for subnets of ours in it; unset: "
        "one is made.",
        examples=["vpc-0123456789abcdef0"],
    )
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
    plugin: Literal["flannel", "calico", "cilium", "weave", "manifests", "none"] = Field(
        default="flannel",
        description="The pod network; `manifests` applies files of yours; `none` leaves it to you "
        "(nodes stay NotReady until then). It cannot change later: docs/networking.md. calico, "
        "cilium (by `helm` on PATH) and weave (no releases since 2021) are fetched from upstream.",
    )
    manifests: tuple[ManifestSource, ...] = Field(
        default=(),
        description="For `plugin: manifests`, in this order: YAML files of Kubernetes objects, as "
        "paths from the folder of Pulumi.yaml or as https addresses, with `#sha256=...` if they "
        "are to stay what they are.",
        examples=[["network/kube-router.yaml", "https://example.com/network.yaml"]],
    )
    backend: Literal["vxlan", "host-gw"] = Field(
        default="vxlan",
        description="How flannel moves packets; `host-gw` needs all hosts on one network segment.",
    )
    proxy_mode: Literal["nftables", "iptables", "none"] = Field(
        default="nftables", description="kube-proxy's mode; `none` installs no kube-proxy."
    )


class Certificates(Model):
    """How long certificates are valid, and when they are made anew. CAs last ten years."""

    valid_hours: int = Field(
        default=365 * 24,
        ge=2,
        le=MOST_LEAF_HOURS,
        description="How long each certificate but a CA's is valid; another number makes all anew.",
    )
    renew_hours: int = Field(
        default=60 * 24,
        ge=1,
        le=MOST_LEAF_HOURS - 1,
        description="`pulumi up` makes those anew that have no more than this left; less than "
        "`validHours`.",
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
        description="A folder made by `python -m airgap mirror`; on this computer the platform "
        "serves it to the hosts.",
        examples=["/var/cache/kubernetes-anywhere/mirror"],
    )
    url: Url | None = Field(
        default=None,
        description="Where the hosts reach that folder, served by you; a platform on this computer "
        "needs none.",
        examples=["http://mirror.example.com:5000"],
    )
