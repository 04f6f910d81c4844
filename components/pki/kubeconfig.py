"""Kubeconfig files, as pure functions of what goes into them."""

from __future__ import annotations

import base64

import yaml


def _render(cluster: str, server: str, ca: str, user: dict[str, str], user_name: str) -> str:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": cluster,
                "cluster": {"server": server, "certificate-authority-data": _base64(ca)},
            }
        ],
        "users": [{"name": user_name, "user": user}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": user_name}}],
        "current-context": cluster,
    }
    text: str = yaml.safe_dump(document, sort_keys=False, width=1_000_000)
    return text


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def with_certificate(  # noqa: PLR0913 (by name, all but three)
    cluster: str, server: str, ca: str, *, user: str, certificate: str, key: str
) -> str:
    """A kubeconfig whose user has a client certificate; everything is embedded."""
    credentials = {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}
    return _render(cluster, server, ca, credentials, user)


def with_service_account(cluster: str, server: str, ca: str) -> str:
    """A kubeconfig for pods: the API server's address and CA; the token is the pod's own."""
    token = {"tokenFile": "/var/run/secrets/kubernetes.io/serviceaccount/token"}
    return _render(cluster, server, ca, token, "service-account")
