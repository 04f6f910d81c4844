"""kubeadm's procedure as data: what its hosts get, and what it is told. Pure functions.

As its documentation has it, for one control plane: the runtime and the packages on every host, then
`kubeadm init` with a config file, flannel's manifest, and `kubeadm join` on each node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from addons.objects import Manifest, amend, find, to_yaml
from bench import BenchError
from bootstrap import render
from bootstrap.render import Download
from bootstrap.step import File, call, place, program
from bootstrap.view import HostView, folders
from config import ClusterConfig
from interface import Traits

# The hosts are containers: what kubeadm says about their kernel is true, and known.
IGNORED = "all"
CONFIG_FILE = "/etc/kubernetes-kubeadm.yaml"
# As in our own flannel's: the plugin that a mirror can build knows no later one.
CNI_VERSION = "0.3.1"
ADMIN_MARK = "--- admin.conf ---"
# The package's unit and its drop-in for kubeadm, in one file.
_KUBELET_UNIT = """\
[Unit]
Description=kubelet
Wants=network-online.target
After=network-online.target

[Service]
EnvironmentFile=-/var/lib/kubelet/kubeadm-flags.env
ExecStart=/usr/bin/kubelet --config=/var/lib/kubelet/config.yaml \\
  --bootstrap-kubeconfig=/etc/kubernetes/bootstrap-kubelet.conf \\
  --kubeconfig=/etc/kubernetes/kubelet.conf $KUBELET_KUBEADM_ARGS
Restart=always
RestartSec=10

[Install]
WantedBy=multi-user.target
"""


def packages(view: HostView, programs: Sequence[Download]) -> str:
    """The script that installs containerd, runc, CNI plugins, the kubelet and kubeadm on a host.

    The functions are those that our own hosts are prepared with, and so is containerd's
    configuration; no image is pulled.
    """
    unit = File(path="/etc/systemd/system/kubelet.service", content=_KUBELET_UNIT)
    return program(
        ("places", "prepare"),
        (
            "alone",
            call("cluster", view.config.name),
            call("runtime", folders(view.config)["containerd"]),
            *(
                call("archive", found.folder, found.file, found.url, found.sha256)
                for found in (*render.downloads(view), *programs)
            ),
            *(place(file) for file in (*render.runtime_files(view), unit)),
            "prepare",
            *(f'ln -sf "$opt"/{found.folder}/* /usr/bin/' for found in programs),
            "systemctl enable -q kubelet",
        ),
    )


def kubeadm_config(config: ClusterConfig, traits: Traits, address: str) -> str:
    """The file that `kubeadm init` reads: our versions, ranges, proxy mode; else its defaults."""
    etcd, tag = config.release.images["etcd"].rsplit(":", 1)
    network = config.network
    kind = {"apiVersion": "kubeadm.k8s.io/v1beta4"}
    documents: list[Mapping[str, Any]] = [
        {
            **kind,
            "kind": "InitConfiguration",
            "localAPIEndpoint": {"advertiseAddress": address},
            "nodeRegistration": {"ignorePreflightErrors": [IGNORED]},
        },
        {
            **kind,
            "kind": "ClusterConfiguration",
            "clusterName": config.name,
            "kubernetesVersion": config.kubernetes_version,
            "networking": {
                "dnsDomain": network.cluster_domain,
                "podSubnet": network.pod_cidr,
                "serviceSubnet": network.service_cidr,
            },
            # The others' names are kubeadm's own, and containerd asks the mirror for all.
            "etcd": {"local": {"imageRepository": etcd.rsplit("/", 1)[0], "imageTag": tag}},
        },
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "cgroupDriver": "systemd" if traits.systemd_cgroup else "cgroupfs",
            **traits.kubelet,
        },
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": network.proxy_mode,
            **traits.kube_proxy,
        },
    ]
    text: str = yaml.safe_dump_all(documents, sort_keys=False)
    return text


def init(config_file: str) -> str:
    """The script for the master: `kubeadm init`, then the administrator's kubeconfig."""
    return "\n".join(
        (
            "set -eu",
            f"cat >{CONFIG_FILE} <<'END-OF-FILE'",
            f"{config_file.rstrip()}",
            "END-OF-FILE",
            f"kubeadm init --config {CONFIG_FILE} </dev/null",
            f"echo '{ADMIN_MARK}'",
            "cat /etc/kubernetes/admin.conf",
            "",
        )
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Begun:
    """What `init` left: how nodes join, and how an administrator gets in."""

    join: str
    kubeconfig: str


def begun(output: str) -> Begun:
    """What the script of `init` printed. Raises BenchError if it is not that."""
    said, mark, kubeconfig = output.partition(f"{ADMIN_MARK}\n")
    found = re.search(r"kubeadm join \S+ --token \S+ \\\s+--discovery-token-ca-cert-hash \S+", said)
    if not mark or not found:
        raise BenchError(f"`kubeadm init` printed no join command:\n{said[-2000:]}")
    words = found[0].replace("\\\n", " ").split()
    join = " ".join((*words, f"--ignore-preflight-errors={IGNORED}"))
    return Begun(join=f"{join} </dev/null\n", kubeconfig=kubeconfig)


def flannel(manifest: str, config: ClusterConfig) -> str:
    """Flannel's own manifest, edited as its documentation asks: pod range, rules; our versions."""
    objects: list[Manifest] = list(yaml.safe_load_all(manifest))
    network = config.network
    settings = {
        "Network": network.pod_cidr,
        "EnableNFTables": network.proxy_mode == "nftables",
        "Backend": {"Type": network.backend},
    }
    files = find(objects, "ConfigMap", "kube-flannel-cfg")
    amend(files, "net-conf.json", settings)
    amend(files, "cni-conf.json", {"cniVersion": CNI_VERSION})
    versions = {image.rsplit(":", 1)[0]: image for image in config.release.images.values()}
    pods = find(objects, "DaemonSet", "kube-flannel-ds")["spec"]["template"]["spec"]
    for container in (*pods["initContainers"], *pods["containers"]):
        container["image"] = versions[container["image"].rsplit(":", 1)[0]]
    return to_yaml(objects)
