"""The version table: every version, image and archive of a cluster, each in one place.

A `Release` is one Kubernetes version with the component versions that were tested with it.
Everything else asks this module: the bootstrap for archives and images, the add-ons for their
images, the mirror for what it has to supply.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Arch(StrEnum):
    """A machine architecture, by the name that Go, containers and Kubernetes use."""

    AMD64 = "amd64"
    ARM64 = "arm64"


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """A file that phase 2 downloads to a host.

    `url` holds `{arch}`; `sha256` has the checksum of what upstream publishes, by architecture.
    A mirror that builds the archive itself lists its own checksum in its catalogue.
    """

    name: str
    version: str
    url: str
    sha256: Mapping[Arch, str]

    def file(self, arch: Arch) -> str:
        """The file's name on a mirror: the last part of its address upstream."""
        return self.address(arch).rsplit("/", 1)[-1]

    def address(self, arch: Arch) -> str:
        """Where upstream publishes the archive."""
        return self.url.format(arch=arch)


# Checksums: as published beside each release on GitHub.
CONTAINERD = Archive(
    name="containerd",
    version="2.3.4",
    url="https://github.com/containerd/containerd/releases/download/v2.3.4/containerd-2.3.4-linux-{arch}.tar.gz",
    sha256={
        Arch.AMD64: "9d68969855fbf676cdb8ed758e420fb048d61f984f61de3e53eddfebe484d168",
        Arch.ARM64: "a985fbb7e18fc0362d31a055338f5d7b0e087a3e27f14c70d1c5965399a29f95",
    },
)
RUNC = Archive(
    name="runc",
    version="1.4.3",
    url="https://github.com/opencontainers/runc/releases/download/v1.4.3/runc.{arch}",
    sha256={
        Arch.AMD64: "f6ae8efc0fa40079e1475e97cbe9d1bd3f106a28d6af78a11d9f1bd565515e60",
        Arch.ARM64: "633301e2e32f8a5ad54031aab4901eb00308bec677dd15faa2751e8f9dab5ca4",
    },
)
CNI_PLUGINS = Archive(
    name="cni-plugins",
    version="1.9.1",
    url="https://github.com/containernetworking/plugins/releases/download/v1.9.1/cni-plugins-linux-{arch}-v1.9.1.tgz",
    sha256={
        Arch.AMD64: "b98f74a0f8522f0a83867178729c1aa70f2158f90c45a2ca8fa791db1c76b303",
        Arch.ARM64: "56171987d3947707c3563db2f4001bccaf50fd63468611b9f3cbecb1375ee7ec",
    },
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Upstream:
    """The objects of a pod network as its makers publish them: a YAML file, or a Helm chart.

    Neither is copied into this repository: whoever runs the program fetches it, and the checksum
    says that it is the very one that was read when the version was written here.
    """

    version: str
    url: str
    sha256: str


# All three are under the Apache License 2.0. Calico: its own variant with VXLAN and without BGP.
# Weave: the last release; Weaveworks closed in 2024, and the file names no version of its images.
# Cilium: the checksum is also in the index of its chart repository.
POD_NETWORKS: Mapping[str, Upstream] = {
    "calico": Upstream(
        version="v3.32.1",
        url="https://raw.githubusercontent.com/projectcalico/calico/v3.32.1/manifests/calico-vxlan.yaml",
        sha256="c2ab4f9a4ecde01d66e6f040d6745cd7f174d5ded573164c809ffb9f40a9d566",
    ),
    "cilium": Upstream(
        version="v1.20.0",
        url="https://helm.cilium.io/cilium-1.20.0.tgz",
        sha256="c5f013912360d1a334f44ef25f36da59ba3414cdb48f466ee12d0c4fdff27883",
    ),
    "weave": Upstream(
        version="2.8.1",
        url="https://raw.githubusercontent.com/weaveworks/weave/v2.8.1/prog/weave-kube/weave-daemonset-k8s-1.11.yaml",
        sha256="a2410c91152fdead60084a750d5041749e95350c038a9832e7dff71f85b52c9c",
    ),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Release:
    """One Kubernetes version and the component versions that go with it."""

    kubernetes: str
    etcd: str
    coredns: str
    archives: tuple[Archive, ...] = (CONTAINERD, RUNC, CNI_PLUGINS)

    @property
    def minor(self) -> str:
        """`v1.37` of `v1.37.2`: what flags and configuration fields depend on."""
        return self.kubernetes.rsplit(".", 1)[0]

    @property
    def images(self) -> Mapping[str, str]:
        """Every image of the release, by the name that the program uses for it."""
        version = self.kubernetes
        tags = {name: upstream.version for name, upstream in POD_NETWORKS.items()}
        return {
            "kube-apiserver": f"registry.k8s.io/kube-apiserver:{version}",
            "kube-controller-manager": f"registry.k8s.io/kube-controller-manager:{version}",
            "kube-scheduler": f"registry.k8s.io/kube-scheduler:{version}",
            "kube-proxy": f"registry.k8s.io/kube-proxy:{version}",
            # Kubernetes publishes no kubelet image; this one wraps the released binary.
            "kubelet": f"ghcr.io/siderolabs/kubelet:{version}",
            "etcd": f"gcr.io/etcd-development/etcd:v{self.etcd}",
            "pause": "registry.k8s.io/pause:3.10.2",
            "addon-manager": "registry.k8s.io/addon-manager/kube-addon-manager:v9.1.8",
            "coredns": f"registry.k8s.io/coredns/coredns:v{self.coredns}",
            "flannel": "ghcr.io/flannel-io/flannel:v0.28.10",
            "flannel-cni-plugin": "ghcr.io/flannel-io/flannel-cni-plugin:v1.9.1-flannel3",
            "calico-cni": f"quay.io/calico/cni:{tags['calico']}",
            "calico-kube-controllers": f"quay.io/calico/kube-controllers:{tags['calico']}",
            "calico-node": f"quay.io/calico/node:{tags['calico']}",
            "cilium": f"quay.io/cilium/cilium:{tags['cilium']}",
            "cilium-operator": f"quay.io/cilium/operator-generic:{tags['cilium']}",
            "weave-kube": f"docker.io/weaveworks/weave-kube:{tags['weave']}",
            "weave-npc": f"docker.io/weaveworks/weave-npc:{tags['weave']}",
            "metrics-server": "registry.k8s.io/metrics-server/metrics-server:v0.9.0",
            "fluentd": "docker.io/fluent/fluentd-kubernetes-daemonset:v1.19.3-debian-forward-1.1",
            # Heapster was retired in 2018; this is its last stable image.
            "heapster": "registry.k8s.io/heapster-amd64:v1.5.4",
            "agnhost": "registry.k8s.io/e2e-test-images/agnhost:2.66.1",
        }


# etcd: a 3.7 member may only join once every member runs 3.6.11 or later, hence 3.6.16 for v1.36.
# CoreDNS: the version that kubeadm of that release installs.
RELEASES: Mapping[str, Release] = {
    release.kubernetes: release
    for release in (
        Release(kubernetes="v1.36.3", etcd="3.6.16", coredns="1.14.2"),
        Release(kubernetes="v1.37.2", etcd="3.7.3", coredns="1.14.6"),
    )
}
DEFAULT_RELEASE = "v1.37.2"
