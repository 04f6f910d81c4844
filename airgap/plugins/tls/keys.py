"""`PrivateKey`: makes a key, and writes it in every form that somebody may need."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from airgap.plugins.protocol import Call, Diff
from airgap.plugins.tls.fields import Field, Kind
from airgap.plugins.tls.pem import SigningKey, write_pem
from airgap.plugins.tls.resource import TlsError, TlsResource

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from airgap.plugins.values import Properties

_CURVES: Mapping[str, type[ec.EllipticCurve]] = {
    "P224": ec.SECP224R1,
    "P256": ec.SECP256R1,
    "P384": ec.SECP384R1,
    "P521": ec.SECP521R1,
}
_RSA_EXPONENT = 65537
_RSA_LEAST_BITS = 1024


def _make_rsa(inputs: Properties) -> SigningKey:
    bits = inputs["rsaBits"]
    if not isinstance(bits, int) or bits < _RSA_LEAST_BITS:
        raise TlsError(
            "Unable to generate Key from configuration",
            f"crypto/rsa: {bits}-bit keys are insecure",
        )
    return rsa.generate_private_key(public_exponent=_RSA_EXPONENT, key_size=bits)


def _make_ecdsa(inputs: Properties) -> SigningKey:
    return ec.generate_private_key(_CURVES[str(inputs["ecdsaCurve"])]())


def _make_ed25519(_: Properties) -> SigningKey:
    return ed25519.Ed25519PrivateKey.generate()


_MAKERS: Mapping[str, Callable[[Properties], SigningKey]] = {
    "RSA": _make_rsa,
    "ECDSA": _make_ecdsa,
    "ED25519": _make_ed25519,
}


class PrivateKey(TlsResource):
    """A private key with its public key. Every change makes a new one."""

    fields = (
        Field(name="algorithm", required=True, choices=tuple(_MAKERS)),
        Field(name="rsaBits", kind=Kind.INTEGER, default=2048),
        Field(name="ecdsaCurve", default="P224", choices=tuple(_CURVES)),
    )
    computed = (
        Field(name="privateKeyPem", secret=True),
        Field(name="privateKeyOpenssh", secret=True),
        Field(name="privateKeyPemPkcs8", secret=True),
        Field(name="publicKeyPem"),
        Field(name="publicKeyOpenssh"),
        Field(name="publicKeyFingerprintMd5"),
        Field(name="publicKeyFingerprintSha256"),
    )

    def make(self, inputs: Properties) -> tuple[str, Properties]:
        """Make the key."""
        key = _MAKERS[str(inputs["algorithm"])](inputs)
        public = key.public_key()
        spki = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        # Ed25519 has no other form than PKCS#8.
        is_edwards = isinstance(key, ed25519.Ed25519PrivateKey)
        own_format = PrivateFormat.PKCS8 if is_edwards else PrivateFormat.TraditionalOpenSSL
        return digest_id(spki), {
            "privateKeyPem": _write(key, own_format),
            "privateKeyPemPkcs8": _write(key, PrivateFormat.PKCS8),
            "publicKeyPem": pem,
            **_ssh_forms(key),
        }

    def complete(self, _: Call, diff: Diff) -> Diff:
        """A new key is new in every part."""
        if not diff.diffs:
            return diff
        computed = [field.name for field in self.computed]
        return Diff(diffs=[*diff.diffs, *computed], replaces=diff.replaces)


def _write(key: SigningKey, form: PrivateFormat) -> str:
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


def _ssh_forms(key: SigningKey) -> Properties:
    """SSH knows no P-224: the forms are empty for it."""
    if isinstance(key, ec.EllipticCurvePrivateKey) and isinstance(key.curve, ec.SECP224R1):
        return dict.fromkeys(
            (
                "privateKeyOpenssh",
                "publicKeyOpenssh",
                "publicKeyFingerprintMd5",
                "publicKeyFingerprintSha256",
            ),
            "",
        )
    private = _write(key, PrivateFormat.OpenSSH)
    line = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    blob = base64.b64decode(line.split()[1])
    md5 = hashlib.md5(blob, usedforsecurity=False).hexdigest()
    sha256 = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    return {
        "privateKeyOpenssh": _at_64_columns(private),
        "publicKeyOpenssh": f"{line}\n",
        "publicKeyFingerprintMd5": ":".join(md5[i : i + 2] for i in range(0, len(md5), 2)),
        "publicKeyFingerprintSha256": f"SHA256:{sha256}",
    }


def _at_64_columns(openssh: str) -> str:
    body = base64.b64decode("".join(openssh.splitlines()[1:-1]))
    return write_pem("OPENSSH PRIVATE KEY", body)


def digest_id(der: bytes) -> str:
    """Return the id of a key or request.

    That white space is cut off is the official plugin's way, and ids must not change when the
    plugin does.
    """
    return hashlib.sha1(der.strip(b"\t\n\v\f\r "), usedforsecurity=False).hexdigest()
