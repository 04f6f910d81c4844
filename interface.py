"""The contract between the phases: what phase 1 hands to phase 2, and nothing else.

A platform returns `Machines`. Whatever else would have to cross is a design error: phase 2 must
work on hosts that no phase 1 made. What differs between kinds of machines crosses as data
(`Traits`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pulumi import Input, Output, Resource
from pydantic import JsonValue

from config import HostSpec

# What hosts listen on for each other; a firewall lets nothing else through.
SSH_PORT = 22
API_PORT = 6443
ETCD_CLIENT_PORT = 2379
ETCD_PEER_PORT = 2380
KUBELET_PORT = 10250
VXLAN_PORT = 8472  # UDP; flannel's on Linux, and Cilium's
CALICO_PORT = 4789  # UDP; its VXLAN, on the port that RFC 7348 names
CILIUM_HEALTH_PORT = 4240  # each agent asks the others whether they are there
WEAVE_PORT = 6783  # TCP for the hosts' connections, UDP for packets
WEAVE_FAST_PORT = 6784  # UDP; packets that the kernel itself carries
# Folders of a host: what static pods read to know themselves and others (a change in it restarts
# them), and what the addon-manager keeps applied.
PKI = "/etc/kubernetes/pki"
ADDONS_DIRECTORY = "/etc/kubernetes/addons"
# On every host: where the API server is (its own on a master, the endpoint on a node) and its CA,
# with the token of whichever pod reads it. For what must run before Services do.
IN_CLUSTER_KUBECONFIG = "/etc/kubernetes/in-cluster.kubeconfig"

# {path on the host: content}; paths are known at preview, contents may be secret.
HostFiles = Mapping[str, Input[str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Connection:
    """How SSH reaches a host."""

    host: Input[str]
    user: str
    private_key: Input[str]
    host_key: Input[str]  # a public key line, `ssh-ed25519 AAAA...`
    port: Input[int] = SSH_PORT
    proxy: Connection | None = None  # the bastion that the way leads through


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """A machine that phase 2 can log in to."""

    spec: HostSpec
    address: Input[str]  # what the other hosts use
    connection: Connection
    machine: Resource | None = None  # what the steps on this host die with; None: not ours
    # Another one where the machine was made anew: all steps run again. Empty: it never is.
    identity: Input[str] = ""
    labels: Mapping[str, str] = field(default_factory=dict)  # what the platform knows of the node


@dataclass(frozen=True, kw_only=True, slots=True)
class Traits:
    """What is peculiar to a platform's machines, as data: phase 2 merges it in and asks nothing."""

    protect: bool = True  # whether a CA may only go when somebody says so twice
    # Whether what runs in the cluster can make load balancers and volumes that outlive it.
    makes_cloud_things: bool = False
    remove_leftovers: bool = False  # whether what another cluster left on a host may go
    systemd_cgroup: bool = True
    restrict_oom_score_adj: bool = False
    kubelet: Mapping[str, JsonValue] = field(default_factory=dict)  # KubeletConfiguration fields
    kube_proxy: Mapping[str, JsonValue] = field(
        default_factory=dict
    )  # KubeProxyConfiguration fields
    flannel: Mapping[str, JsonValue] = field(default_factory=dict)  # net-conf.json's Backend fields


@dataclass(frozen=True, kw_only=True, slots=True)
class Machines:
    """Everything that phase 1 made, masters first."""

    hosts: tuple[Host, ...]
    api_host: Input[str]  # address or name of the API endpoint, for clients and nodes
    operator_api_host: Input[str]  # the same endpoint, as this computer reaches it
    operator_api_port: Input[int]
    mirror_url: (
        Output[str] | None
    )  # http://..., where hosts get images and archives; None: upstream
    traits: Traits
    lifetime: Resource | None = None  # what the cluster dies with as a whole; None: nothing of ours
    everything: Resource | None = None  # the component of all that phase 1 made; None: nothing


WORKLOAD_KINDS = ("DaemonSet", "Deployment", "StatefulSet")  # of apps/v1; pods that run for good


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """An add-on's pods, which the last gate waits for."""

    kind: str
    namespace: str
    name: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiClient:
    """How this computer talks to the API: the operator's certificate, and where the endpoint is."""

    server: Output[str]
    ca: Output[str]
    certificate: Output[str]
    key: Output[str]
