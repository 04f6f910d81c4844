"""A file that comes and goes with the stack, a certificate, and a step that handles a key."""

from __future__ import annotations

import pulumi
from pulumi_command.local import Command, Logging
from pulumi_tls import (
    CertRequest,
    CertRequestSubjectArgs,
    LocallySignedCert,
    PrivateKey,
    SelfSignedCert,
    SelfSignedCertSubjectArgs,
)

config = pulumi.Config("small")


def new_key(name: str) -> PrivateKey:
    """A private key."""
    return PrivateKey(name, algorithm="ECDSA", ecdsa_curve="P256")


authority_key, key = new_key("authority"), new_key("leaf")
authority = SelfSignedCert(
    "authority",
    private_key_pem=authority_key.private_key_pem,
    subject=SelfSignedCertSubjectArgs(common_name="authority"),
    is_ca_certificate=True,
    allowed_uses=["cert_signing"],
    validity_period_hours=24,
)
request = CertRequest(
    "leaf",
    private_key_pem=key.private_key_pem,
    subject=CertRequestSubjectArgs(common_name="leaf"),
)
certificate = LocallySignedCert(
    "leaf",
    cert_request_pem=request.cert_request_pem,
    ca_private_key_pem=authority_key.private_key_pem,
    ca_cert_pem=authority.cert_pem,
    allowed_uses=["client_auth"],
    validity_period_hours=24,
    early_renewal_hours=config.get_int("early") or 1,
)
place = f"cat >'{config.require('target')}'; echo placed"
Command(
    "file",
    create=place,
    update=place,
    delete=f"rm '{config.require('target')}'",
    stdin=config.require("text"),
)
Command(
    "secret",
    create="wc -l",
    stdin=key.private_key_pem,  # secret already
    logging=Logging.NONE,
)
pulumi.export("certificate", certificate.cert_pem)
pulumi.export("authority", authority.cert_pem)
pulumi.export("key", key.private_key_pem)
