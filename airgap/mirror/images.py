"""What is in each image: the table that the mirror is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from airgap import gobuild
from airgap.gobuild import GoBuild
from airgap.mirror import pause
from airgap.mirror.base import Bases
from airgap.mirror.oci import Entry, ImageConfig
from airgap.recipes import cluster as recipes
from versions import Release

_USERS = (
    "root:x:0:0:root:/root:/sbin/nologin\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/sbin/nologin\n"
    "nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n"
)
_GROUPS = "root:x:0:\nnogroup:x:65534:\nnonroot:x:65532:\n"
_BIN = "usr/local/bin"


class Base(StrEnum):
    """What an image stands on."""

    SCRATCH = "users, a temporary folder and public certificates"
    NODE = "Debian with what a node's programs call"
    TOOLS = "the same with tools to look at a network with"


@dataclass(frozen=True, kw_only=True, slots=True)
class Built:
    """An image that is built here."""

    base: Base
    entries: tuple[Entry, ...]
    config: ImageConfig = field(default_factory=ImageConfig)


@dataclass(frozen=True, kw_only=True, slots=True)
class Unavailable:
    """An image that cannot be had without the internet."""

    reason: str


Source = Built | Unavailable  # where images are copied from upstream, that would be a third


def sources(release: Release) -> Mapping[str, Source]:
    """Where each image of the release comes from, by its name in the version table."""
    kubernetes = recipes.kubernetes(release)
    return {
        **{name: _control_plane(kubernetes, name) for name in _CONTROL_PLANE},
        "kube-proxy": Built(base=Base.NODE, entries=_programs(kubernetes, "kube-proxy")),
        "kubelet": Built(
            base=Base.NODE,
            entries=_programs(kubernetes, "kubelet"),
            config=ImageConfig(entrypoint=(f"/{_BIN}/kubelet",)),
        ),
        "etcd": _etcd(release),
        "pause": Built(
            base=Base.SCRATCH,
            entries=(Entry(path="pause", content=pause.program(release)),),
            config=ImageConfig(entrypoint=("/pause",), user="65535:65535"),
        ),
        "addon-manager": _addon_manager(release),
        "coredns": _single(recipes.coredns(release), "coredns"),
        "metrics-server": _single(recipes.METRICS_SERVER, "metrics-server", user="65534"),
        "flannel": Built(
            base=Base.NODE,
            entries=_programs(recipes.FLANNEL, "flanneld", "install-conf", folder="opt/bin"),
            config=ImageConfig(entrypoint=("/opt/bin/flanneld",)),
        ),
        "flannel-cni-plugin": Built(
            base=Base.NODE, entries=_programs(recipes.FLANNEL_CNI_PLUGIN, "flannel", folder="")
        ),
        "agnhost": _agnhost(release),
        **dict.fromkeys(
            ("calico-cni", "calico-kube-controllers", "calico-node"),
            Unavailable(reason="no recipe builds it: it has BPF programs and a Linux of its own"),
        ),
        **dict.fromkeys(
            ("cilium", "cilium-operator"),
            Unavailable(reason="no recipe builds it: it has BPF programs and an Envoy of its own"),
        ),
        **dict.fromkeys(
            ("weave-kube", "weave-npc"),
            Unavailable(reason="abandoned in 2024; the Go module proxy does not serve its source"),
        ),
        "fluentd": Unavailable(
            reason="a Ruby program with many gems; no Debian package and no Go module has it"
        ),
        "heapster": Unavailable(
            reason="retired in 2018; the Go module proxy does not serve its source"
        ),
    }


def base_entries(bases: Bases) -> tuple[Entry, ...]:
    """The layer below images that need no Debian."""
    return (
        Entry(path="etc/passwd", content=_USERS.encode(), mode=0o644),
        Entry(path="etc/group", content=_GROUPS.encode(), mode=0o644),
        Entry(path="etc/nsswitch.conf", content=b"hosts: files dns\n", mode=0o644),
        Entry(
            path="etc/ssl/certs/ca-certificates.crt",
            content=bases.certificates.read_bytes(),
            mode=0o644,
        ),
        Entry(path="tmp", mode=0o1777),
    )


# As upstream's, these have no entrypoint: a pod says `command`.
_CONTROL_PLANE = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")


def _programs(build: GoBuild, *names: str, folder: str = _BIN) -> tuple[Entry, ...]:
    return tuple(
        Entry(path=f"{folder}/{name}".lstrip("/"), content=build.program(name)) for name in names
    )


def _control_plane(build: GoBuild, name: str) -> Built:
    return Built(base=Base.SCRATCH, entries=_programs(build, name))


def _single(build: GoBuild, name: str, user: str = "") -> Built:
    return Built(
        base=Base.SCRATCH,
        entries=_programs(build, name, folder=""),
        config=ImageConfig(entrypoint=(f"/{name}",), user=user),
    )


def _etcd(release: Release) -> Built:
    build = recipes.etcd(release)
    return Built(
        base=Base.SCRATCH,
        entries=(*_programs(build, *build.programs()), Entry(path="var/lib/etcd", mode=0o700)),
        config=ImageConfig(command=(f"/{_BIN}/etcd",)),
    )


def _addon_manager(release: Release) -> Built:
    """Upstream's scripts, with a kubectl that fits the release rather than upstream's 1.32."""
    build = recipes.kubernetes(release)
    scripts = gobuild.module_source(build.module, build.version) / "cluster/addons/addon-manager"
    return Built(
        base=Base.NODE,
        entries=(
            *_programs(build, "kubectl"),
            *(
                Entry(path=f"opt/{name}", content=(scripts / name).read_bytes())
                for name in ("kube-addons.sh", "kube-addons-main.sh")
            ),
        ),
        config=ImageConfig(command=("/opt/kube-addons-main.sh",)),
    )


def _agnhost(release: Release) -> Built:
    build = recipes.kubernetes(release)
    folder = gobuild.module_source(build.module, build.version) / "test/images/agnhost/porter"
    return Built(
        base=Base.TOOLS,
        entries=(
            *_programs(build, "agnhost", folder=""),
            Entry(path="agnhost-2", target="agnhost"),
            Entry(path="uploads"),
            *(
                Entry(path=name, content=(folder / name).read_bytes(), mode=0o644)
                for name in ("localhost.crt", "localhost.key")
            ),
        ),
        config=ImageConfig(entrypoint=("/agnhost",), command=("pause",)),
    )
