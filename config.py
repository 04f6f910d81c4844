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
from collections.abc import Mapping, Sequence
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network
from typing import Literal

from pydantic import Field

from forms import Id, Name, TagKey, TagValue, Version
from metal import DEFAULT_POOL, Metal, MetalHost
from model import (
    Access,
    Addons,
    Certificates,
    Component,
    Kubelet,
    Masters,
    Mirror,
    Model,
    Network,
    Pool,
    Role,
    Taint,
)
from versions import DEFAULT_RELEASE, RELEASES, Arch, Release

HOST_NAME_LIMIT = 63  # a node's name is a DNS label: RFC 1123, section 2.1
# Where hosts that exist already stand in the config, and what leads to their API servers.
GIVEN_HOSTS = ("metal", "hosts")
GIVEN_API_HOST = ("metal", "apiHost")


class ClusterConfig(Model):
    """One cluster: the object under `kubernetes-anywhere:cluster`."""

    name: Name = Field(default="kubernetes", description="Begins every host's name.")
    kubernetes_version: Version = Field(
        default=DEFAULT_RELEASE,
        description="A version of the version table, which pins everything that goes with it.",
    )
    platform: Literal["local", "gce", "aws", "azure", "metal"] = Field(
        default="local",
        description="Where the machines come from; `local`: Docker containers; `metal`: they exist "
        "already.",
    )
    account: Id | None = Field(
        default=None,
        description="Whose machines they are: the project (gce), the subscription (azure), the "
        "account (aws; unset: that of the credentials).",
        examples=["my-project"],
    )
    region: Id | None = Field(
        default=None, description="The cloud's region.", examples=["us-central1"]
    )
    zones: tuple[Id, ...] = Field(
        default=(),
        description="The region's zones over which each group of hosts is spread in turn; unset: "
        "the first three.",
        examples=[["us-central1-a", "us-central1-b"]],
    )
    tags: Mapping[TagKey, TagValue] = Field(
        default_factory=dict,
        description="On everything that is made, beside the cluster's name.",
        examples=[{"team": "platform"}],
    )
    arch: Arch | None = Field(
        default=None,
        strict=False,
        description="The hosts' architecture; unset: that of this computer.",
    )
    system_containers: bool = Field(
        default=False,
        description="Whether the hosts are system containers, such as those of LXC or of Docker, "
        "and share a kernel; on this computer they always are.",
    )
    masters: Masters = Field(
        default_factory=Masters,
        description="The hosts that run the control plane and, stacked, etcd.",
    )
    pools: tuple[Pool, ...] = Field(
        default=(Pool(name=DEFAULT_POOL, count=2),), description="Groups of like nodes."
    )
    metal: Metal = Field(
        default_factory=Metal, description="The hosts of `platform: metal`, and how to log in."
    )
    access: Access = Field(
        default_factory=Access, description="Who may reach the hosts and the API, and how."
    )
    network: Network = Field(
        default_factory=Network, description="Addresses, and who moves packets between pods."
    )
    certificates: Certificates = Field(
        default_factory=Certificates,
        description="How long certificates are valid, and when they are made anew.",
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
    def architectures(self) -> frozenset[Arch]:
        """Every architecture that a host has."""
        return frozenset(host.arch for host in self.hosts)

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
        groups: tuple[Masters | Pool, ...] = (self.masters, *self.pools)
        return tuple(
            self._host(group, index, given)
            for group in groups
            for index, given in enumerate(self._members(group))
        )

    def _members(self, group: Masters | Pool) -> Sequence[MetalHost | None]:
        """A group's hosts that exist already, by name; None for each that is to be made."""
        if not self.metal.hosts:
            return [None] * group.count
        name = group.name if isinstance(group, Pool) else None
        return sorted(
            (given for given in self.metal.hosts if given.group == name),
            key=lambda given: given.name,
        )

    def _host(self, group: Masters | Pool, index: int, given: MetalHost | None) -> "HostSpec":
        pool = group if isinstance(group, Pool) else None
        role = Role.NODE if pool else Role.MASTER
        return HostSpec(
            name=given.name if given else f"{self.name}-{pool.name if pool else role}-{index}",
            role=role,
            index=index,
            arch=(given and given.arch) or group.arch or self.architecture,
            machine_type=group.machine_type,
            disk_gb=group.disk_gb,
            image=group.image,
            spot=pool is not None and pool.spot,
            labels={**(pool.labels if pool else {}), **(given.labels if given else {})},
            taints=pool.taints if pool else (MASTER_TAINT,),
            kubelet=merge_kubelets(self.kubelet, group.kubelet),
        )


MASTER_TAINT = Taint(key="node-role.kubernetes.io/control-plane", effect="NoSchedule")


class HostSpec(Model):
    """One host that the config asks for, before there is a machine for it."""

    name: str
    role: Role
    index: int  # within its group, from 0
    arch: Arch
    machine_type: str | None
    disk_gb: int | None
    image: str | None
    spot: bool
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
