"""Issues X.509 certificates: extensions, their order and their criticality."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ed25519
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import ExtensionOID

from airgap.plugins.tls.requests import signature_hash
from airgap.plugins.tls.resource import TlsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cryptography.hazmat.primitives.asymmetric.types import CertificatePublicKeyTypes

    from airgap.plugins.tls.pem import SigningKey
    from airgap.plugins.tls.validity import Period
    from airgap.plugins.values import Properties

_SERIAL_LIMIT = 2**128
_PKIX = "1.3.6.1.5.5.7.3"
_MICROSOFT = "1.3.6.1.4.1.311"

# Either a bit of the key usage, or an extended key usage.
USES: dict[str, int | str] = {
    "digital_signature": 0,
    "content_commitment": 1,
    "key_encipherment": 2,
    "data_encipherment": 3,
    "key_agreement": 4,
    "cert_signing": 5,
    "crl_signing": 6,
    "encipher_only": 7,
    "decipher_only": 8,
    "any_extended": "2.5.29.37.0",
    "server_auth": f"{_PKIX}.1",
    "client_auth": f"{_PKIX}.2",
    "code_signing": f"{_PKIX}.3",
    "email_protection": f"{_PKIX}.4",
    "ipsec_end_system": f"{_PKIX}.5",
    "ipsec_tunnel": f"{_PKIX}.6",
    "ipsec_user": f"{_PKIX}.7",
    "timestamping": f"{_PKIX}.8",
    "ocsp_signing": f"{_PKIX}.9",
    "microsoft_server_gated_crypto": f"{_MICROSOFT}.10.3.3",
    "netscape_server_gated_crypto": "2.16.840.1.113730.4.1",
    "microsoft_commercial_code_signing": f"{_MICROSOFT}.2.1.22",
    "microsoft_kernel_code_signing": f"{_MICROSOFT}.61.1.1",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Extras:
    """What the inputs say about a certificate, apart from whom it is for."""

    uses: tuple[str, ...]
    ca: bool
    path_length: int | None
    has_key_id: bool

    @classmethod
    def read(cls, inputs: Properties) -> Extras:
        """Take them from the inputs."""
        uses = inputs.get("allowedUses")
        length = inputs.get("maxPathLength")
        ca = bool(inputs.get("isCaCertificate"))
        # The official plugin takes 0 for "no limit".
        limited = isinstance(length, int) and length > 0
        if limited and not ca:
            raise TlsError(
                "Failed to create certificate",
                "x509: only CAs are allowed to specify MaxPathLen",
            )
        return cls(
            uses=tuple(str(use) for use in uses) if isinstance(uses, list) else (),
            ca=ca,
            path_length=length if isinstance(length, int) and limited else None,
            has_key_id=ca or bool(inputs.get("setSubjectKeyId")),
        )


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was issued."""

    serial: int
    pem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A certificate before it has a number and a signature."""

    extras: Extras
    period: Period
    subject: x509.Name
    issuer: x509.Name
    public_key: CertificatePublicKeyTypes
    names: Sequence[x509.GeneralName]
    authority: bytes | None  # the issuer's key identifier

    def extensions(self) -> Iterator[tuple[x509.ExtensionType, bool]]:
        """Return the extensions in their order, and whether they are critical."""
        extras = self.extras
        yield from _usages(extras.uses)
        yield x509.BasicConstraints(extras.ca, extras.path_length), True
        if extras.has_key_id:
            yield x509.SubjectKeyIdentifier(key_identifier(self.public_key)), False
        if self.authority is not None:
            yield x509.AuthorityKeyIdentifier(self.authority, None, None), False
        if self.names:
            yield x509.SubjectAlternativeName(self.names), not self.subject.rdns


def issue(template: Template, signing_key: SigningKey) -> Certificate:
    """Give a certificate its number, and sign it."""
    serial = secrets.randbelow(_SERIAL_LIMIT - 1) + 1
    builder = x509.CertificateBuilder(
        issuer_name=template.issuer,
        subject_name=template.subject,
        public_key=template.public_key,
        serial_number=serial,
        not_valid_before=template.period.not_before,
        not_valid_after=template.period.not_after,
    )
    for extension, critical in template.extensions():
        builder = builder.add_extension(extension, critical)
    signed = builder.sign(signing_key, signature_hash(signing_key))
    return Certificate(serial, signed.public_bytes(Encoding.PEM).decode())


def _usages(uses: Sequence[str]) -> Iterator[tuple[x509.ExtensionType, bool]]:
    meanings = [USES[use] for use in uses]
    bits = sum(1 << bit for bit in {bit for bit in meanings if isinstance(bit, int)})
    oids = [x509.ObjectIdentifier(oid) for oid in meanings if isinstance(oid, str)]
    if bits:
        yield _key_usage(bits), True
    if oids:
        yield x509.ExtendedKeyUsage(oids), False


def _key_usage(bits: int) -> x509.UnrecognizedExtension:
    """Encode by hand: x509.KeyUsage refuses encipher_only and decipher_only on their own."""
    length = bits.bit_length()
    size = (length + 7) // 8
    # Bit 0 is the first, and so the highest, of the first byte.
    reversed_bits = int(f"{bits:0{size * 8}b}"[::-1], 2)
    content = bytes([size * 8 - length]) + reversed_bits.to_bytes(size, "big")
    return x509.UnrecognizedExtension(ExtensionOID.KEY_USAGE, bytes([0x03, len(content)]) + content)


def key_identifier(key: CertificatePublicKeyTypes) -> bytes:
    """Return the SHA-1 of a public key.

    For Ed25519 it covers a DER header as well, which is odd but what the official plugin does:
    chains must match across both.
    """
    if isinstance(key, ed25519.Ed25519PublicKey):
        raw = key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        return hashlib.sha1(b"\x04\x20" + raw, usedforsecurity=False).digest()
    return x509.SubjectKeyIdentifier.from_public_key(key).digest


def is_ca(certificate: x509.Certificate) -> bool:
    """Say whether a certificate is that of a CA."""
    try:
        constraints = certificate.extensions.get_extension_for_class(x509.BasicConstraints)
    except x509.ExtensionNotFound:
        return False
    return constraints.value.ca
