"""Everything that phase 2 puts on a host, as pure functions of the config and the machines.

No pulumi here: the caller resolves Outputs first. Each function returns what a host will have;
golden files in `tests/bootstrap/golden` show it whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from bootstrap.kubelet import kubelet_files
from bootstrap.step import SECRET_MODE, File, call, place, program, read
from bootstrap.view import HostView, dump, folders, oom_score_adjust, substitute
from config import ClusterConfig
from interface import ADDONS_DIRECTORY, API_PORT, PKI
from model import Role

ETCD_METRICS_PORT = 2381
CONTROLLER_MANAGER_PORT = 10257
SCHEDULER_PORT = 10259

# Images that a host pulls before anything starts, by role. What pods of every host will want is
# pulled meanwhile, the rest when a pod wants it.
IMAGES: Mapping[Role, tuple[str, ...]] = {
    Role.MASTER: (
        "kubelet",
        "pause",
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "kube-scheduler",
    ),
    Role.NODE: ("kubelet", "pause"),
}
# The static pods of a master, and where each says that it is well (addon-manager serves nothing).
STATIC_PODS: Mapping[str, str] = {
    "etcd": f"http://127.0.0.1:{ETCD_METRICS_PORT}/readyz",
    "kube-apiserver": f"https://127.0.0.1:{API_PORT}/readyz",
    "kube-controller-manager": f"https://127.0.0.1:{CONTROLLER_MANAGER_PORT}/healthz",
    "kube-scheduler": f"https://127.0.0.1:{SCHEDULER_PORT}/readyz",
    "addon-manager": "",
}
# Folders of a host that static pods mount, and their modes.
DIRECTORIES: Mapping[Role, Mapping[str, str]] = {
    Role.MASTER: {"/var/lib/etcd": "0700", ADDONS_DIRECTORY: "0755"},
    Role.NODE: {},
}
TAKEOFF = ("places", "rules", "takeoff")  # those of `files/` that take a cluster off


@dataclass(frozen=True, kw_only=True, slots=True)
class Download:
    """An archive as a host fetches it."""

    folder: str  # name and version, below /opt/kubernetes-anywhere
    file: str
    url: str
    sha256: str


def downloads(view: HostView) -> tuple[Download, ...]:
    """What a host fetches: from the mirror if there is one, else from where upstream publishes."""
    arch = view.spec.arch
    return tuple(
        Download(
            folder=f"{archive.name}-{archive.version}",
            file=archive.file(arch),
            url=f"{view.mirror_url}/archives/{archive.file(arch)}"
            if view.mirror_url
            else archive.address(arch),
            sha256=view.archive_sums.get(archive.file(arch), archive.sha256[arch]),
        )
        for archive in view.config.release.archives
    )


def images(view: HostView) -> tuple[str, ...]:
    """What a host pulls before anything starts: references."""
    return tuple(view.config.release.images[name] for name in IMAGES[view.spec.role])


def runtime_files(view: HostView) -> tuple[File, ...]:
    """The unit and the configuration of containerd."""
    values = {
        **folders(view.config),
        "pause": view.config.release.images["pause"],
        "restrict_oom_score_adj": str(view.traits.restrict_oom_score_adj).lower(),
        "systemd_cgroup": str(view.traits.systemd_cgroup).lower(),
        "oom_score_adjust": oom_score_adjust(view.traits),
        "mirror": view.mirror_url or "",
    }
    table = {
        "/etc/systemd/system/containerd-anywhere.service": "containerd-anywhere.service",
        "/etc/containerd/config.toml": "containerd.toml",
    }
    if view.mirror_url:
        table["/etc/containerd/certs.d/_default/hosts.toml"] = "hosts.toml"
    return tuple(File(path=path, content=substitute(name, values)) for path, name in table.items())


def machine(view: HostView) -> tuple[str, ...]:
    """The call that makes another machine of the same name another text."""
    return (call("machine", view.identity),) if view.identity else ()


def with_extra_args(command: list[str], extra: Mapping[str, str]) -> list[str]:
    """A command line with the user's flags in place of ours of that name, or after them."""
    ours = [word for word in command if word.lstrip("-").split("=", 1)[0] not in extra]
    return [*ours, *(f"--{flag}={value}" for flag, value in extra.items())]


