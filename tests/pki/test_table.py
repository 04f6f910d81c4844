"""The PKI's table: which certificate says what, and which host gets it where."""

from __future__ import annotations

import base64
import re
from ipaddress import IPv4Network, ip_address
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from pulumi_tls import PrivateKey

from bootstrap import kubelet, render
from components.pki import ClusterPki, PkiArgs
from components.pki.table import (
    AUTHORITIES,
    CERTIFICATES,
    CLIENT,
    SERVER,
    Names,
    host_certificates,
)
from config import ClusterConfig
from interface import Connection, Host, Machines, Traits
from model import Role
from tests.bootstrap.views import view
from tests.conftest import Graph, Registered, cluster, record

if TYPE_CHECKING:
    from collections.abc import Mapping

PKI, KUBELET = "/etc/kubernetes/pki", "/etc/kubernetes/kubelet"
NODE_FILES = {
    f"{KUBELET}/kubelet.crt",
    f"{KUBELET}/kubelet.key",
    f"{KUBELET}/kubelet.conf",
    f"{KUBELET}/ca.crt",
    "/etc/kubernetes/in-cluster.kubeconfig",
}
REQUEST = "tls:index/certRequest:CertRequest"
SIGNED = "tls:index/locallySignedCert:LocallySignedCert"
SELF_SIGNED = "tls:index/selfSignedCert:SelfSignedCert"
PLACED = re.compile(
    r"^file (\S+) (\d+) <<'END-OF-FILE'\n(.*?)END-OF-FILE$", re.MULTILINE | re.DOTALL
)


def placed(graph: Graph, host: str) -> dict[str, tuple[str, str]]:
    """Path: (mode, content) of what the secret step puts on a host."""
    text = graph.step(f"{host}-identity").inputs["stdin"]
    return {path: (mode, content) for path, mode, content in PLACED.findall(text)}


def machines(config: ClusterConfig, api: str, operator: str, *, protect: bool = True) -> Machines:
    """Hosts that somebody else made, behind any endpoint."""
    return Machines(
        hosts=tuple(
            Host(
                spec=spec,
                address=f"192.0.2.{10 + index}",
                connection=Connection(host="h", user="root", private_key="k", host_key="k"),
            )
            for index, spec in enumerate(config.hosts)
        ),
        api_host=api,
        operator_api_host=operator,
        operator_api_port=6443,
        mirror_url=None,
        traits=Traits(protect=protect),
    )


def issued(
    config: ClusterConfig,
    api: str = "192.0.2.100",
    operator: str = "api.example.com",
    **traits: bool,
) -> Graph:
    """What the PKI alone registers."""
    arguments = PkiArgs(config=config, machines=machines(config, api, operator, **traits))
    return record(lambda: ClusterPki(config.name, arguments))


def test_only_the_api_s_certificates_wait_for_the_endpoint() -> None:
    """A cloud's load balancer comes minutes after its first machine, whose steps need not wait."""
    config = cluster()

    def program() -> None:
        balancer = PrivateKey("balancer", algorithm="ECDSA")
        endpoint: Any = balancer.private_key_pem.apply(lambda _: "api.example.com")
        ClusterPki(config.name, PkiArgs(config=config, machines=machines(config, endpoint, "h")))

    graph = record(program)
    (balancer,) = [item.urn for item in graph if item.name == "balancer"]
    for spec in config.hosts:
        for row in host_certificates(spec):
            if row.per_host:
                waits = balancer in graph.ancestors(request(graph, f"{spec.name}-{row.name}"))
                assert waits == (row.names is Names.API), row.name


def request(graph: Graph, name: str) -> Registered:
    return graph.named(REQUEST, name)


def test_a_node_gets_its_own_identity_and_nothing_else(small: Graph) -> None:
    for node in ("test-node-0", "test-node-1"):
        assert placed(small, node).keys() == NODE_FILES


def test_a_node_holds_no_key_but_its_own(small: Graph) -> None:
    """The canary: no CA's key, no service-account key, no other host's."""
    text = small.step("test-node-0-identity").inputs["stdin"]
    assert set(re.findall(r"PRIVATE KEY of \S+", text)) == {"PRIVATE KEY of test-node-0-kubelet"}
    decoded = [base64.b64decode(word).decode() for word in re.findall(r"-key-data: (\S+)", text)]
    assert decoded == ["PRIVATE KEY of test-node-0-kubelet\n"]


def test_the_check_for_keys_sees_those_of_a_master(small: Graph) -> None:
    text = small.step("test-master-0-identity").inputs["stdin"]
    assert "PRIVATE KEY of test-ca\n" in text
    assert "PRIVATE KEY of test-service-account\n" in text


def test_a_master_gets_no_key_of_a_ca_that_no_component_signs_with(small: Graph) -> None:
    text = small.step("test-master-0-identity").inputs["stdin"]
    assert "PRIVATE KEY of test-etcd-ca\n" not in text
    assert "PRIVATE KEY of test-front-proxy-ca\n" not in text


