"""What the program itself sets and nobody may override, each with the reason and the way to do it.

Only what would break the cluster if it changed alone is here: what must be the same in several
places, what belongs to one host, and what points at files and keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class Owner(NamedTuple):
    """Why a setting is ours, and what to write instead."""

    reason: str
    remedy: str


PKI = Owner("names a key or certificate that this program makes", "leave it out")
HOST = Owner("has a value of its own on each host", "leave it out")
FIXED = Owner("is the same in several places of the cluster, and must stay so", "leave it out")
NO_FILE = Owner("names a file that is not in the container", "write its settings as flags")
ALONE = Owner("takes the cluster off its API", "leave it out")


def _each(names: Iterable[str], owner: Owner) -> Mapping[str, Owner]:
    return dict.fromkeys(names, owner)


def _key(name: str) -> Owner:
    reason = "must agree with the rest of the cluster, which reads it from the config"
    return Owner(reason, f"write {name} instead")


APISERVER: Mapping[str, Owner] = {
    **_each(("advertise-address",), HOST),
    **_each(("secure-port", "etcd-servers", "requestheader-allowed-names"), FIXED),
    **_each(
        (
            "client-ca-file",
            "etcd-cafile",
            "etcd-certfile",
            "etcd-keyfile",
            "kubelet-certificate-authority",
            "kubelet-client-certificate",
            "kubelet-client-key",
            "proxy-client-cert-file",
            "proxy-client-key-file",
            "requestheader-client-ca-file",
            "service-account-key-file",
            "service-account-signing-key-file",
            "tls-cert-file",
            "tls-private-key-file",
        ),
        PKI,
    ),
    **_each(
        ("anonymous-auth", "authentication-config"),
        Owner(
            "is decided already: without a login only /livez, /readyz and /healthz answer",
            "leave it out",
        ),
    ),
    "authorization-config": NO_FILE,
    "service-cluster-ip-range": _key("network.serviceCidr"),
}
CONTROLLER_MANAGER: Mapping[str, Owner] = {
    **_each(("secure-port", "allocate-node-cidrs"), FIXED),
    **_each(
        (
            "authentication-kubeconfig",
            "authorization-kubeconfig",
            "client-ca-file",
            "cluster-signing-cert-file",
            "cluster-signing-key-file",
            "kubeconfig",
            "requestheader-client-ca-file",
            "root-ca-file",
            "service-account-private-key-file",
            "tls-cert-file",
            "tls-private-key-file",
        ),
        PKI,
    ),
    "cluster-cidr": _key("network.podCidr"),
    "node-cidr-mask-size": _key("network.nodePrefix"),
    "node-cidr-mask-size-ipv4": _key("network.nodePrefix"),
    "service-cluster-ip-range": _key("network.serviceCidr"),
}
SCHEDULER: Mapping[str, Owner] = {
    "secure-port": FIXED,
    "config": NO_FILE,
    **_each(
        (
            "authentication-kubeconfig",
            "authorization-kubeconfig",
            "client-ca-file",
            "kubeconfig",
            "tls-cert-file",
            "tls-private-key-file",
        ),
        PKI,
    ),
}
ETCD: Mapping[str, Owner] = {
    **_each(
        (
            "advertise-client-urls",
            "initial-advertise-peer-urls",
            "initial-cluster",
            "listen-client-urls",
            "listen-metrics-urls",
            "listen-peer-urls",
            "name",
        ),
        HOST,
    ),
    **_each(
        (
            "cert-file",
            "client-cert-auth",
            "key-file",
            "peer-cert-file",
            "peer-client-cert-auth",
            "peer-key-file",
            "peer-trusted-ca-file",
            "trusted-ca-file",
        ),
        PKI,
    ),
    **_each(("initial-cluster-state", "initial-cluster-token"), FIXED),
    "config-file": Owner("makes etcd ignore every other flag", "write its settings as flags"),
    **_each(
        ("data-dir", "wal-dir"),
        Owner("is where the pod mounts the cluster's data; elsewhere it is lost", "leave it out"),
    ),
}
KUBELET: Mapping[str, Owner] = {
    **_each(("hostname-override", "node-ip"), HOST),
    **_each(
        (
            "bootstrap-kubeconfig",
            "cert-dir",
            "client-ca-file",
            "kubeconfig",
            "rotate-certificates",
            "tls-cert-file",
            "tls-private-key-file",
        ),
        PKI,
    ),
    **_each(
        ("config", "config-dir"),
        Owner(
            "is where this program writes the kubelet's settings", "write kubelet.config instead"
        ),
    ),
    **_each(
        ("cgroup-driver", "container-runtime-endpoint", "pod-manifest-path", "root-dir"), FIXED
    ),
    "cluster-domain": _key("network.clusterDomain"),
    "node-labels": _key("pools[].labels"),
    "register-node": ALONE,
    "register-with-taints": _key("pools[].taints"),
}
FLAGS_OF: Mapping[str, Mapping[str, Owner]] = {
    "kube-apiserver": APISERVER,
    "kube-controller-manager": CONTROLLER_MANAGER,
    "kube-scheduler": SCHEDULER,
    "etcd": ETCD,
    "kubelet": KUBELET,
}

FIELDS: Mapping[str, Owner] = {
    **_each(("providerID", "podCIDR"), HOST),
    **_each(("tlsCertFile", "tlsPrivateKeyFile", "rotateCertificates", "serverTLSBootstrap"), PKI),
    **_each(
        ("authentication", "authorization"),
        Owner(
            "decides who may call the kubelet: the API server, by its certificate", "leave it out"
        ),
    ),
    **_each(
        (
            "cgroupDriver",
            "containerRuntimeEndpoint",
            "healthzBindAddress",
            "healthzPort",
            "port",
            "resolvConf",
            "staticPodPath",
            "staticPodURL",
            "volumePluginDir",
        ),
        FIXED,
    ),
    **_each(("enableServer", "registerNode"), ALONE),
    "clusterDomain": _key("network.clusterDomain"),
    "registerWithTaints": _key("pools[].taints"),
}

# Lists that replace ours: what must still be in them.
NEEDED_ITEMS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("kube-apiserver", "enable-admission-plugins"): ("NodeRestriction",),
    ("kube-apiserver", "authorization-mode"): ("Node", "RBAC"),
}
