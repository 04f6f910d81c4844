"""Certificates of a running cluster are renewed, and all made anew, while somebody uses it.

Three masters and a node; ten minutes or so, and so not part of the usual tests: `make test-long`.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cryptography import x509

from interface import API_PORT, KUBELET_PORT
from tests.e2e.battery import CHECKS
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import clusters
from tests.e2e.test_pods import Pair
from tests.engine.aging import age, rotation_flags
from tests.engine.cli import Config

pytestmark = [pytest.mark.e2e, pytest.mark.long]

NAME = "renewal"
VALID, RENEW = 48, 12
CONFIG: Config = {
    "name": NAME,
    "masters": {"count": 3},
    "pools": [{"name": "node", "count": 1}],
    "network": {"hostCidr": "172.31.83.0/24"},
    "certificates": {"validHours": VALID, "renewHours": RENEW},
}
OUTAGE_SECONDS = 15
PKI = "/etc/kubernetes/pki"
KUBELET = "/etc/kubernetes/kubelet/kubelet.crt"
# On every master, and what there are of on all hosts.
MASTER_FILES = (f"{PKI}/apiserver.crt", f"{PKI}/etcd.crt", f"{PKI}/front-proxy-client.crt", KUBELET)
KEPT = (f"{PKI}/ca.crt", f"{PKI}/ca.key", f"{PKI}/etcd-ca.crt", f"{PKI}/service-account.key")


@pytest.fixture(scope="module")
def made(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from clusters(CONFIG, variables, tmp_path_factory)


@pytest.fixture
def cluster(made: Cluster) -> Cluster:
    """Up, with two pods that use the network."""
    made.ensure_up()
    Pair(made).make()
    return made


def placed(cluster: Cluster) -> dict[tuple[str, str], int]:
    """The number of each certificate that is a file, by host and path."""
    found = {}
    for name in cluster.hosts:
        for path in MASTER_FILES if name in cluster.masters else (KUBELET,):
            pem = cluster.host(name, f"cat {path}").encode()
            found[name, path] = x509.load_pem_x509_certificate(pem).serial_number
    return found


def served(cluster: Cluster, host: str, port: int) -> int:
    """The number of the certificate that a host shows to whoever asks."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection((cluster.address(host), port), timeout=10) as plain,
        context.wrap_socket(plain) as connection,
    ):
        certificate = connection.getpeercert(binary_form=True)
    assert certificate
    return x509.load_der_x509_certificate(certificate).serial_number


def kept(cluster: Cluster) -> dict[str, str]:
    """What no renewal may change."""
    return {path: cluster.host(cluster.masters[0], f"sha256sum {path}") for path in KEPT}


@contextmanager
def somebody(cluster: Cluster, folder: Path) -> Iterator[list[float]]:
    """A person who reads through the endpoint, with the kubeconfig of before: seconds of errors."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(cluster.kubeconfig.read_text())
    outages: list[float] = []
    done = threading.Event()

    def read() -> None:
        good = time.monotonic()
        while not done.is_set():
            arguments = ("get", "pods", "-A", "-o", "name", "--request-timeout=5s")
            worked = cluster.kubectl_as(kubeconfig, *arguments).code == 0
            now = time.monotonic()
            if worked:
                outages.append(now - good)
                good = now
            done.wait(0.3)
        outages.append(time.monotonic() - good)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield outages
    finally:
        done.set()
        reader.join()
    assert cluster.kubectl_as(kubeconfig, "get", "--raw", "/readyz").code == 0, "no longer let in"


def pods_of_users(cluster: Cluster) -> dict[str, str]:
    """Running containers but those of masters' static pods."""
    return {
        name: container
        for name, container in cluster.pods_running().items()
        if not any(name.split("/")[1].endswith(master) for master in cluster.masters)
    }


def assert_renewed(cluster: Cluster, before: dict[tuple[str, str], int]) -> None:
    """Every certificate is another one and in use; all works, and another `up` changes nothing."""
    after = placed(cluster)
    assert after.keys() == before.keys()
    assert [place for place in after if after[place] == before[place]] == []
    for name in cluster.hosts:
        assert served(cluster, name, KUBELET_PORT) == after[name, KUBELET]
    for name in cluster.masters:
        assert served(cluster, name, API_PORT) == after[name, f"{PKI}/apiserver.crt"]
    for name, check in CHECKS.items():
        if name != "top_of_every_host":
            check(cluster)
    assert cluster.pulumi.preview().changed() == set()


def test_a_plain_up_renews_what_is_due_while_the_cluster_is_used(
    cluster: Cluster, tmp_path: Path
) -> None:
    """B01: what reads them restarts, host by host; add-ons and pods stay."""
    before, same, pods = placed(cluster), kept(cluster), pods_of_users(cluster)
    until = age(cluster.pulumi, RENEW - 1, tmp_path)
    assert "will be made anew" in cluster.pulumi.diff()
    with somebody(cluster, tmp_path) as outages:
        plan = cluster.up_steps()
    touched = {step.type for step in plan if step.op != "same"}
    assert not [kind for kind in touched if kind.startswith("kubernetes:")]
    assert_renewed(cluster, before)
    assert kept(cluster) == same
    assert pods_of_users(cluster) == pods, "a pod was restarted"
    assert max(outages) < OUTAGE_SECONDS
    assert cluster.pulumi.outputs()["certificates"]["leaves"]["expires"] > until[:19]


def test_all_are_made_anew_with_their_keys_while_the_cluster_is_used(
    cluster: Cluster, tmp_path: Path
) -> None:
    """What `make rotate-certs` does."""
    before, same, pods = placed(cluster), kept(cluster), pods_of_users(cluster)
    keys = {name: cluster.host(name, f"sha256sum {KUBELET[:-4]}.key") for name in cluster.hosts}
    flags = rotation_flags(cluster.pulumi)
    with somebody(cluster, tmp_path) as outages:
        cluster.pulumi.call("up", "--yes", "--skip-preview", *flags)
    cluster.kubeconfig.write_text(cluster.pulumi.outputs()["kubeconfig"])
    assert_renewed(cluster, before)
    for name, key in keys.items():
        assert cluster.host(name, f"sha256sum {KUBELET[:-4]}.key") != key, name
    assert kept(cluster) == same
    assert pods_of_users(cluster) == pods, "a pod was restarted"
    assert max(outages) < OUTAGE_SECONDS
