"""Who is who: each kubelet by its own certificate, and nobody gets in without one."""

from __future__ import annotations

import http.client
import json
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID

from tests.e2e.cluster import Cluster
from versions import RELEASES

pytestmark = pytest.mark.e2e

KUBELET_PORT = 10250
NAMESPACE = "identity"


def subject(certificate: x509.Certificate) -> tuple[str, list[str]]:
    """Common name and organizations: user and groups."""
    names = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    groups = certificate.subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    return str(names[0].value), [str(group.value) for group in groups]


def kubelet_certificate(cluster: Cluster, host: str) -> x509.Certificate:
    """The certificate that a host's kubelet has."""
    pem = cluster.host(host, "cat /etc/kubernetes/kubelet/kubelet.crt")
    return x509.load_pem_x509_certificate(pem.encode())


@pytest.fixture
def authority(cluster: Cluster) -> str:
    """The cluster's CA certificate."""
    return cluster.host(cluster.masters[0], "cat /etc/kubernetes/pki/ca.crt")


def test_each_kubelet_has_a_certificate_of_its_own(cluster: Cluster, authority: str) -> None:
    keys = set()
    for host in cluster.hosts:
        certificate = kubelet_certificate(cluster, host)
        assert subject(certificate) == (f"system:node:{host}", ["system:nodes"])
        certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(authority.encode()))
        keys.add(certificate.public_key().public_numbers())  # type: ignore[union-attr]
    assert len(keys) == len(cluster.hosts)


def test_a_kubelet_serves_with_it_at_its_address(cluster: Cluster, authority: str) -> None:
    """Verified as the API server does it: the CA, and the address among the names."""
    for host in cluster.hosts:
        address = cluster.address(host)
        context = ssl.create_default_context(cadata=authority)
        assert answer(address, KUBELET_PORT, "/pods", context) == 401, f"{host}: anonymous got in"
        names = kubelet_certificate(cluster, host).extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
        assert names.value.get_values_for_type(x509.IPAddress) == [IPv4Address(address)]


def answer(
    host: str, port: int, path: str, context: ssl.SSLContext, token: str | None = None
) -> int:
    """The status of one HTTPS request; a certificate that does not verify is an error."""
    connection = http.client.HTTPSConnection(host, port, context=context, timeout=10)
    try:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        connection.request("GET", path, headers=headers)
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/", "/api", "/api/v1/nodes", "/apis", "/version", "/metrics"])
def test_the_api_refuses_whoever_it_does_not_know(
    path: str, cluster: Cluster, authority: str
) -> None:
    context = ssl.create_default_context(cadata=authority)
    for master in cluster.masters:
        address = cluster.address(master)
        assert answer(address, 6443, path, context) == 401, path
        assert answer(address, 6443, path, context, token="made-up") == 401, path


@pytest.mark.parametrize("path", ["/livez", "/readyz", "/healthz"])
def test_health_is_no_secret(path: str, cluster: Cluster, authority: str) -> None:
    context = ssl.create_default_context(cadata=authority)
    assert answer(cluster.address(cluster.masters[0]), 6443, path, context) == 200


def test_the_api_server_is_told_to_verify_kubelets(cluster: Cluster) -> None:
    for master in cluster.masters:
        pod = cluster.get("pod", "-n", "kube-system", f"kube-apiserver-{master}")
        command = pod["spec"]["containers"][0]["command"]
        assert "--kubelet-certificate-authority=/etc/kubernetes/pki/ca.crt" in command
        preferred = [flag for flag in command if "kubelet-preferred-address-types" in flag]
        assert preferred == ["--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname"]


@dataclass(frozen=True, kw_only=True)
class Node:
    """What a node's own credentials are good for."""

    cluster: Cluster
    name: str
    kubeconfig: Path

    def refused(self, *arguments: str) -> str:
        """Why a request is refused; fails when it is not."""
        done = self.cluster.kubectl_as(self.kubeconfig, *arguments)
        assert done.code != 0, f"{self.name} may: kubectl {' '.join(arguments)}"
        return done.stderr


@pytest.fixture
def first_node(cluster: Cluster, tmp_path: Path) -> Node:
    """The first node, by the kubeconfig that its kubelet uses."""
    name = cluster.nodes[0]
    path = tmp_path / "kubelet.conf"
    path.touch(mode=0o600)
    path.write_text(cluster.host(name, "cat /etc/kubernetes/kubelet/kubelet.conf"))
    return Node(cluster=cluster, name=name, kubeconfig=path)


@pytest.fixture
def secrets(cluster: Cluster) -> Iterator[dict[str, str]]:
    """{node: name of a secret that a pod on it uses} of the first two nodes."""
    image = RELEASES[cluster.config.kubernetes_version].images["pause"]
    names = {node: f"for-{node}" for node in cluster.nodes[:2]}
    objects: list[object] = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    ]
    for node, name in names.items():
        meta = {"name": name, "namespace": NAMESPACE}
        objects.append(
            {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "stringData": {"a": "b"}}
        )
        spec = {
            "nodeName": node,
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "pause", "image": image}],
            "volumes": [{"name": "secret", "secret": {"secretName": name}}],
        }
        objects.append({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    cluster.wait("a service account to make pods with", lambda: _apply(cluster, objects), 30)
    yield names
    cluster.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def _apply(cluster: Cluster, objects: list[object]) -> bool:
    document = {"apiVersion": "v1", "kind": "List", "items": objects}
    cluster.kubectl("apply", "-f", "-", stdin=json.dumps(document))
    return True


def test_a_kubelet_is_its_node_to_the_api(first_node: Node) -> None:
    shown = first_node.cluster.kubectl_as(first_node.kubeconfig, "auth", "whoami", "-o", "json")
    user = json.loads(shown.stdout)["status"]["userInfo"]
    assert user["username"] == f"system:node:{first_node.name}"
    assert set(user["groups"]) == {"system:nodes", "system:authenticated"}


def test_a_node_reads_the_secrets_of_its_own_pods_only(
    first_node: Node, secrets: dict[str, str]
) -> None:
    cluster = first_node.cluster
    own, other = (secrets[node] for node in cluster.nodes[:2])
    get = ("get", "secret", "-n", NAMESPACE)
    cluster.wait(
        "the node to read its own pod's secret",
        lambda: cluster.kubectl_as(first_node.kubeconfig, *get, own).code == 0,
        30,
    )
    assert "no relationship found between node" in first_node.refused(*get, other)
    assert "Forbidden" in first_node.refused("get", "secrets", "--all-namespaces")
    assert "Forbidden" in first_node.refused("get", "secrets", "-n", "kube-system")


def test_a_node_changes_no_other_node_and_gives_itself_no_role(first_node: Node) -> None:
    master, other = first_node.cluster.masters[0], first_node.cluster.nodes[1]
    for node in (master, other):
        # It may not even read them.
        assert "Forbidden" in first_node.refused("label", "node", node, "example.com/a=b")
    role = "node-role.kubernetes.io/control-plane="
    assert "is not allowed to modify labels" in first_node.refused(
        "label", "node", first_node.name, role
    )
