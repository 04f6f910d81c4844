"""What certificates, requests and keys say, as plain data: all but what must differ."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

from bench.plugins.words import plain_text

_USAGES = (
    *("digital_signature", "content_commitment", "key_encipherment", "data_encipherment"),
    *("key_agreement", "key_cert_sign", "crl_sign"),
)


def certificate(pem: str, names: Mapping[str, str]) -> dict[str, Any]:
    """A certificate's content; keys, serial and times are random, and only their kinds are told."""
    found = x509.load_pem_x509_certificate(pem.encode())
    lifetime = found.not_valid_after_utc - found.not_valid_before_utc
    return {
        "version": found.version.name,
        "subject": _name(found.subject),
        "issuer": _name(found.issuer),
        "key": _key(found.public_key()),
        "signature": found.signature_algorithm_oid._name,  # noqa: SLF001 - its only name
        "validity seconds": int(lifetime.total_seconds()),
        "extensions": _extensions(found.extensions, names),
    }


def request(pem: str, names: Mapping[str, str]) -> dict[str, Any]:
    """A certificate request's content."""
    found = x509.load_pem_x509_csr(pem.encode())
    return {
        "subject": _name(found.subject),
        "key": _key(found.public_key()),
        "signature": found.signature_algorithm_oid._name,  # noqa: SLF001 - its only name
        "extensions": _extensions(found.extensions, names),
    }


def _name(name: x509.Name) -> list[str]:
    return [f"{part.oid._name}={part.value!r}, {part._type.name}" for part in name]  # noqa: SLF001


def _key(key: PublicKeyTypes) -> str:
    if isinstance(key, ec.EllipticCurvePublicKey):
        return f"ECDSA {key.curve.name}"
    if isinstance(key, rsa.RSAPublicKey):
        return f"RSA {key.key_size}, exponent {key.public_numbers().e}"
    return type(key).__name__


def _extensions(found: x509.Extensions, names: Mapping[str, str]) -> list[str]:
    """In their order, as a reader of the certificate meets them."""
    return [
        f"{item.oid._name}{', critical' if item.critical else ''}: "  # noqa: SLF001 - its only name
        f"{plain_text(_value(item.value), names)}"
        for item in found
    ]


@singledispatch
def _value(value: object) -> str:
    return repr(value)


@_value.register
def _(value: x509.SubjectAlternativeName) -> str:
    return ", ".join(f"{type(name).__name__} {name.value}" for name in value)


@_value.register
def _(value: x509.KeyUsage) -> str:
    return ", ".join(usage for usage in _USAGES if getattr(value, usage))


@_value.register
def _(value: x509.ExtendedKeyUsage) -> str:
    return ", ".join(usage._name for usage in value)  # noqa: SLF001 - its only name


@_value.register
def _(value: x509.BasicConstraints) -> str:
    return f"CA {value.ca}, path length {value.path_length}"


@_value.register
def _(value: x509.AuthorityKeyIdentifier) -> str:
    parts = ("key_identifier", "authority_cert_issuer", "authority_cert_serial_number")
    return ", ".join(part for part in parts if getattr(value, part) is not None)


@_value.register
def _(value: x509.SubjectKeyIdentifier) -> str:
    return f"{len(value.digest)} bytes"