def test_masters_share_what_tokens_are_signed_with_and_nothing_of_a_host(large: Graph) -> None:
    first, second = (placed(large, f"test-master-{index}") for index in (0, 1))
    assert first.keys() == second.keys()
    for path in (f"{PKI}/service-account.key", f"{PKI}/ca.crt", f"{PKI}/ca.key"):
        assert first[path] == second[path]
    for path in (f"{PKI}/apiserver.key", f"{PKI}/etcd.key", f"{KUBELET}/kubelet.key"):
        assert first[path] != second[path]


def test_every_file_with_keys_is_the_owner_s_alone(graph: Graph) -> None:
    for name, step in graph.of_type("command:remote:Command").items():
        if name.endswith("-identity") and step.inputs["stdin"].startswith("#"):
            assert {mode for mode, _ in placed(graph, name.removesuffix("-identity")).values()} == {
                "0600"
            }


def test_the_admin_s_certificate_is_on_no_host(large: Graph) -> None:
    for name, step in large.of_type("command:remote:Command").items():
        assert "of test-admin" not in str(step.inputs["stdin"]), name


@pytest.mark.parametrize("role", Role)
def test_every_file_that_is_named_is_placed(small: Graph, role: Role) -> None:
    """What a manifest or a configuration names and nobody puts there is a crash loop."""
    found = view(role)
    own = {file.path: file.content for file in render.host_files(found, {})}
    here = {*own, *placed(small, found.spec.name), "/etc/kubernetes/resolv.conf"}
    texts = [text for path, text in own.items() if path.startswith("/etc/kubernetes/")]
    named = {
        path for text in texts for path in re.findall(r"/etc/kubernetes/[\w./-]*\w\.\w+", text)
    }
    named |= set(
        re.findall(r"/etc/kubernetes/[\w./-]+\.(?:conf|yaml)", kubelet.kubelet_arguments(found))
    )
    assert named
    assert named - here == set()


def test_every_file_that_is_placed_is_named(small: Graph) -> None:
    """A key that nothing reads is a key too many."""
    found = view(Role.MASTER)
    texts = "".join(file.content for file in render.host_files(found, {}))
    for path in placed(small, "test-master-0"):
        assert path in texts or path == "/etc/kubernetes/in-cluster.kubeconfig", path


@pytest.mark.parametrize(
    ("network", "api", "operator"),
    [
        ("10.96.0.0/12", "192.0.2.100", "192.0.2.100"),
        ("10.3.0.0/24", "192.0.2.100", "127.0.0.1"),
        ("172.20.0.128/25", "api.example.com", "api.example.com"),
        ("10.0.0.0/16", "192.0.2.10", "lb-1234.elb.example.com"),
        ("192.168.0.0/20", "localhost", "localhost"),
    ],
)
def test_the_api_server_is_valid_for_all_that_it_is_called(
    network: str, api: str, operator: str
) -> None:
    """B07: the first service address, loopback, its own and the endpoint's; typed, and once."""
    graph = issued(cluster(masters=3, network={"serviceCidr": network}), api, operator)
    for index in range(3):
        inputs = request(graph, f"test-master-{index}-apiserver").inputs
        names, addresses = inputs["dnsNames"], inputs["ipAddresses"]
        assert len(set(names)) == len(names)
        assert len(set(addresses)) == len(addresses)
        assert {str(IPv4Network(network)[1]), "127.0.0.1", f"192.0.2.{10 + index}"} <= set(
            addresses
        )
        assert {
            *(f"test-master-{index}", "localhost", "kubernetes", "kubernetes.default"),
            *("kubernetes.default.svc", "kubernetes.default.svc.cluster.local"),
        } <= set(names)
        assert {api, operator} <= {*names, *addresses}
        assert all(ip_address(address) for address in addresses)
        assert not [name for name in names if re.fullmatch(r"[\d.]+|.*:.*", name)]


def test_the_service_address_of_a_small_range_is_its_own() -> None:
    """B07: the first address of 172.20.0.128/25 ends in 129."""
    graph = issued(cluster(network={"serviceCidr": "172.20.0.128/25"}))
    assert "172.20.0.129" in request(graph, "test-master-0-apiserver").inputs["ipAddresses"]


def test_the_cluster_s_domain_is_in_the_api_server_s_names() -> None:
    graph = issued(cluster(network={"clusterDomain": "k8s.example.org"}))
    assert (
        "kubernetes.default.svc.k8s.example.org"
        in (request(graph, "test-master-0-apiserver").inputs["dnsNames"])
    )


def test_a_kubelet_is_who_the_node_authorizer_reads(graph: Graph) -> None:
    """F04: the same name in the certificate as in the kubelet's flag."""
    found = {n: r for n, r in graph.of_type(REQUEST).items() if n.endswith("-kubelet")}
    assert len(found) >= 3
    for name, item in found.items():
        host = name.removesuffix("-kubelet")
        assert item.inputs["subject"] == {
            "commonName": f"system:node:{host}",
            "organization": "system:nodes",
        }


