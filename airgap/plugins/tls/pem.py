"""Reading of PEM texts, which may hold comments and more blocks than the one that is meant."""

from __future__ import annotations

import base64
import binascii
import re
import textwrap
from dataclasses import dataclass

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from airgap.plugins.tls.resource import TlsError

SigningKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey

_BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----\s(.*?)-----END \1-----", re.DOTALL)
_KEY_HEADERS = frozenset({"RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"})
_ALGORITHMS: dict[type, str] = {
    rsa.RSAPrivateKey: "RSA",
    ec.EllipticCurvePrivateKey: "ECDSA",
    ed25519.Ed25519PrivateKey: "ED25519",
}


@dataclass(frozen=True, slots=True)
class Block:
    """The first block of a text."""

    header: str
    text: str

    @property
    def pem(self) -> bytes:
        """The block alone."""
        return f"{self.text}\n".encode()

    @property
    def der(self) -> bytes:
        """What is in it."""
        return base64.b64decode("".join(self.text.splitlines()[1:-1]))


def _first_block(text: str) -> Block | None:
    found = _BLOCK.search(text)
    return Block(found[1], found[0]) if found else None


def write_pem(header: str, der: bytes) -> str:
    """Write a block with lines of 64 characters."""
    body = "\n".join(textwrap.wrap(base64.b64encode(der).decode(), 64))
    return f"-----BEGIN {header}-----\n{body}\n-----END {header}-----\n"


def load_key(text: str, what: str) -> SigningKey:
    """Read a private key in any of the usual unencrypted forms."""
    summary = f"Failed to parse {what} PEM"
    block = _first_block(text)
    if block is None:
        detail = f"failed to decode PEM block: decoded bytes 0, undecoded {len(text.encode())}"
        raise TlsError(summary, detail)
    if block.header not in _KEY_HEADERS:
        kind = (
            "unsupported PEM preamble/type"
            if block.header.endswith("KEY")
            else ("unable to determine parser for PEM preamble")
        )
        raise TlsError(summary, f"{kind}: {block.header}")
    try:
        key = load_pem_private_key(block.pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise TlsError(summary, _first_line(error)) from error
    if not isinstance(key, SigningKey):
        raise TlsError(summary, "unsupported kind of private key")
    return key


def load_certificate(text: str) -> x509.Certificate:
    """Read a CA's certificate."""
    what = "CA certificate"
    der = _load(text, "CERTIFICATE", what)
    try:
        return x509.load_der_x509_certificate(der)
    except ValueError as error:
        raise TlsError(f"Failed to parse {what}", _first_line(error)) from error


def load_request(text: str) -> x509.CertificateSigningRequest:
    """Read a certificate request."""
    what = "certificate request"
    der = _load(text, "CERTIFICATE REQUEST", what)
    try:
        return x509.load_der_x509_csr(der)
    except ValueError as error:
        raise TlsError(f"Failed to parse {what}", _first_line(error)) from error


def _load(text: str, expected: str, what: str) -> bytes:
    summary = f"Failed to parse {what} PEM"
    block = _first_block(text)
    if block is None:
        raise TlsError(summary, f'failed to decode PEM of expected type "{expected}" from bytes')
    if block.header != expected:
        detail = f'invalid PEM type - expected "{expected}", got "{block.header}"'
        raise TlsError(summary, detail)
    try:
        return block.der
    except binascii.Error as error:
        raise TlsError(summary, _first_line(error)) from error


def algorithm(key: SigningKey) -> str:
    """Name the algorithm of a key as inputs do."""
    return next(name for kind, name in _ALGORITHMS.items() if isinstance(key, kind))


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
