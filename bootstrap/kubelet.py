"""The kubelet on a host: its configuration, its command line, and the unit that runs it."""

from __future__ import annotations

import re

import yaml
from pydantic import JsonValue

from bootstrap.ready import CLUSTER_LABEL
from bootstrap.step import File
from bootstrap.view import HostView, dump, folders, oom_score_adjust, substitute
from model import Role


def kubelet_config(view: HostView) -> dict[str, JsonValue]:
    """The KubeletConfiguration: ours, then what the machines need, then what the user says."""
    base = yaml.safe_load(
        substitute(
            "kubelet.yaml",
            {
                "cgroup_driver": "systemd" if view.traits.systemd_cgroup else "cgroupfs",
                "dns_service_address": str(view.config.dns_service_address),
                "cluster_domain": view.config.network.cluster_domain,
                "iptables_chains": str(view.config.network.proxy_mode == "iptables").lower(),
            },
        )
    )
    taints: list[JsonValue] = [
        taint.model_dump(exclude_defaults=True) for taint in view.spec.taints
    ]
    registration: dict[str, JsonValue] = {"registerWithTaints": taints} if taints else {}
    return {**base, **registration, **view.traits.kubelet, **view.spec.kubelet.config}


def systemd_word(text: str) -> str:
    """One word of a command line as a unit file has it (systemd.service(5), "Command lines")."""
    escaped = text.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[\w@%+=:,./$-]+", escaped, re.ASCII):
        return escaped
    quoted = escaped.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{quoted}"'


def kubelet_arguments(view: HostView) -> str:
    """The kubelet's command line: what has no field in its configuration, then the user's flags."""
    known = {**view.labels, **view.spec.labels, CLUSTER_LABEL: view.config.name}
    labels = ",".join(f"{key}={value}" for key, value in sorted(known.items()))
    flags = {
        "config": "/etc/kubernetes/kubelet.yaml",
        "kubeconfig": "/etc/kubernetes/kubelet/kubelet.conf",
        "hostname-override": view.spec.name,
        "node-ip": view.address,
        "node-labels": labels,
        **view.spec.kubelet.extra_args,
    }
    return " ".join(systemd_word(f"--{flag}={value}") for flag, value in flags.items())


# A kubelet that finds no API server keeps a core busy, and asks again ever later. Where it has pods
# from nobody else it can as well wait for one, but not for ever: it is said to run when it does.
API_PATIENCE_SECONDS = 60
WAIT_FOR_API = (
    f"ExecStartPre=-/usr/bin/timeout {API_PATIENCE_SECONDS} /bin/sh -c "
    "'until curl -fsk --max-time 2 -o /dev/null "
    r"""$$(sed -n "s/^ *server: //p" /etc/kubernetes/kubelet/kubelet.conf)/readyz; """
    "do sleep 0.2; done'\n"
)


def kubelet_files(view: HostView) -> tuple[File, ...]:
    """The one init unit of Kubernetes on a host, and its configuration."""
    unit = substitute(
        "kubelet.service",
        {
            **folders(view.config),
            "image": view.config.release.images["kubelet"],
            "arguments": kubelet_arguments(view),
            "oom_score_adjust": oom_score_adjust(view.traits),
            # A master's own API server is one of its pods.
            "wait_for_api": WAIT_FOR_API if view.spec.role is Role.NODE else "",
        },
    )
    return (
        File(path="/etc/kubernetes/kubelet.yaml", content=dump(kubelet_config(view))),
        File(path="/etc/systemd/system/kubelet.service", content=unit),
    )