def test_a_kubelet_serves_under_its_name_and_address(update: Graph) -> None:
    inputs = request(update, "test-node-1-kubelet").inputs
    assert (inputs["dnsNames"], inputs["ipAddresses"]) == (["test-node-1"], ["172.30.0.101"])


def test_an_etcd_member_is_valid_for_loopback_and_its_address(update: Graph) -> None:
    inputs = request(update, "test-master-0-etcd").inputs
    assert {"127.0.0.1", "172.30.0.10"} == set(inputs["ipAddresses"])


def test_every_leaf_is_signed_by_the_authority_of_its_row(small: Graph) -> None:
    authorities = {row.name: row.authority for row in CERTIFICATES}
    for name, item in small.of_type(SIGNED).items():
        (row,) = (r for r in authorities if name in {f"test-{r}", f"{host_of(name)}-{r}"})
        assert item.inputs["caCertPem"] == f"CERTIFICATE of test-{authorities[row]}\n"
        assert item.inputs["caPrivateKeyPem"] == f"PRIVATE KEY of test-{authorities[row]}\n"
        assert item.inputs["certRequestPem"] == f"REQUEST of {name}\n"


def host_of(name: str) -> str:
    found = re.match(r"test-(?:master|node)-\d+", name)
    return found[0] if found else ""


def test_clients_cannot_serve_and_servers_cannot_log_in() -> None:
    uses = {row.name: set(row.uses) for row in CERTIFICATES}
    assert uses["apiserver"] == set(SERVER)
    both = {name for name, found in uses.items() if {"server_auth", "client_auth"} <= found}
    assert both == {"kubelet", "etcd"}
    assert all(
        found == set(CLIENT) for name, found in uses.items() if name not in {*both, "apiserver"}
    )


def test_authorities_may_sign_and_last_ten_years(small: Graph) -> None:
    found = small.of_type(SELF_SIGNED)
    assert found.keys() == {f"test-{row.name}" for row in AUTHORITIES}
    for item in found.values():
        assert item.inputs["isCaCertificate"] is True
        assert "cert_signing" in item.inputs["allowedUses"]
        assert item.inputs["validityPeriodHours"] == 10 * 365 * 24


def test_only_two_users_are_masters_of_everything() -> None:
    found = {row.name for row in CERTIFICATES if row.organization == "system:masters"}
    assert found == {"admin", "addon-manager"}


@pytest.mark.parametrize("protect", [False, True])
def test_what_everything_trusts_is_protected_where_the_platform_says_so(*, protect: bool) -> None:
    """B02: exactly that, so that whatever would make it anew fails."""
    graph = issued(cluster(), protect=protect)
    expected = {f"test-{row.name}" for row in AUTHORITIES} | {"test-service-account"}
    assert {item.name for item in graph if item.protect} == (expected if protect else set())


def kubeconfigs(graph: Graph, host: str) -> dict[str, Mapping[str, Any]]:
    files = placed(graph, host).items()
    return {
        path: yaml.safe_load(text)
        for path, (_, text) in files
        if path.endswith((".conf", ".kubeconfig"))
    }


@pytest.mark.parametrize("host", ["test-master-0", "test-node-0"])
def test_a_kubeconfig_has_one_context_and_is_set_to_it(small: Graph, host: str) -> None:
    """C02: whoever uses it reaches this cluster."""
    found = kubeconfigs(small, host)
    assert found
    for path, document in found.items():
        (context,), (one,), (user,) = document["contexts"], document["clusters"], document["users"]
        assert document["current-context"] == context["name"], path
        assert context["context"] == {"cluster": one["name"], "user": user["name"]}
        ca = base64.b64decode(one["cluster"]["certificate-authority-data"]).decode()
        assert ca == "CERTIFICATE of test-ca\n"


def test_a_kubeconfig_s_key_belongs_to_its_certificate(small: Graph) -> None:
    for host in ("test-master-0", "test-node-0"):
        for document in kubeconfigs(small, host).values():
            user = document["users"][0]["user"]
            if "tokenFile" in user:
                continue
            key, certificate = (
                base64.b64decode(user[field]).decode().split(" of ")[1]
                for field in ("client-key-data", "client-certificate-data")
            )
            assert key == certificate


def test_a_master_talks_to_its_own_api_server_and_a_node_to_the_endpoint(small: Graph) -> None:
    for host, server in (
        ("test-master-0", "https://127.0.0.1:6443"),
        ("test-node-0", "https://172.30.0.2:6443"),
    ):
        for document in kubeconfigs(small, host).values():
            assert document["clusters"][0]["cluster"]["server"] == server


def test_what_pods_read_holds_no_credentials(small: Graph) -> None:
    _, text = placed(small, "test-node-0")["/etc/kubernetes/in-cluster.kubeconfig"]
    assert yaml.safe_load(text)["users"][0]["user"] == {
        "tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"
    }
