"""What certificates, plans and states say; each difference that matters must be seen."""

from __future__ import annotations

import datetime as dt
import json
from ipaddress import ip_address
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from bench.plugins import certificates, facts
from bench.plugins.differences import differences

NAMES = {"10.231.0.3": "host"}
START = dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
SECRET = {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270"}


def urn(name: str, kind: str) -> str:
    return f"urn:pulumi:s::p::a:b:C${kind}::{name}"


def usage(*named: str) -> x509.KeyUsage:
    every = (
        *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
        *("key_agreement", "key_cert_sign", "crl_sign", "encipher_only", "decipher_only"),
    )
    return x509.KeyUsage(**{name: name in named for name in every})


def pem(
    *,
    common_name: str = "kubelet",
    key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey | None = None,
    hours: int = 24,
    address: str = "10.231.0.3",
    ca: bool = False,
    critical: bool = True,
    start: dt.datetime = START,
) -> str:
    key = key or ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(hours=hours))
        .add_extension(usage("digital_signature"), critical=critical)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("kubelet"), x509.IPAddress(ip_address(address))]
            ),
            critical=False,
        )
        .sign(key, hashes.SHA256())
    )
    return made.public_bytes(serialization.Encoding.PEM).decode()


def test_a_certificate_in_words() -> None:
    assert certificates.certificate(pem(), NAMES) == {
        "version": "v3",
        "subject": ["commonName='kubelet', UTF8String"],
        "issuer": ["commonName='kubelet', UTF8String"],
        "key": "ECDSA secp256r1",
        "signature": "ecdsa-with-SHA256",
        "validity seconds": 86400,
        "extensions": [
            "keyUsage, critical: digital_signature",
            "extendedKeyUsage: clientAuth",
            "basicConstraints, critical: CA False, path length None",
            "subjectAltName: DNSName kubelet, IPAddress <host>",
        ],
    }


def test_two_runs_of_one_kind_agree() -> None:
    other = pem(start=START + dt.timedelta(minutes=9), address="10.231.0.7")
    found = certificates.certificate(other, {"10.231.0.7": "host"})
    assert differences(certificates.certificate(pem(), NAMES), found) == []


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"common_name": "other"}, "subject"),
        ({"key": rsa.generate_private_key(65537, 2048)}, "key"),
        ({"key": ec.generate_private_key(ec.SECP384R1())}, "key"),
        ({"hours": 25}, "validity seconds"),
        ({"address": "10.231.0.9"}, "extensions"),
        ({"ca": True}, "extensions"),
        ({"critical": False}, "extensions"),
    ],
    ids=str,
)
def test_each_difference_is_seen(changes: dict[str, Any], where: str) -> None:
    first = certificates.certificate(pem(), NAMES)
    found = differences(first, certificates.certificate(pem(**changes), NAMES))
    assert any(line.startswith(where) for line in found), found


def test_a_request_in_words() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    made = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kubelet")]))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("kubelet")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    found = certificates.request(made.public_bytes(serialization.Encoding.PEM).decode(), {})
    assert found["extensions"] == ["subjectAltName: DNSName kubelet"]
    assert found["key"] == "ECDSA secp256r1"


def plan(**step: Any) -> dict[str, Any]:
    return {"steps": [{"op": "create", "urn": urn("a", "command:local:Command"), **step}]}


def test_a_plan_is_compared_by_operation_inputs_and_reasons() -> None:
    first = plan(
        op="replace",
        newState={"inputs": {"create": "ping 10.231.0.3", "__private": 1}},
        replaceReasons=["triggers"],
        detailedDiff={"triggers[0]": {"kind": "update-replace"}},
    )
    assert facts.plan(first, NAMES) == {
        "command:local:Command a": {
            "op": "replace",
            "inputs": {"create": "ping <host>"},
            "replaced because of": ["triggers"],
            "changed": {"triggers[0]": {"kind": "update-replace"}},
        }
    }
    second = plan(op="update", newState={"inputs": {"create": "ping 10.231.0.3"}})
    found = differences(facts.plan(first, NAMES), facts.plan(second, NAMES))
    assert "command:local:Command a > op: official 'replace', stand-in 'update'" in found


def test_a_plan_without_changes_is_quiet() -> None:
    assert facts.is_quiet(plan(op="same"))
    assert not facts.is_quiet(plan(op="update"))


def resource(kind: str, **more: Any) -> dict[str, Any]:
    return {"urn": urn("a", kind), "type": kind, "custom": True, **more}


def state(*resources: dict[str, Any]) -> dict[str, Any]:
    return {"deployment": {"resources": list(resources)}}


def test_what_is_secret_is_compared_as_such() -> None:
    hidden = {**SECRET, "ciphertext": "another one each time"}
    kind = "tls:index/privateKey:PrivateKey"
    shown = facts.state(state(resource(kind, outputs={"privateKeyPem": hidden, "id": "1"})), {})
    leaked = facts.state(state(resource(kind, outputs={"privateKeyPem": "KEY", "id": "2"})), {})
    assert shown[f"{kind} a"]["outputs"] == {"privateKeyPem": "<secret>"}
    assert differences(shown, leaked) == [
        f"{kind} a > outputs > privateKeyPem: official '<secret>', stand-in 'KEY'"
    ]


def test_of_other_plugins_outputs_only_the_names_count() -> None:
    found = facts.state(state(resource("kubernetes:core/v1:Service", outputs={"uid": "1"})), {})
    assert found["kubernetes:core/v1:Service a"]["outputs"] == ["uid"]


def test_every_certificate_of_a_stack_is_read_and_of_a_key_its_kind_only() -> None:
    revealed = {**SECRET, "plaintext": json.dumps("-----BEGIN EC PRIVATE KEY-----\nabc\n")}
    shown = state(
        resource("tls:index/selfSignedCert:SelfSignedCert", outputs={"certPem": pem()}),
        resource(
            "tls:index/privateKey:PrivateKey",
            outputs={"privateKeyPem": revealed, "publicKeyFingerprintMd5": "PUBLIC"},
        ),
        resource("pulumi:providers:tls"),
    )
    (certificate,) = facts.issued(shown, NAMES).items()
    assert certificate[0] == "tls:index/selfSignedCert:SelfSignedCert a certPem"
    assert certificate[1]["validity seconds"] == 86400
    assert facts.keys(shown) == {
        "tls:index/privateKey:PrivateKey a privateKeyPem": ["-----BEGIN EC PRIVATE KEY-----"]
    }


def test_the_kubeconfig_is_no_result_to_print() -> None:
    outputs = {"kubeconfig": "a key", "apiEndpoint": "https://10.231.0.3:6443"}
    assert facts.results(outputs, NAMES) == {
        "names": ["apiEndpoint", "kubeconfig"],
        "apiEndpoint": "https://<host>:6443",
    }
