"""The PKI as a table: which certificate exists, who signs it, what it says, which host gets it.

CAs last ten years, leaves as long as the config says. Every key is ECDSA P-256. Rows with
`per_host` are made once for each host of their roles and carry its names; the others once for the
cluster. A CA's key goes to masters only where a component signs with it, and to nodes never.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from config import ClusterConfig, HostSpec
from interface import PKI
from model import Role

KUBELET = "/etc/kubernetes/kubelet"
MASTERS = frozenset({Role.MASTER})
EVERYWHERE = frozenset(Role)

CLIENT = ("digital_signature", "client_auth")
SERVER = ("digital_signature", "server_auth")
BOTH = ("digital_signature", "server_auth", "client_auth")


class Names(StrEnum):
    """Which names a certificate is valid for."""

    NONE = "none"
    HOST = "host"  # the host's name and address
    MEMBER = "member"  # also loopback: etcd is dialled there by its own API server
    API = "api"  # all that clients call the API server


@dataclass(frozen=True, kw_only=True, slots=True)
class Authority:
    """A certificate authority. `key_path`: where masters keep its key, if a component needs it."""

    name: str
    common_name: str
    path: str
    roles: frozenset[Role]
    key_path: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Certificate:
    """A leaf. `$host` in the common name is the host's name.

    It lands as `path`.crt and `path`.key, or as a kubeconfig where `kubeconfig` says so, or both.
    """

    name: str
    authority: str
    common_name: str
    organization: str | None = None
    uses: tuple[str, ...] = CLIENT
    names: Names = Names.NONE
    roles: frozenset[Role] = MASTERS
    per_host: bool = False
    path: str | None = None
    kubeconfig: str | None = None


AUTHORITIES = (
    Authority(
        name="ca",
        common_name="kubernetes-ca",
        path=f"{PKI}/ca.crt",
        roles=MASTERS,
        key_path=f"{PKI}/ca.key",  # the controller-manager signs CertificateSigningRequests
    ),
    Authority(name="etcd-ca", common_name="etcd-ca", path=f"{PKI}/etcd-ca.crt", roles=MASTERS),
    Authority(
        name="front-proxy-ca",
        common_name="front-proxy-ca",
        path=f"{PKI}/front-proxy-ca.crt",
        roles=MASTERS,
    ),
)

CERTIFICATES = (
    Certificate(
        name="apiserver",
        authority="ca",
        common_name="kube-apiserver",
        uses=SERVER,
        names=Names.API,
        per_host=True,
        path=f"{PKI}/apiserver",
    ),
    # One certificate is an etcd member's server and its client towards other members.
    Certificate(
        name="etcd",
        authority="etcd-ca",
        common_name="$host",
        uses=BOTH,
        names=Names.MEMBER,
        per_host=True,
        path=f"{PKI}/etcd",
    ),
    # One certificate is a kubelet's identity (the Node authorizer reads name and group) and what it
    # serves logs, exec and metrics with.
    Certificate(
        name="kubelet",
        authority="ca",
        common_name="system:node:$host",
        organization="system:nodes",
        uses=BOTH,
        names=Names.HOST,
        roles=EVERYWHERE,
        per_host=True,
        path=f"{KUBELET}/kubelet",
        kubeconfig=f"{KUBELET}/kubelet.conf",
    ),
    # No group: an add-on binds this user to system:kubelet-api-admin and to nothing else.
    Certificate(
        name="apiserver-kubelet-client",
        authority="ca",
        common_name="kube-apiserver-kubelet-client",
        path=f"{PKI}/apiserver-kubelet-client",
    ),
    Certificate(
        name="apiserver-etcd-client",
        authority="etcd-ca",
        common_name="kube-apiserver-etcd-client",
        path=f"{PKI}/apiserver-etcd-client",
    ),
    # The API server accepts this name, signed by this CA, as an aggregated API's front: the CA is
    # apart from the cluster's, or any client could pose as the front.
    Certificate(
        name="front-proxy-client",
        authority="front-proxy-ca",
        common_name="front-proxy-client",
        path=f"{PKI}/front-proxy-client",
    ),
    Certificate(
        name="controller-manager",
        authority="ca",
        common_name="system:kube-controller-manager",
        kubeconfig=f"{PKI}/controller-manager.conf",
    ),
    Certificate(
        name="scheduler",
        authority="ca",
        common_name="system:kube-scheduler",
        kubeconfig=f"{PKI}/scheduler.conf",
    ),
    Certificate(
        name="addon-manager",
        authority="ca",
        common_name="kubernetes-anywhere:addon-manager",
        organization="system:masters",
        kubeconfig=f"{PKI}/addon-manager.conf",
    ),
    # The operator's, in no file of any host: the `kubeconfig` output.
    Certificate(
        name="admin",
        authority="ca",
        common_name="kubernetes-admin",
        organization="system:masters",
        roles=frozenset(),
    ),
)

# The key pair that signs service-account tokens; not a certificate.
SERVICE_ACCOUNT_KEY = f"{PKI}/service-account.key"
SERVICE_ACCOUNT_PUBLIC_KEY = f"{PKI}/service-account.pub"
# The kubelet checks its callers by this; nodes have no other PKI folder.
KUBELET_CA = f"{KUBELET}/ca.crt"


def host_certificates(spec: HostSpec) -> tuple[Certificate, ...]:
    """The rows of which a host gets a file."""
    return tuple(row for row in CERTIFICATES if spec.role in row.roles)


def dns_names(names: Names, config: ClusterConfig, host: str, api_names: list[str]) -> list[str]:
    """The DNS names of a certificate, without duplicates, in a stable order."""
    domain = config.network.cluster_domain
    table = {
        Names.NONE: [],
        Names.HOST: [host],
        Names.MEMBER: [host, "localhost"],
        Names.API: [
            host,
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            f"kubernetes.default.svc.{domain}",
            *api_names,
        ],
    }
    return list(dict.fromkeys(table[names]))


def ip_addresses(
    names: Names, config: ClusterConfig, address: str, api_addresses: list[str]
) -> list[str]:
    """The IP addresses of a certificate, without duplicates, in a stable order."""
    table = {
        Names.NONE: [],
        Names.HOST: [address],
        Names.MEMBER: [address, "127.0.0.1"],
        Names.API: [address, "127.0.0.1", str(config.kubernetes_service_address), *api_addresses],
    }
    return list(dict.fromkeys(table[names]))
