"""PrivateKey: the golden cases T1 to T4."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives import serialization

from airgap.plugins.tls.keys import digest_id
from airgap.plugins.values import UNKNOWN, Secret

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.client import Client, Inputs


SECRETS = {"privateKeyPem", "privateKeyOpenssh", "privateKeyPemPkcs8"}


@pytest.fixture
def keys(tls: Client) -> Client:
    tls.token = "tls:index/privateKey:PrivateKey"
    return tls


def header(value: Secret) -> str:
    return str(value.value).splitlines()[0].strip("-").removeprefix("BEGIN ")


def test_t1_default_curve_is_unknown_to_ssh(keys: Client) -> None:
    _, outputs = keys.create({"algorithm": "ECDSA"})
    assert outputs["ecdsaCurve"] == "P224"
    assert outputs["rsaBits"] == 2048
    assert outputs["privateKeyOpenssh"] == Secret("")
    assert outputs["publicKeyOpenssh"] == ""
    assert outputs["publicKeyFingerprintMd5"] == ""
    assert outputs["publicKeyFingerprintSha256"] == ""
    assert header(outputs["privateKeyPem"]) == "EC PRIVATE KEY"


@pytest.mark.parametrize(
    ("inputs", "pem", "ssh"),
    [
        ({"algorithm": "RSA"}, "RSA PRIVATE KEY", "ssh-rsa"),
        ({"algorithm": "RSA", "rsaBits": 1024.0}, "RSA PRIVATE KEY", "ssh-rsa"),
        ({"algorithm": "ED25519"}, "PRIVATE KEY", "ssh-ed25519"),
        *(
            (
                {"algorithm": "ECDSA", "ecdsaCurve": f"P{bits}"},
                "EC PRIVATE KEY",
                f"ecdsa-sha2-nistp{bits}",
            )
            for bits in (256, 384, 521)
        ),
    ],
)
def test_t2_forms(keys: Client, inputs: Inputs, pem: str, ssh: str, tmp_path: Path) -> None:
    """B03: the public half is PKIX; the private one is what Kubernetes reads, PKCS #1 or SEC 1."""
    identity, outputs = keys.create(inputs)
    assert {name for name, value in outputs.items() if isinstance(value, Secret)} == SECRETS
    assert header(outputs["privateKeyPem"]) == pem
    assert header(outputs["privateKeyPemPkcs8"]) == "PRIVATE KEY"
    assert header(outputs["privateKeyOpenssh"]) == "OPENSSH PRIVATE KEY"
    kind, blob = outputs["publicKeyOpenssh"].removesuffix("\n").split(" ")
    assert kind == ssh
    sha256 = base64.b64encode(hashlib.sha256(base64.b64decode(blob)).digest()).decode().rstrip("=")
    assert outputs["publicKeyFingerprintSha256"] == f"SHA256:{sha256}"
    assert re.fullmatch(r"([0-9a-f]{2}:){15}[0-9a-f]{2}", outputs["publicKeyFingerprintMd5"])

    public = serialization.load_pem_public_key(outputs["publicKeyPem"].encode())
    for name in ("privateKeyPem", "privateKeyPemPkcs8"):
        text = outputs[name].value
        assert text.endswith("\n")
        assert max(map(len, text.splitlines()[1:-1])) == 64
        key = serialization.load_pem_private_key(text.encode(), None)
        assert key.public_key() == public
    key = serialization.load_ssh_private_key(outputs["privateKeyOpenssh"].value.encode(), None)
    assert key.public_key() == public
    der = public.public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    assert identity == outputs["id"] == hashlib.sha1(der.strip()).hexdigest()

    (tmp_path / "key").write_text(outputs["privateKeyOpenssh"].value)
    (tmp_path / "key").chmod(0o600)
    derived = subprocess.run(
        ["ssh-keygen", "-y", "-f", str(tmp_path / "key")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert derived.split()[:2] == [kind, blob]


def test_id_is_over_trimmed_bytes() -> None:
    assert digest_id(b"0x\x0a") == hashlib.sha1(b"0x").hexdigest()
    assert digest_id(b"0x\x1c") == hashlib.sha1(b"0x\x1c").hexdigest()


def test_t2_short_rsa_keys_are_refused(keys: Client) -> None:
    _, text = keys.failure(keys.create, {"algorithm": "RSA", "rsaBits": 512.0})
    assert "512-bit keys are insecure" in text
    (message,) = keys.messages
    assert (message.severity, message.ephemeral) == (3, False)
    assert message.message.startswith("[ERROR] ")


def test_t3_algorithms_are_case_sensitive(keys: Client) -> None:
    inputs, failures = keys.check({"algorithm": "rsa"})
    assert inputs == {"algorithm": "rsa"}
    ((name, reason),) = failures
    assert name == ""
    assert 'Attribute algorithm value must be one of: ["RSA" "ECDSA" "ED25519"]' in reason
    assert 'got: "rsa"' in reason


def test_missing_algorithm(keys: Client) -> None:
    assert keys.check({})[1] == [("", "Missing required property 'algorithm'")]


def test_check_adds_no_defaults(keys: Client) -> None:
    inputs = {"algorithm": "RSA", "surplus": 1.0}
    assert keys.check(inputs) == (inputs, [])


@pytest.mark.parametrize(
    ("bits", "reason"), [("many", None), (2048.5, "Configuration Read Error"), ("2048", "")]
)
def test_numbers(keys: Client, bits: object, reason: str | None) -> None:
    inputs = {"algorithm": "RSA", "rsaBits": bits}
    if reason is None:
        assert "cannot encode resource inputs" in keys.failure(keys.check, inputs)[1]
    elif reason:
        assert reason in keys.check(inputs)[1][0][1]
    else:
        assert keys.check(inputs)[1] == []
        assert keys.create(inputs)[1]["rsaBits"] == 2048


def test_t4_explicit_default_is_no_change(keys: Client) -> None:
    state = {"algorithm": "ECDSA", "ecdsaCurve": "P256", "rsaBits": 2048.0, "__meta": "{}"}
    answer = keys.diff({}, {"algorithm": "ECDSA"}, state)
    assert answer.replaces == ["ecdsaCurve"]
    assert "privateKeyPem" in answer.diffs
    same = {"algorithm": "ECDSA", "ecdsaCurve": "P256", "rsaBits": 2048.0}
    answer = keys.diff({}, same, state)
    assert (answer.changes, list(answer.replaces)) == (answer.DIFF_NONE, [])
    assert not answer.hasDetailedDiff


def test_preview(keys: Client) -> None:
    identity, outputs = keys.create({"algorithm": "ECDSA"}, preview=True)
    assert identity == ""
    assert (outputs["ecdsaCurve"], outputs["rsaBits"]) == ("P224", 2048)
    assert outputs["publicKeyPem"] is UNKNOWN
    assert outputs["privateKeyPem"] == Secret(UNKNOWN)
    assert outputs["id"] is UNKNOWN


def test_read(keys: Client) -> None:
    _, state = keys.create({"algorithm": "ED25519"})
    assert keys.read(state) == state
    assert "import" in keys.failure(keys.read, {})[1]