def static_pod(name: str, view: HostView) -> File:
    """One static pod's manifest."""
    config = view.config
    values = {
        "image": config.release.images[name],
        "name": view.spec.name,
        "address": view.address,
        "cluster": config.name,
        "cluster_domain": config.network.cluster_domain,
        "pod_cidr": config.network.pod_cidr,
        "node_prefix": str(config.network.node_prefix),
        "service_cidr": config.network.service_cidr,
    }
    components = {
        "etcd": config.etcd,
        "kube-apiserver": config.apiserver,
        "kube-controller-manager": config.controller_manager,
        "kube-scheduler": config.scheduler,
    }
    pod = yaml.safe_load(substitute(f"manifests/{name}.yaml", values))
    if name in components:
        container = pod["spec"]["containers"][0]
        container["command"] = with_extra_args(container["command"], components[name].extra_args)
    return File(path=f"/etc/kubernetes/manifests/{name}.yaml", content=dump(pod), mode=SECRET_MODE)


def master_files(view: HostView) -> tuple[File, ...]:
    """What only masters have: the static pods and the API server's configuration."""
    return (
        File(path=f"{PKI}/authentication.yaml", content=read("authentication.yaml")),
        *(static_pod(name, view) for name in STATIC_PODS),
    )


def host_files(view: HostView, addons: Mapping[str, str]) -> tuple[File, ...]:
    """Every file of a host that is not a key. `addons` are the addon-manager's, for masters."""
    files = (*runtime_files(view), *kubelet_files(view))
    if view.spec.role is not Role.MASTER:
        return files
    return (
        *files,
        *master_files(view),
        *(File(path=path, content=text) for path, text in addons.items()),
    )


def made_with(view: HostView) -> tuple[str, ...]:
    """What a cluster is made with and cannot change while it runs.

    Objects and traces of another pod network or owner would stay. Of versions, no kubelet may be
    newer than an API server, and nothing here orders the hosts so yet.
    """
    config = view.config
    facts = {
        "kubernetesVersion": config.kubernetes_version,
        "network.plugin": config.network.plugin,
        "addons.delivery": config.addons.delivery,
    }
    return tuple(call("made_with", key, value) for key, value in facts.items())


def prepare(view: HostView) -> str:
    """Step 2: fetch archives and images; start the runtime where none runs."""
    clear = view.traits.remove_leftovers
    return program(
        (*TAKEOFF, "leftovers", "prepare") if clear else ("places", "prepare"),
        (
            *machine(view),
            "alone",
            call("cluster", view.config.name),
            *(("clear_leftovers",) if clear else ()),
            call("own", view.config.network.pod_cidr),
            *made_with(view),
            call("runtime", folders(view.config)["containerd"]),
            *(call("archive", d.folder, d.file, d.url, d.sha256) for d in downloads(view)),
            *(place(file) for file in runtime_files(view)),
            *(call("image", image) for image in images(view)),
            *(call("later", image) for image in view.pod_images),
            "prepare",
        ),
    )


def _members(view: HostView) -> tuple[str, ...]:
    """The calls that find out what etcd on a master starts with."""
    return (
        call("etcd_image", view.config.release.images["etcd"]),
        call("member", view.spec.name, view.address),
        *(call("master", name, address) for name, address in view.masters.items()),
        *(("founder",) if view.founder else ()),
        "members",
    )


def _activate(
    view: HostView, step: str, files: tuple[File, ...], members: tuple[str, ...] = ()
) -> str:
    pods = STATIC_PODS if view.spec.role is Role.MASTER else {}
    return program(
        ("activate", *(("etcdctl", "members") if members else ())),
        (
            *machine(view),
            "alone",
            call("node", view.spec.name),
            call("runtime", folders(view.config)["containerd"]),
            *(call("health", pod, url) for pod, url in pods.items() if url),
            *(call("directory", path, mode) for path, mode in DIRECTORIES[view.spec.role].items()),
            *members,
            *(place(file) for file in files),
            call("activate", step),
            *(("settle",) if members else ()),
        ),
    )


def identity(view: HostView, keys: Mapping[str, str]) -> str:
    """Step 3, first half: keys and certificates. The text is secret."""
    files = tuple(File(path=path, content=text, mode=SECRET_MODE) for path, text in keys.items())
    return _activate(view, "identity", files)


def activate(view: HostView, addons: Mapping[str, str]) -> str:
    """Step 3, second half: every other file, then start or restart what changed."""
    members = _members(view) if view.spec.role is Role.MASTER else ()
    return _activate(view, "activate", host_files(view, addons), members)


def takeoff(config: ClusterConfig) -> str:
    """The last step of a machine that is not ours: the cluster goes, the machine stays."""
    return program(TAKEOFF, (call("cluster", config.name), "takeoff"))
