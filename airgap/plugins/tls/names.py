"""Subjects and alternative names, in the order and encoding of the official plugin."""

from __future__ import annotations

import ipaddress
import re
import string
import warnings
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.x509.name import _ASN1Type  # its only use: which kind of string a name is
from cryptography.x509.oid import NameOID

from airgap.plugins.tls.fields import STREETS
from airgap.plugins.tls.resource import TlsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from airgap.plugins.values import Properties, Value

_BEFORE_STREETS: Mapping[str, x509.ObjectIdentifier] = {
    "country": NameOID.COUNTRY_NAME,
    "province": NameOID.STATE_OR_PROVINCE_NAME,
    "locality": NameOID.LOCALITY_NAME,
}
_AFTER_STREETS: Mapping[str, x509.ObjectIdentifier] = {
    "postalCode": NameOID.POSTAL_CODE,
    "organization": NameOID.ORGANIZATION_NAME,
    "organizationalUnit": NameOID.ORGANIZATIONAL_UNIT_NAME,
    "commonName": NameOID.COMMON_NAME,
    "serialNumber": NameOID.SERIAL_NUMBER,
    "emailAddress": NameOID.EMAIL_ADDRESS,
}
_NOT_IF_EMPTY = frozenset({"commonName", "serialNumber"})
_PRINTABLE = frozenset(string.ascii_letters + string.digits + " '()+,-./:=?")
_URI_FORBIDDEN = re.compile(r"[\x00-\x20\x7f]|^:|%(?![0-9A-Fa-f]{2})")


def subject_name(subject: Value) -> x509.Name:
    """Write a subject; the streets are one part with several values."""
    members = subject if isinstance(subject, dict) else {}
    streets = members.get(STREETS)
    parts = [
        *_parts(_BEFORE_STREETS, members),
        *_streets(streets if isinstance(streets, list) else []),
        *_parts(_AFTER_STREETS, members),
    ]
    return x509.Name(parts)


def _parts(
    oids: Mapping[str, x509.ObjectIdentifier], members: Properties
) -> Iterator[x509.RelativeDistinguishedName]:
    for name, oid in oids.items():
        value = members.get(name)
        if isinstance(value, str) and (value or name not in _NOT_IF_EMPTY):
            yield x509.RelativeDistinguishedName([_attribute(oid, value)])


def _streets(streets: list[Value]) -> Iterator[x509.RelativeDistinguishedName]:
    distinct = dict.fromkeys(str(street) for street in streets)
    if distinct:
        yield x509.RelativeDistinguishedName(
            [_attribute(NameOID.STREET_ADDRESS, street) for street in distinct]
        )


def _attribute(oid: x509.ObjectIdentifier, value: str) -> x509.NameAttribute[str]:
    kind = _ASN1Type.PrintableString if _PRINTABLE.issuperset(value) else _ASN1Type.UTF8String
    if oid == NameOID.EMAIL_ADDRESS:
        kind = _ASN1Type.IA5String
    with warnings.catch_warnings():
        # The official plugin sets no limits to lengths, such as two letters for a country.
        warnings.simplefilter("ignore")
        return x509.NameAttribute(oid, value, kind, _validate=False)


def alternative_names(inputs: Properties) -> list[x509.GeneralName]:
    """Read DNS names, addresses and URIs, in this order."""
    return [
        *(_dns_name(text) for text in _texts(inputs, "dnsNames")),
        *(_ip_address(text) for text in _texts(inputs, "ipAddresses")),
        *(_uri(text) for text in _texts(inputs, "uris")),
    ]


def requested_names(request: x509.CertificateSigningRequest) -> list[x509.GeneralName]:
    """Return the names that a request asks for, of the kinds and in the order of above."""
    try:
        extension = request.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return []
    order = (x509.DNSName, x509.IPAddress, x509.UniformResourceIdentifier)
    return [name for kind in order for name in extension.value if isinstance(name, kind)]


def _texts(inputs: Properties, name: str) -> list[str]:
    values = inputs.get(name)
    return [str(value) for value in values] if isinstance(values, list) else []


def _dns_name(text: str) -> x509.DNSName:
    if not text.isascii():
        detail = f'x509: "{text}" cannot be encoded as an IA5String'
        raise TlsError("Failed to create certificate", detail)
    return x509.DNSName(text)


def _ip_address(text: str) -> x509.IPAddress:
    try:
        address = ipaddress.ip_address(text)
    except ValueError as error:
        raise TlsError("Invalid IP address", f'Failed to parse "{text}"') from error
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return x509.IPAddress(mapped or address)


def _uri(text: str) -> x509.UniformResourceIdentifier:
    if _URI_FORBIDDEN.search(text):
        raise TlsError("Invalid URI", f'parse "{text}": not a URI')
    try:
        _ = urlsplit(text).port  # reading it is what checks it
        return x509.UniformResourceIdentifier(text)
    except ValueError as error:
        raise TlsError("Invalid URI", f'parse "{text}": {error}') from error
