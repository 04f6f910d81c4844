"""The `tls` plugin: keys, certificate requests and certificates, all made in this process."""

from __future__ import annotations

import grpc

from airgap.plugins.protocol import Plugin
from airgap.plugins.tls.certificates import LocallySignedCert, SelfSignedCert
from airgap.plugins.tls.keys import PrivateKey
from airgap.plugins.tls.requests import CertRequest

PLUGIN = Plugin(
    name="tls",
    version="5.6.2",
    types={
        "tls:index/privateKey:PrivateKey": PrivateKey(),
        "tls:index/certRequest:CertRequest": CertRequest(),
        "tls:index/selfSignedCert:SelfSignedCert": SelfSignedCert(),
        "tls:index/locallySignedCert:LocallySignedCert": LocallySignedCert(),
    },
    unknown_type_code=grpc.StatusCode.UNKNOWN,
    unknown_type_text="unknown resource token tls:{token}",
    config_keys=frozenset({"version", "pluginDownloadURL", "proxy"}),
)
