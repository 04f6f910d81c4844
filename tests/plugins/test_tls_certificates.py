"""Certificates and requests: the golden cases T5 to T20, T28 to T30."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import subprocess
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, ExtensionOID, NameOID

from airgap.plugins.values import UNKNOWN, Secret, plain

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.plugins.client import Client, Inputs

    Make: TypeAlias = Callable[..., tuple[str, Inputs]]
    MakeKey: TypeAlias = Callable[..., Secret]


Parsed: TypeAlias = x509.Certificate | x509.CertificateSigningRequest
Kind = TypeVar("Kind", bound=x509.ExtensionType)

SELF = "tls:index/selfSignedCert:SelfSignedCert"
LOCAL = "tls:index/locallySignedCert:LocallySignedCert"
REQUEST = "tls:index/certRequest:CertRequest"
FULL_SUBJECT = {
    "commonName": "cn",
    "organization": "o",
    "organizationalUnit": "ou",
    "locality": "l",
    "province": "st",
    "country": "Germany",
    "postalCode": "12345",
    "serialNumber": "7",
    "emailAddress": "a@b.c",
    "streetAddresses": ["z 1", "a 2"],
    "surplus": "ignored",
}
NAMES = {
    "dnsNames": ["b.example", "*.a.example"],
    "ipAddresses": ["10.0.0.1", "::ffff:10.0.0.2", "fd00::1"],
    "uris": ["spiffe://a/b", "foo"],
}


@pytest.fixture
def key(tls: Client) -> MakeKey:
    def make(algorithm: str = "ECDSA", curve: str = "P256") -> Secret:
        tls.token = "tls:index/privateKey:PrivateKey"
        inputs = {"algorithm": algorithm, "ecdsaCurve": curve}
        secret = tls.create(inputs)[1]["privateKeyPem"]
        assert isinstance(secret, Secret)
        return secret

    return make


@pytest.fixture
def make(tls: Client, key: MakeKey) -> Make:
    """Create a resource, with defaults for what is required."""

    def create(token: str, **inputs: object) -> tuple[str, Inputs]:
        defaults: Inputs = {"validityPeriodHours": 24.0, "allowedUses": ["digital_signature"]}
        if token == REQUEST:
            defaults = {}
        if token != LOCAL and "privateKeyPem" not in inputs:
            inputs["privateKeyPem"] = key()
        tls.token = token
        return tls.create({**defaults, **inputs})

    return create


def block(header: str) -> str:
    return f"-----BEGIN {header}-----\nAA==\n-----END {header}-----\n"


def certificate(outputs: Inputs) -> x509.Certificate:
    return x509.load_pem_x509_certificate(outputs["certPem"].encode())


def request(outputs: Inputs) -> x509.CertificateSigningRequest:
    return x509.load_pem_x509_csr(outputs["certRequestPem"].encode())


def oids(parsed: Parsed) -> list[x509.ObjectIdentifier]:
    return [extension.oid for extension in parsed.extensions]


def extension(parsed: Parsed, kind: type[Kind]) -> x509.Extension[Kind]:
    return parsed.extensions.get_extension_for_class(kind)


def failure(tls: Client, make: Make, token: str, **inputs: object) -> str:
    return tls.failure(make, token, **inputs)[1]


def test_t5_plain(make: Make, key: MakeKey) -> None:
    uses = ["digital_signature", "server_auth"]
    private = key("RSA")
    identity, outputs = make(SELF, privateKeyPem=private, allowedUses=uses)
    parsed = certificate(outputs)
    assert parsed.version is x509.Version.v3
    assert parsed.subject == parsed.issuer == x509.Name([])
    assert oids(parsed) == [
        ExtensionOID.KEY_USAGE,
        ExtensionOID.EXTENDED_KEY_USAGE,
        ExtensionOID.BASIC_CONSTRAINTS,
    ]
    usage = extension(parsed, x509.KeyUsage)
    assert usage.critical
    assert usage.value.public_bytes() == bytes.fromhex("03020780")
    extended = extension(parsed, x509.ExtendedKeyUsage)
    assert not extended.critical
    assert list(extended.value) == [ExtendedKeyUsageOID.SERVER_AUTH]
    constraints = extension(parsed, x509.BasicConstraints)
    assert constraints.critical
    assert constraints.value == x509.BasicConstraints(ca=False, path_length=None)
    assert parsed.not_valid_after_utc - parsed.not_valid_before_utc == timedelta(hours=24)
    assert abs(parsed.not_valid_before_utc - datetime.now(UTC)) < timedelta(seconds=5)
    assert identity == outputs["id"] == str(parsed.serial_number)
    assert outputs["keyAlgorithm"] == "RSA"
    assert outputs["privateKeyPem"] == private
    assert outputs["readyForRenewal"] is False
    assert outputs["earlyRenewalHours"] == 0
    assert outputs["isCaCertificate"] is outputs["setSubjectKeyId"] is False
    assert {"subject", "dnsNames", "maxPathLength"}.isdisjoint(outputs)
    assert isinstance(parsed.signature_hash_algorithm, hashes.SHA256)


def test_t6_names_are_critical_without_a_subject(make: Make) -> None:
    names = extension(certificate(make(SELF, dnsNames=["x"])[1]), x509.SubjectAlternativeName)
    assert names.critical
    with_subject = make(SELF, dnsNames=["x"], subject={"emailAddress": "a@b"})[1]
    assert not extension(certificate(with_subject), x509.SubjectAlternativeName).critical


@pytest.mark.filterwarnings("ignore:Attribute's length")
def test_t7_subject_and_names(make: Make) -> None:
    _, outputs = make(SELF, subject=FULL_SUBJECT, **NAMES)
    parsed = certificate(outputs)
    assert [sorted((part.oid, part.value) for part in rdn) for rdn in parsed.subject.rdns] == [
        [(NameOID.COUNTRY_NAME, "Germany")],
        [(NameOID.STATE_OR_PROVINCE_NAME, "st")],
        [(NameOID.LOCALITY_NAME, "l")],
        [(NameOID.STREET_ADDRESS, "a 2"), (NameOID.STREET_ADDRESS, "z 1")],
        [(NameOID.POSTAL_CODE, "12345")],
        [(NameOID.ORGANIZATION_NAME, "o")],
        [(NameOID.ORGANIZATIONAL_UNIT_NAME, "ou")],
        [(NameOID.COMMON_NAME, "cn")],
        [(NameOID.SERIAL_NUMBER, "7")],
        [(NameOID.EMAIL_ADDRESS, "a@b.c")],
    ]
    assert list(extension(parsed, x509.SubjectAlternativeName).value) == [
        x509.DNSName("b.example"),
        x509.DNSName("*.a.example"),
        x509.IPAddress(ipaddress.ip_address("10.0.0.1")),
        x509.IPAddress(ipaddress.ip_address("10.0.0.2")),
        x509.IPAddress(ipaddress.ip_address("fd00::1")),
        x509.UniformResourceIdentifier("spiffe://a/b"),
        x509.UniformResourceIdentifier("foo"),
    ]
    assert outputs["dnsNames"] == NAMES["dnsNames"]
    assert outputs["subject"] == {k: v for k, v in FULL_SUBJECT.items() if k != "surplus"}


def test_kinds_of_strings(make: Make) -> None:
    subject = {"commonName": "system:node", "organization": "a_b", "emailAddress": "a@b"}
    name = certificate(make(SELF, subject=subject)[1]).subject.public_bytes()
    assert b"\x13\x0bsystem:node" in name  # PrintableString
    assert b"\x0c\x03a_b" in name  # UTF8String
    assert b"\x16\x03a@b" in name  # IA5String


def test_empty_parts_of_a_subject(make: Make) -> None:
    subject = {"commonName": "", "serialNumber": "", "organization": "", "streetAddresses": []}
    parsed = certificate(make(SELF, subject=subject)[1])
    assert [(part.oid, part.value) for part in parsed.subject] == [(NameOID.ORGANIZATION_NAME, "")]


@pytest.mark.parametrize(("given", "length"), [(None, None), (0.0, None), (-1.0, None), (2.0, 2)])
def test_t8_ca(make: Make, given: object, length: int | None) -> None:
    inputs = {} if given is None else {"maxPathLength": given}
    _, outputs = make(SELF, subject={"commonName": "ca"}, isCaCertificate=True, **inputs)
    parsed = certificate(outputs)
    assert extension(parsed, x509.BasicConstraints).value == x509.BasicConstraints(
        ca=True, path_length=length
    )
    identifier = extension(parsed, x509.SubjectKeyIdentifier)
    assert not identifier.critical
    public = x509.SubjectKeyIdentifier.from_public_key(parsed.public_key())
    assert identifier.value == public
    assert ExtensionOID.AUTHORITY_KEY_IDENTIFIER not in oids(parsed)
    assert outputs.get("maxPathLength") == given


def test_t9_ca_without_subject(tls: Client, make: Make) -> None:
    text = failure(tls, make, SELF, isCaCertificate=True)
    assert text.startswith("Invalid Certificate Subject: Must contain at least one")


def test_t10_authority_key(tls: Client, make: Make) -> None:
    text = failure(tls, make, SELF, setAuthorityKeyId=True)
    assert text == "Invalid Certificate Authority: Could not determine Authority Key Identifier"
    parsed = certificate(make(SELF, setAuthorityKeyId=True, setSubjectKeyId=True)[1])
    authority = extension(parsed, x509.AuthorityKeyIdentifier).value
    subject = extension(parsed, x509.SubjectKeyIdentifier).value
    assert authority == x509.AuthorityKeyIdentifier(subject.digest, None, None)


def test_t11_identifier_of_an_ed25519_key(make: Make, key: MakeKey) -> None:
    outputs = make(SELF, privateKeyPem=key("ED25519"), setSubjectKeyId=True)[1]
    parsed = certificate(outputs)
    raw = parsed.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    digest = extension(parsed, x509.SubjectKeyIdentifier).value.digest
    assert digest == hashlib.sha1(b"\x04\x20" + raw).digest()


def test_t12_no_uses(make: Make) -> None:
    _, outputs = make(SELF, allowedUses=[])
    assert oids(certificate(outputs)) == [ExtensionOID.BASIC_CONSTRAINTS]
    assert outputs["allowedUses"] == []


def test_t13_order_of_uses(make: Make) -> None:
    uses = ["client_auth", "server_auth", "client_auth", "cert_signing"]
    parsed = certificate(make(SELF, allowedUses=uses)[1])
    assert list(extension(parsed, x509.ExtendedKeyUsage).value) == [
        ExtendedKeyUsageOID.CLIENT_AUTH,
        ExtendedKeyUsageOID.SERVER_AUTH,
        ExtendedKeyUsageOID.CLIENT_AUTH,
    ]
    assert extension(parsed, x509.KeyUsage).value.public_bytes() == bytes.fromhex("03020204")


@pytest.mark.parametrize(
    ("algorithm", "curve", "digest"),
    [
        ("ECDSA", "P224", hashes.SHA256),
        ("ECDSA", "P256", hashes.SHA256),
        ("ECDSA", "P384", hashes.SHA384),
        ("ECDSA", "P521", hashes.SHA512),
        ("ED25519", "P224", None),
    ],
)
def test_t14_signatures(
    make: Make, key: MakeKey, algorithm: str, curve: str, digest: object
) -> None:
    private = key(algorithm, curve)
    _, outputs = make(SELF, privateKeyPem=private, subject={"commonName": "x"})
    parsed = certificate(outputs)
    parsed.verify_directly_issued_by(parsed)
    used = parsed.signature_hash_algorithm
    assert (type(used) if used else None) is digest
    assert outputs["keyAlgorithm"] == algorithm
    _, outputs = make(REQUEST, privateKeyPem=private)
    assert request(outputs).is_signature_valid
    assert outputs["keyAlgorithm"] == algorithm


def test_t15_path_length_without_ca(tls: Client, make: Make) -> None:
    text = failure(tls, make, SELF, maxPathLength=2.0)
    assert text.endswith("only CAs are allowed to specify MaxPathLen")


@pytest.fixture
def authority(make: Make, key: MakeKey) -> Inputs:
    private = key()
    _, outputs = make(
        SELF,
        privateKeyPem=private,
        subject={"commonName": "ca", "organization": "o_o"},
        isCaCertificate=True,
        allowedUses=["cert_signing"],
    )
    return {"caPrivateKeyPem": private, "caCertPem": outputs["certPem"]}


def test_t16_locally_signed(make: Make, key: MakeKey, authority: Inputs, tmp_path: Path) -> None:
    leaf_key = key(curve="P384")
    subject = {"organization": "system:nodes", "commonName": "system:node:n"}
    _, wanted = make(REQUEST, privateKeyPem=leaf_key, subject=subject, **NAMES)
    identity, outputs = make(
        LOCAL,
        **authority,
        certRequestPem=wanted["certRequestPem"],
        allowedUses=["server_auth", "key_encipherment"],
    )
    parsed = certificate(outputs)
    issuer = x509.load_pem_x509_certificate(authority["caCertPem"].encode())
    parsed.verify_directly_issued_by(issuer)
    assert parsed.issuer.public_bytes() == issuer.subject.public_bytes()
    assert parsed.subject.public_bytes() == request(wanted).subject.public_bytes()
    assert parsed.public_key() == request(wanted).public_key()
    names = extension(parsed, x509.SubjectAlternativeName)
    assert not names.critical
    assert names.value == extension(request(wanted), x509.SubjectAlternativeName).value
    digest = extension(issuer, x509.SubjectKeyIdentifier).value.digest
    assert extension(parsed, x509.AuthorityKeyIdentifier).value == x509.AuthorityKeyIdentifier(
        digest, None, None
    )
    assert ExtensionOID.SUBJECT_KEY_IDENTIFIER not in oids(parsed)
    assert isinstance(parsed.signature_hash_algorithm, hashes.SHA256)
    assert outputs["caKeyAlgorithm"] == "ECDSA"
    assert isinstance(outputs["caPrivateKeyPem"], Secret)
    assert identity == str(parsed.serial_number)
    (tmp_path / "ca").write_text(authority["caCertPem"])
    (tmp_path / "leaf").write_text(outputs["certPem"])
    verdict = subprocess.run(
        ["openssl", "verify", "-x509_strict", "-CAfile", tmp_path / "ca", tmp_path / "leaf"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert verdict.stdout.endswith(": OK\n"), verdict.stderr


def test_t17_parent_that_is_no_ca(tls: Client, make: Make, key: MakeKey) -> None:
    private = key()
    _, parent = make(SELF, privateKeyPem=private, subject={"commonName": "no ca"})
    _, wanted = make(REQUEST, subject={"commonName": "leaf"})
    _, outputs = make(
        LOCAL,
        caPrivateKeyPem=private,
        caCertPem=parent["certPem"],
        certRequestPem=wanted["certRequestPem"],
    )
    assert ExtensionOID.AUTHORITY_KEY_IDENTIFIER not in oids(certificate(outputs))
    (message,) = tls.messages
    assert (message.severity, message.ephemeral) == (2, False)
    assert message.message.startswith("Potentially Invalid Certificate Authority")


def test_t18_wrong_ca_key(tls: Client, make: Make, key: MakeKey, authority: Inputs) -> None:
    _, wanted = make(REQUEST)
    text = failure(
        tls,
        make,
        LOCAL,
        caCertPem=authority["caCertPem"],
        caPrivateKeyPem=key(),
        certRequestPem=wanted["certRequestPem"],
    )
    assert text == (
        "Failed to create certificate: x509: provided PrivateKey doesn't match parent's PublicKey"
    )


def test_t19_same_subject_as_the_ca(make: Make, authority: Inputs) -> None:
    _, wanted = make(REQUEST, subject={"commonName": "ca", "organization": "o_o"})
    _, outputs = make(LOCAL, **authority, certRequestPem=wanted["certRequestPem"])
    assert ExtensionOID.AUTHORITY_KEY_IDENTIFIER not in oids(certificate(outputs))


def test_t20_requests(make: Make) -> None:
    identity, outputs = make(REQUEST)
    assert list(request(outputs).attributes) == []
    der = request(outputs).public_bytes(Encoding.DER)
    assert identity == hashlib.sha1(der.strip(b"\t\n\v\f\r ")).hexdigest()
    _, outputs = make(REQUEST, dnsNames=["x"])
    (attribute,) = request(outputs).attributes
    assert attribute.oid.dotted_string == "1.2.840.113549.1.9.14"
    assert not extension(request(outputs), x509.SubjectAlternativeName).critical


def test_t28_preview(tls: Client, key: MakeKey) -> None:
    tls.token = SELF
    inputs = {
        "privateKeyPem": key(),
        "validityPeriodHours": 24.0,
        "allowedUses": ["server_auth"],
        "dnsNames": [UNKNOWN],
    }
    tls.token = SELF
    identity, outputs = tls.create(inputs, preview=True)
    assert identity == ""
    unknown = {name for name, value in outputs.items() if value is UNKNOWN}
    assert unknown == {
        "id",
        "certPem",
        "keyAlgorithm",
        "validityStartTime",
        "validityEndTime",
        "maxPathLength",
    }
    assert outputs["readyForRenewal"] is False
    assert outputs["earlyRenewalHours"] == 0
    assert outputs["dnsNames"] == [UNKNOWN]
    assert outputs["privateKeyPem"] == inputs["privateKeyPem"]


def test_t29_local_zone(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC-03:30")  # POSIX counts westwards
    time.tzset()
    try:
        _, outputs = make(SELF)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert outputs["validityStartTime"].endswith("+03:30")
    start = datetime.fromisoformat(outputs["validityStartTime"])
    end = datetime.fromisoformat(outputs["validityEndTime"])
    assert end - start == timedelta(hours=24)
    assert start.replace(microsecond=0) == certificate(outputs).not_valid_before_utc


def test_times_in_utc(make: Make) -> None:
    if os.environ.get("TZ", "UTC") != "UTC" or time.timezone:
        pytest.skip("this computer is elsewhere")
    assert make(SELF)[1]["validityStartTime"].endswith("Z")


@pytest.mark.parametrize(
    ("use", "der"), [("encipher_only", "03020001"), ("decipher_only", "0303070080")]
)
def test_t30_uses_that_the_library_refuses(make: Make, use: str, der: str) -> None:
    text = make(SELF, allowedUses=[use])[1]["certPem"]
    body = x509.load_pem_x509_certificate(text.encode()).public_bytes(Encoding.DER)
    content = bytes.fromhex(der)
    assert bytes.fromhex("0603551d0f0101ff04") + bytes([len(content)]) + content in body


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({"ipAddresses": ["1.2.3"]}, 'Invalid IP address: Failed to parse "1.2.3"'),
        ({"uris": ["a b"]}, "Invalid URI: "),
        ({"dnsNames": ["ä"]}, "cannot be encoded as an IA5String"),
        ({"privateKeyPem": "junk"}, "failed to decode PEM block: decoded bytes 0, undecoded 4"),
        (
            {"privateKeyPem": block("OPENSSH PRIVATE KEY")},
            "Failed to parse private key PEM: unsupported PEM preamble/type: OPENSSH PRIVATE KEY",
        ),
        (
            {"privateKeyPem": block("CERTIFICATE")},
            "unable to determine parser for PEM preamble: CERTIFICATE",
        ),
        ({"validityPeriodHours": 3e6}, "Invalid validity period"),
    ],
)
def test_what_create_refuses(tls: Client, make: Make, inputs: Inputs, text: str) -> None:
    assert text in failure(tls, make, SELF, **inputs)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {"caCertPem": "junk"},
            'CA certificate PEM: failed to decode PEM of expected type "CERTIFICATE" from',
        ),
        (
            {"certRequestPem": block("X")},
            'certificate request PEM: invalid PEM type - expected "CERTIFICATE REQUEST", got "X"',
        ),
        ({"caPrivateKeyPem": "junk"}, "Failed to parse CA private key PEM: "),
    ],
)
def test_pem_that_is_none(
    tls: Client, make: Make, authority: Inputs, changes: Inputs, text: str
) -> None:
    _, wanted = make(REQUEST)
    inputs = {**authority, "certRequestPem": wanted["certRequestPem"], **changes}
    assert text in failure(tls, make, LOCAL, **inputs)


def test_key_with_a_comment_and_more_blocks(make: Make, key: MakeKey) -> None:
    text = f"# a comment\n{plain(key())}\n{plain(key('ED25519'))}"
    assert make(SELF, privateKeyPem=text)[1]["keyAlgorithm"] == "ECDSA"


def test_check(tls: Client) -> None:
    tls.token = SELF
    inputs, failures = tls.check(
        {
            "privateKeyPem": "k",
            "validityPeriodHours": -1.0,
            "maxPathLength": -2.0,
            "allowedUses": ["server_auth", "fly"],
            "ipAddresses": [""],
            "subject": {"commonName": 1.0, "surplus": True},
            "uris": None,
        }
    )
    assert inputs["privateKeyPem"] == Secret("k")
    assert "uris" not in inputs
    assert {name for name, _ in failures} == {""}
    reasons = sorted(reason for _, reason in failures)
    assert len(reasons) == 4
    for text in (
        "validity_period_hours value must be at least 0",
        "max_path_length value must be at least -1",
        "'foo.allowedUses[1]'",
        "ip_addresses string length must be at least 1",
    ):
        assert any(text in reason for reason in reasons)


def test_check_of_nothing(tls: Client) -> None:
    tls.token = SELF
    reasons = [reason for _, reason in tls.check({})[1]]
    assert "Missing required property 'allowedUses'" in reasons
    assert "Missing required property 'validityPeriodHours'" in reasons
    assert any("[private_key_pem,private_key_pem_wo]" in reason for reason in reasons)


def test_unknown_values_pass(tls: Client) -> None:
    tls.token = LOCAL
    inputs = {
        "caCertPem": UNKNOWN,
        "caPrivateKeyPem": Secret(UNKNOWN),
        "certRequestPem": UNKNOWN,
        "validityPeriodHours": UNKNOWN,
        "allowedUses": [UNKNOWN],
    }
    assert tls.check(inputs) == (inputs, [])


def test_wrong_shapes_fail_the_call(tls: Client) -> None:
    tls.token = SELF
    for inputs in ({"dnsNames": "x"}, {"isCaCertificate": "true"}, {"subject": "x"}):
        assert "cannot encode resource inputs" in tls.failure(tls.check, inputs)[1]
