"""`SelfSignedCert` and `LocallySignedCert`, and when they are made anew."""

from __future__ import annotations

from dataclasses import replace

from cryptography import x509

from airgap.plugins.protocol import Call, Diff, Log, Severity
from airgap.plugins.tls.fields import Change, Field, KeyChoice, Kind, read
from airgap.plugins.tls.issue import (
    USES,
    Certificate,
    Extras,
    Template,
    is_ca,
    issue,
    key_identifier,
)
from airgap.plugins.tls.names import alternative_names, requested_names, subject_name
from airgap.plugins.tls.pem import algorithm, load_certificate, load_key, load_request
from airgap.plugins.tls.requests import OWN_KEY, SUBJECT_FIELDS
from airgap.plugins.tls.resource import TlsError, TlsResource
from airgap.plugins.tls.validity import Period, hours, is_due
from airgap.plugins.values import UNKNOWN, Properties, is_unknown

_READY = "readyForRenewal"
_EARLY = "earlyRenewalHours"
_HOURS = "validityPeriodHours"

_FIELDS = (
    Field(name=_HOURS, kind=Kind.INTEGER, required=True, minimum=0),
    Field(name="allowedUses", kind=Kind.TEXTS, required=True, choices=tuple(USES)),
    Field(name=_EARLY, kind=Kind.INTEGER, default=0, minimum=0, change=Change.UPDATE),
    Field(name="isCaCertificate", kind=Kind.FLAG, default=False),
    Field(name="maxPathLength", kind=Kind.INTEGER, minimum=-1),
    Field(name="setSubjectKeyId", kind=Kind.FLAG, default=False),
)
_COMPUTED = (
    Field(name="certPem"),
    Field(name=_READY),
    Field(name="validityStartTime"),
    Field(name="validityEndTime"),
)


class _Certificate(TlsResource):
    """What both kinds share: they expire, and are replaced before."""

    def preview(self, inputs: Properties) -> Properties:
        """Everything is still unknown, but whether it will do for more than a moment."""
        unknown = super().preview(inputs)
        if not is_unknown([inputs.get(_HOURS), inputs.get(_EARLY)]):
            unknown[_READY] = _is_born_due(inputs)
        return {"maxPathLength": UNKNOWN, **unknown}

    async def read(self, call: Call) -> Properties:
        """Tell of a certificate that has come due; a refresh takes that into the state."""
        state = await super().read(call)
        if is_due(state, state.get(_EARLY)):
            state[_READY] = True
        return state

    def complete(self, call: Call, diff: Diff) -> Diff:
        """A certificate that has come due is replaced, without any change of inputs."""
        early = read(self.fields, call.inputs).get(_EARLY)
        if not is_unknown(early) and is_due(call.state, early):
            return replace(diff, diffs=[*diff.diffs, _READY], replaces=[*diff.replaces, _READY])
        if call.state.get(_READY):
            return replace(diff, diffs=[*diff.diffs, _READY])
        return diff

    async def update(self, call: Call) -> Properties:
        """Keep the certificate, with a new idea of when it is due."""
        outputs = await super().update(call)
        return {**outputs, _READY: False}

    def finish(
        self, certificate: Certificate, period: Period, inputs: Properties
    ) -> tuple[str, Properties]:
        """Return what both kinds of certificate output."""
        return str(certificate.serial), {
            "certPem": certificate.pem,
            _READY: _is_born_due(inputs),
            **period.outputs(),
        }


def _is_born_due(inputs: Properties) -> bool:
    return hours(inputs.get(_HOURS)) <= hours(inputs.get(_EARLY))


class SelfSignedCert(_Certificate):
    """A certificate that vouches for itself, as a root CA's does."""

    key_choice = OWN_KEY
    fields = (
        *OWN_KEY.fields(),
        *_FIELDS,
        *SUBJECT_FIELDS,
        Field(name="setAuthorityKeyId", kind=Kind.FLAG, default=False),
    )
    computed = (Field(name="keyAlgorithm"), *_COMPUTED)

    def make(self, inputs: Properties) -> tuple[str, Properties]:
        """Sign with the own key."""
        key = load_key(OWN_KEY.given(inputs), "private key")
        extras = Extras.read(inputs)
        subject = subject_name(inputs.get("subject"))
        if extras.ca and not subject.rdns:
            raise TlsError(
                "Invalid Certificate Subject",
                "Must contain at least one Distinguished Name when creating Certificate "
                "Authority (CA)",
            )
        own_id = key_identifier(key.public_key()) if extras.has_key_id else None
        if inputs.get("setAuthorityKeyId") and own_id is None:
            raise TlsError(
                "Invalid Certificate Authority", "Could not determine Authority Key Identifier"
            )
        period = Period(hours(inputs[_HOURS]))
        template = Template(
            extras=extras,
            period=period,
            subject=subject,
            issuer=subject,
            public_key=key.public_key(),
            names=alternative_names(inputs),
            authority=own_id if inputs.get("setAuthorityKeyId") else None,
        )
        identity, outputs = self.finish(issue(template, key), period, inputs)
        return identity, {"keyAlgorithm": algorithm(key), **outputs}


_CA_KEY = KeyChoice("caPrivateKeyPem")


class LocallySignedCert(_Certificate):
    """A certificate for somebody's request, by a CA whose key is at hand."""

    key_choice = _CA_KEY
    fields = (
        Field(name="caCertPem", required=True, pem=True),
        *_CA_KEY.fields(),
        Field(name="certRequestPem", required=True, pem=True),
        *_FIELDS,
    )
    computed = (Field(name="caKeyAlgorithm"), *_COMPUTED)

    async def announce(self, log: Log, inputs: Properties) -> None:
        """Warn if the CA is none."""
        if not is_ca(load_certificate(_text(inputs, "caCertPem"))):
            await log.write(
                Severity.WARNING,
                "Potentially Invalid Certificate Authority: the certificate provided as "
                "Certificate Authority does not appear to be a valid one",
            )

    def make(self, inputs: Properties) -> tuple[str, Properties]:
        """Sign with the CA's key."""
        authority = load_certificate(_text(inputs, "caCertPem"))
        request = load_request(_text(inputs, "certRequestPem"))
        key = load_key(_CA_KEY.given(inputs), "CA private key")
        if key.public_key() != authority.public_key():
            raise TlsError(
                "Failed to create certificate",
                "x509: provided PrivateKey doesn't match parent's PublicKey",
            )
        period = Period(hours(inputs[_HOURS]))
        template = Template(
            extras=Extras.read(inputs),
            period=period,
            subject=request.subject,
            issuer=authority.subject,
            public_key=request.public_key(),
            names=requested_names(request),
            authority=_authority_id(authority, request.subject),
        )
        identity, outputs = self.finish(issue(template, key), period, inputs)
        return identity, {"caKeyAlgorithm": algorithm(key), **outputs}


def _authority_id(authority: x509.Certificate, subject: x509.Name) -> bytes | None:
    if authority.subject.public_bytes() == subject.public_bytes():
        return None
    try:
        extension = authority.extensions.get_extension_for_class(x509.SubjectKeyIdentifier)
    except x509.ExtensionNotFound:
        return None
    return extension.value.digest


def _text(inputs: Properties, name: str) -> str:
    return str(inputs[name])
