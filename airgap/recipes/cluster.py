"""What a cluster runs. Versions come from `versions.py`; what stands here is how to build them."""

from __future__ import annotations

import versions
from airgap.copies import Copy, Edit
from airgap.gobuild import GoBuild
from airgap.recipes import KUBERNETES, SHARED
from versions import Release


def kubernetes(release: Release) -> GoBuild:
    """The programs of one Kubernetes version."""
    version = release.kubernetes
    major, minor, _ = version.removeprefix("v").split(".")
    base = "k8s.io/component-base/version"
    programs = ("kubelet", "apiserver", "controller-manager", "scheduler", "proxy")
    commands = ("kubelet", *(f"kube-{name}" for name in programs[1:]), "kubectl")
    return GoBuild(
        name="kubernetes",
        module=KUBERNETES,
        version=version,
        packages=(
            *(f"{KUBERNETES}/cmd/{name}" for name in commands),
            f"{KUBERNETES}/test/images/agnhost",
        ),
        siblings=version.replace("v1.", "v0.", 1),
        variables={
            f"{base}.gitVersion": version,
            f"{base}.gitMajor": major,
            f"{base}.gitMinor": minor,
            f"{base}.gitTreeState": "clean",
            "k8s.io/client-go/pkg/version.gitVersion": version,
        },
    )


def etcd(release: Release) -> GoBuild:
    """The server and its two tools."""
    root, version = "go.etcd.io/etcd", f"v{release.etcd}"
    tools = (f"{root}/etcdctl/v3", f"{root}/etcdutl/v3")
    return GoBuild(
        name="etcd",
        module=f"{root}/server/v3",
        version=version,
        packages=(f"{root}/server/v3", *tools),
        align=SHARED,
        requires=dict.fromkeys(tools, version),
        rename={"server": "etcd"},
    )


_COREDNS = "github.com/coredns/coredns"
# Plugins that ask services on the internet; their SDKs are most of what there is to compile.
_COREDNS_WITHOUT = ("azure", "clouddns", "nomad", "route53", "trace")


def coredns(release: Release) -> GoBuild:
    """The DNS server."""
    version = f"v{release.coredns}"
    imports = [f'\t_ "{_COREDNS}/plugin/{name}"\n' for name in _COREDNS_WITHOUT]
    return GoBuild(
        name="coredns",
        module=_COREDNS,
        version=version,
        packages=(_COREDNS,),
        tags=("grpcnotrace",),
        align=SHARED,
        copies=(
            Copy(
                module=_COREDNS,
                version=version,
                edits=tuple(
                    Edit(file="core/plugin/zplugin.go", old=line, new="") for line in imports
                ),
            ),
        ),
    )


def _tag(image: str) -> str:
    return versions.RELEASES[versions.DEFAULT_RELEASE].images[image].rsplit(":", 1)[1]


METRICS_SERVER = GoBuild(
    name="metrics-server",
    module="sigs.k8s.io/metrics-server",
    version=_tag("metrics-server"),
    packages=("sigs.k8s.io/metrics-server/cmd/metrics-server",),
    align=SHARED,
    variables={"sigs.k8s.io/metrics-server/pkg/version.gitVersion": _tag("metrics-server")},
)

_FLANNEL = "github.com/flannel-io/flannel"
FLANNEL = GoBuild(
    name="flannel",
    module=_FLANNEL,
    version=_tag("flannel"),
    packages=(_FLANNEL, f"{_FLANNEL}/cmd/install_conf"),
    rename={"flannel": "flanneld", "install_conf": "install-conf"},
    align=SHARED,
    variables={f"{_FLANNEL}/pkg/version.Version": _tag("flannel")},
    copies=(
        Copy(
            module=_FLANNEL,
            version=_tag("flannel"),
            keep=("go.mod", "main.go", "pkg", "cmd"),
            # The SDK of that cloud cannot be had from the module proxy everywhere. The udp
            # backend, which upstream has on amd64 only and for debugging, is in C.
            edits=tuple(
                Edit(file="main.go", old=f'\t_ "{_FLANNEL}/pkg/backend/{name}"\n', new="")
                for name in ("tencentvpc", "udp")
            ),
        ),
    ),
)

_CNI = "github.com/containernetworking/plugins"
# The plugin has since moved to a repository of its own, which the module proxy does not serve.
FLANNEL_CNI_PLUGIN = GoBuild(
    name="flannel-cni-plugin",
    module=_CNI,
    version="v0.9.1",
    packages=(f"{_CNI}/plugins/meta/flannel",),
)

CNI_PLUGINS = GoBuild(
    name="cni-plugins",
    module=_CNI,
    version=f"v{versions.CNI_PLUGINS.version}",
    packages=(
        *(f"{_CNI}/plugins/main/{name}" for name in ("bridge", "host-device", "ipvlan")),
        *(f"{_CNI}/plugins/main/{name}" for name in ("loopback", "macvlan", "ptp", "vlan")),
        *(f"{_CNI}/plugins/ipam/{name}" for name in ("host-local", "static")),
        *(f"{_CNI}/plugins/meta/{name}" for name in ("bandwidth", "firewall", "portmap")),
        *(f"{_CNI}/plugins/meta/{name}" for name in ("sbr", "tuning", "vrf")),
    ),
    variables={f"{_CNI}/pkg/utils/buildversion.BuildVersion": f"v{versions.CNI_PLUGINS.version}"},
)

_CONTAINERD = "github.com/containerd/containerd/v2"
CONTAINERD = GoBuild(
    name="containerd",
    module=_CONTAINERD,
    version=f"v{versions.CONTAINERD.version}",
    packages=tuple(
        f"{_CONTAINERD}/cmd/{name}" for name in ("containerd", "containerd-shim-runc-v2", "ctr")
    ),
    tags=("no_btrfs",),
    align=SHARED,
    # Kubernetes 1.37 renamed constants of this API, which containerd has by their old names.
    replaces={
        f"k8s.io/{name}": f"k8s.io/{name} v0.36.3"
        for name in ("cri-api", "cri-client", "cri-streaming")
    },
    variables={
        f"{_CONTAINERD}/version.Version": f"v{versions.CONTAINERD.version}",
        f"{_CONTAINERD}/version.Package": _CONTAINERD,
    },
)

_RUNC = "github.com/opencontainers/runc"
RUNC = GoBuild(
    name="runc",
    module=_RUNC,
    version=f"v{versions.RUNC.version}",
    packages=(_RUNC,),
    align=SHARED,
    cgo=True,
    headers=("libseccomp",),
    tags=("seccomp", "urfave_cli_no_docs", "netgo", "osusergo"),
    linker='-linkmode external -extldflags "-static"',
)


def cluster(release: Release) -> tuple[GoBuild, ...]:
    """All that a cluster of the release runs, the long builds first."""
    return (
        kubernetes(release),
        coredns(release),
        METRICS_SERVER,
        CONTAINERD,
        FLANNEL,
        etcd(release),
        RUNC,
        CNI_PLUGINS,
        FLANNEL_CNI_PLUGIN,
    )
