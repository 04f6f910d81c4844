"""The real engine: which certificates a run makes anew, what it says of it, and who gets them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography import x509

from components.pki.table import AUTHORITIES, CERTIFICATES, host_certificates
from tests.engine.aging import age, rotation_flags
from tests.engine.cli import ROOT, Plan, Pulumi
from validation import parse

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).parent / "pki"
VALID, RENEW = 48, 12
CLUSTER: dict[str, Any] = {
    "name": "c",
    "mirror": None,
    "pools": [{"name": "node", "count": 2}],
    "certificates": {"validHours": VALID, "renewHours": RENEW},
}
HOSTS = parse(CLUSTER).hosts
MASTER, NODE = "c-master-0", "c-node-0"
LEAVES = {
    *(f"c-{row.name}" for row in CERTIFICATES if not row.per_host),
    *(f"{s.name}-{row.name}" for s in HOSTS for row in host_certificates(s) if row.per_host),
}
STEPS = {("update", f"{spec.name}-identity") for spec in HOSTS}
REPLACED = ("create-replacement", "replace", "delete-replaced")
PKI = "/etc/kubernetes/pki"


class Certificates:
    """The stack of the small program, and the files of its hosts."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder = folder / "hosts"
        self.folder.mkdir()
        self.stack = Pulumi(folder, "pki", variables, PROGRAM)
        self.stack.environment["PYTHONPATH"] = str(ROOT)
        self.configure(CLUSTER)

    def configure(self, cluster: dict[str, Any]) -> None:
        """Say what the cluster is to be."""
        self.stack.configure({"pki:folder": str(self.folder), "pki:cluster": cluster})

    def files(self, host: str) -> dict[str, str]:
        """{path: content} of a host."""
        return dict(json.loads((self.folder / host).read_text()))

    def serial(self, host: str, path: str) -> int:
        """The number of a certificate that a host has."""
        return x509.load_pem_x509_certificate(self.files(host)[path].encode()).serial_number

    def operators_certificate(self) -> x509.Certificate:
        """The one in the kubeconfig that the stack puts out."""
        user = yaml.safe_load(self.stack.outputs()["kubeconfig"])["users"][0]["user"]
        return x509.load_pem_x509_certificate(base64.b64decode(user["client-certificate-data"]))

    def authorities(self) -> dict[str, str]:
        """What must never change: the authorities' files, and the key that signs tokens."""
        kept = (*(row.path for row in AUTHORITIES), f"{PKI}/ca.key", f"{PKI}/service-account.key")
        files = self.files(MASTER)
        return {path: files[path] for path in kept}

    def age(self, hours: float, names: set[str] | None = None) -> str:
        """Let certificates have so many hours left; until when."""
        return age(self.stack, hours, self.folder.parent, names)

    def up(self) -> Plan:
        """`pulumi up`: what was done."""
        return self.stack.up_steps()

    def assert_settled(self) -> None:
        """A02: the next `up` changes nothing."""
        assert self.up().changed() == set()


@pytest.fixture(scope="module")
def made(ready: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Certificates]:
    certificates = Certificates(tmp_path_factory.mktemp("pki"), ready)
    certificates.stack.up()
    yield certificates
    certificates.stack.state("state", "unprotect", "--all", "--yes")
    certificates.stack.destroy()


def replacements(names: set[str]) -> set[tuple[str, str]]:
    """What a plan that makes these anew has for them."""
    return {(op, name) for op in REPLACED for name in names}


def test_the_output_says_until_when_and_a_second_up_changes_nothing(made: Certificates) -> None:
    before = made.stack.outputs()["certificates"]
    leaf, authority = (
        datetime.fromisoformat(before[kind]["expires"]) - datetime.now(UTC)
        for kind in ("leaves", "authorities")
    )
    assert timedelta(hours=VALID - 1) < leaf <= timedelta(hours=VALID)
    assert timedelta(days=3649) < authority <= timedelta(days=3650)
    assert before["leaves"]["first"] in LEAVES
    made.assert_settled()
    assert made.stack.outputs()["certificates"] == before


def test_a_plain_up_renews_what_is_due_and_says_so_before(made: Certificates) -> None:
    """B01: hosts and kubeconfig get it, authorities stay, and the next `up` changes nothing."""
    made.age(RENEW + 1)
    assert made.stack.preview().changed() == set()
    until = made.age(RENEW - 1)
    kept, old = made.authorities(), made.operators_certificate()
    serials = {
        place: made.serial(*place)
        for place in (
            (MASTER, f"{PKI}/apiserver.crt"),
            (MASTER, f"{PKI}/etcd.crt"),
            (NODE, "/etc/kubernetes/kubelet/kubelet.crt"),
        )
    }
    shown = made.stack.diff()
    assert f"{len(LEAVES)} certificate(s) will be made anew" in shown
    ends = re.findall(r'~ validityEndTime *: "(.*)" => \[unknown\]', shown)
    assert ends == [until] * len(LEAVES), "the preview does not show when they end"

    assert made.up().changed() == {*replacements(LEAVES), *STEPS}
    for place, serial in serials.items():
        assert made.serial(*place) != serial, place
    renewed = made.operators_certificate()
    assert renewed.serial_number != old.serial_number
    assert renewed.public_key() == old.public_key()
    assert made.authorities() == kept
    assert made.stack.outputs()["certificates"]["leaves"]["expires"] > until[:19]
    made.assert_settled()


def test_one_that_is_due_touches_its_host_only(made: Certificates) -> None:
    name = f"{NODE}-kubelet"
    made.age(RENEW - 1, {name})
    assert f": {name}\n" in made.stack.diff()
    assert made.up().changed() == {*replacements({name}), ("update", f"{NODE}-identity")}
    made.assert_settled()


def test_another_time_of_renewal_changes_no_certificate(made: Certificates) -> None:
    serial = made.operators_certificate().serial_number
    made.configure({**CLUSTER, "certificates": {"validHours": VALID, "renewHours": 6}})
    assert made.up().changed() == {("update", name) for name in LEAVES}
    assert made.operators_certificate().serial_number == serial
    made.configure(CLUSTER)
    assert made.up().changed() == {("update", name) for name in LEAVES}
    assert made.operators_certificate().serial_number == serial


def test_all_can_be_made_anew_with_their_keys_at_any_time(made: Certificates) -> None:
    """What `make rotate-certs` does."""
    kept, old = made.authorities(), made.operators_certificate()
    old_key = made.files(NODE)["/etc/kubernetes/kubelet/kubelet.key"]
    flags = rotation_flags(made.stack)
    assert flags.count("--replace") == len(LEAVES)
    made.stack.call("up", "--yes", "--skip-preview", *flags)
    assert made.operators_certificate().public_key() != old.public_key()
    assert made.files(NODE)["/etc/kubernetes/kubelet/kubelet.key"] != old_key
    assert made.authorities() == kept
    made.assert_settled()
