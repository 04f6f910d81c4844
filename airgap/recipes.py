"""Every program that can be built from source: the table of Go builds.

Versions of a cluster's parts come from `versions.py`; what stands here is how to build them.
"""

from __future__ import annotations

import json
from pathlib import Path

import versions
from airgap.copies import Copy, Edit
from airgap.gobuild import GoBuild
from versions import Release

PULUMI_VERSION = "3.274.1"
# What the SDK on PyPI is; a provider that says less draws a warning in each run.
KUBERNETES_SDK_VERSION = "4.34.2"

_KUBERNETES = "k8s.io/kubernetes"
# One set of versions for all that shares code with Kubernetes: the default release's.
_SHARED = f"{_KUBERNETES} {versions.DEFAULT_RELEASE}"
_SDK = "github.com/pulumi/pulumi/sdk/v3"
_PKG = "github.com/pulumi/pulumi/pkg/v3"
_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_PROVIDER_SDK = "github.com/pulumi/pulumi-kubernetes/sdk/v4"
_GO_FILES = Path(__file__).parent / "go"

# The clouds' SDKs are a third of all that the CLI links, for stacks and keys that it could keep
# there, and for `pulumi env setup`. Where this build is used, they are out of reach.
PULUMI = GoBuild(
    name="pulumi",
    module=_PKG,
    version=f"v{PULUMI_VERSION}",
    packages=(f"{_PKG}/cmd/pulumi",),
    variables={f"{_SDK}/go/common/version.Version": f"v{PULUMI_VERSION}"},
    copies=(
        Copy(
            module=_PKG,
            version=f"v{PULUMI_VERSION}",
            without=tuple(f"cmd/esc/cli/setup_{cloud}.go" for cloud in ("aws", "azure", "gcp")),
            patch=(_GO_FILES / "pulumi.patch").read_text(),
        ),
    ),
)

# Later versions of the module no longer carry this package.
_HOST_VERSION = "v3.68.0"
_HOST_FOLDER = "python/cmd/pulumi-language-python"
PYTHON_HOST = GoBuild(
    name="pulumi-language-python",
    module=_SDK,
    version=_HOST_VERSION,
    align=f"{_PKG} v{PULUMI_VERSION}",
    packages=(f"{_SDK}/{_HOST_FOLDER}",),
    variables={f"{_SDK}/go/common/version.Version": f"v{PULUMI_VERSION}"},
    copies=(
        Copy(
            module=_SDK,
            version=_HOST_VERSION,
            keep=("go.mod", "go", "nodejs/npm", "proto", "python"),
            add={f"{_HOST_FOLDER}/list.go": (_GO_FILES / "list.go").read_text()},
            edits=tuple(
                Edit(
                    file=f"{_HOST_FOLDER}/main.go",
                    old=f'{{"-m", "pip", "list", {options}}}',
                    new='{"-c", listPackages}',
                )
                for options in ('"-v", "--format", "json"', '"--format=json"')
            ),
        ),
    ),
)


def set_schema_version_1(folder: Path) -> None:
    """What the provider's own `go generate` does: its schema, with the version that it claims."""
    command = folder / "cmd" / "pulumi-resource-kubernetes"
    schema = json.loads((command / "schema.json").read_text())
    schema["version"] = KUBERNETES_SDK_VERSION
    (command / "schema-embed.json").write_text(json.dumps(schema))
    mapping = json.loads((command / "terraform-mapping.json").read_text())
    (command / "terraform-mapping-embed.json").write_text(json.dumps(mapping))


# The provider links its own Go SDK, a quarter of all that there is to compile, only to name the
# type of each object of a YAML file; a page of code does the same. Its other dependencies are
# moved to the versions that Kubernetes has, which have to be compiled anyway.
KUBERNETES_PROVIDER = GoBuild(
    name="pulumi-resource-kubernetes",
    module=_PROVIDER,
    version="v4.0.0-20260115033456-f47bc2d6f199",
    packages=(f"{_PROVIDER}/cmd/pulumi-resource-kubernetes",),
    align=_SHARED,
    requires={
        "github.com/fluxcd/pkg/ssa": "v0.72.0",
        "helm.sh/helm/v3": "v3.22.0",
        "sigs.k8s.io/structured-merge-diff/v6": "v6.4.2",
    },
    variables={f"{_PROVIDER}/pkg/version.Version": KUBERNETES_SDK_VERSION},
    copies=(
        Copy(
            module=_PROVIDER,
            version="v4.0.0-20260115033456-f47bc2d6f199",
            edits=(
                Edit(
                    file="pkg/await/await.go",
                    old="structured-merge-diff/v4/fieldpath",
                    new="structured-merge-diff/v6/fieldpath",
                ),
            ),
            prepare=set_schema_version_1,
        ),
        Copy(
            module=_PROVIDER_SDK,
            version="v4.22.2",
            keep=(
                "go/kubernetes/customPulumiTypes.go",
                "go/kubernetes/utilities",
                "go/kubernetes/helm/v4",
            ),
            add={
                "go.mod": f"module {_PROVIDER_SDK}\n\ngo 1.22\n",
                "go/kubernetes/yaml/v2/register.go": (_GO_FILES / "register.go").read_text(),
            },
        ),
    ),
)

ENGINE = (PULUMI, KUBERNETES_PROVIDER, PYTHON_HOST)


def kubernetes(release: Release) -> GoBuild:
    """The programs of one Kubernetes version."""
    version = release.kubernetes
    major, minor, _ = version.removeprefix("v").split(".")
    base = "k8s.io/component-base/version"
    programs = ("kubelet", "apiserver", "controller-manager", "scheduler", "proxy")
    commands = ("kubelet", *(f"kube-{name}" for name in programs[1:]), "kubectl")
    return GoBuild(
        name="kubernetes",
        module=_KUBERNETES,
        version=version,
        packages=(
            *(f"{_KUBERNETES}/cmd/{name}" for name in commands),
            f"{_KUBERNETES}/test/images/agnhost",
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
        align=_SHARED,
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
        align=_SHARED,
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
    align=_SHARED,
    variables={"sigs.k8s.io/metrics-server/pkg/version.gitVersion": _tag("metrics-server")},
)

_FLANNEL = "github.com/flannel-io/flannel"
FLANNEL = GoBuild(
    name="flannel",
    module=_FLANNEL,
    version=_tag("flannel"),
    packages=(_FLANNEL, f"{_FLANNEL}/cmd/install_conf"),
    rename={"flannel": "flanneld", "install_conf": "install-conf"},
    align=_SHARED,
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
    align=_SHARED,
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
    align=_SHARED,
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
