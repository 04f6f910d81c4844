"""`CertRequest`: a certificate signing request."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import Encoding

from airgap.plugins.tls.fields import Field, KeyChoice, Kind
from airgap.plugins.tls.keys import digest_id
from airgap.plugins.tls.names import alternative_names, subject_name
from airgap.plugins.tls.pem import SigningKey, algorithm, load_key
from airgap.plugins.tls.resource import TlsResource

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airgap.plugins.values import Properties

SignatureHash: TypeAlias = hashes.SHA256 | hashes.SHA384 | hashes.SHA512

_CURVE_HASHES: Mapping[int, SignatureHash] = {384: hashes.SHA384(), 521: hashes.SHA512()}

OWN_KEY = KeyChoice("privateKeyPem")
SUBJECT_FIELDS = (
    Field(name="subject", kind=Kind.SUBJECT),
    Field(name="dnsNames", kind=Kind.TEXTS),
    Field(name="ipAddresses", kind=Kind.TEXTS, filled=True),
    Field(name="uris", kind=Kind.TEXTS, filled=True),
)


class CertRequest(TlsResource):
    """A request for a certificate, signed by the key that it is for."""

    key_choice = OWN_KEY
    fields = (*OWN_KEY.fields(), *SUBJECT_FIELDS)
    computed = (Field(name="keyAlgorithm"), Field(name="certRequestPem"))

    def make(self, inputs: Properties) -> tuple[str, Properties]:
        """Sign the request."""
        key = load_key(OWN_KEY.given(inputs), "private key")
        builder = x509.CertificateSigningRequestBuilder(subject_name(inputs.get("subject")))
        names = alternative_names(inputs)
        if names:
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        request = builder.sign(key, signature_hash(key))
        return digest_id(request.public_bytes(Encoding.DER)), {
            "keyAlgorithm": algorithm(key),
            "certRequestPem": request.public_bytes(Encoding.PEM).decode(),
        }


def signature_hash(key: SigningKey) -> SignatureHash | None:
    """Return the hash that goes with a key."""
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return None
    if isinstance(key, ec.EllipticCurvePrivateKey):
        return _CURVE_HASHES.get(key.curve.key_size, hashes.SHA256())
    return hashes.SHA256()
