"""A small API server on this computer, with a CA of its own, that wants a client certificate."""

from __future__ import annotations

import datetime as dt
import json
import ssl
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cryptography.x509.base import CertificateBuilder

DAY = dt.timedelta(days=1)


def name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, text)])


def builder(subject: str, issuer: str, key: ec.EllipticCurvePrivateKey) -> CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(name(subject))
        .issuer_name(name(issuer))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
    )


def pem(key: ec.EllipticCurvePrivateKey) -> str:
    form = serialization.PrivateFormat.PKCS8
    encoding = serialization.Encoding.PEM
    return key.private_bytes(encoding, form, serialization.NoEncryption()).decode()


@dataclass(frozen=True)
class Keys:
    """A CA, and what it signed for loopback and for an operator."""

    ca: str
    server: tuple[str, str]
    client: tuple[str, str]


def make_keys() -> Keys:
    """A CA and what it signs."""
    ca_key = ec.generate_private_key(ec.SECP256R1())
    usage = x509.KeyUsage(
        **dict.fromkeys(
            (
                *("content_commitment", "key_encipherment", "data_encipherment", "key_agreement"),
                *("encipher_only", "decipher_only"),
            ),
            False,
        ),
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
    )
    ca = (
        builder("ca", "ca", ca_key)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(
            x509.SubjectKeyIdentifier.from_public_key(ca_key.public_key()), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )

    def leaf(subject: str) -> tuple[str, str]:
        key = ec.generate_private_key(ec.SECP256R1())
        alternative = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
        authority = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
        certificate = (
            builder(subject, "ca", key)
            .add_extension(alternative, critical=False)
            .add_extension(authority, critical=False)
            .sign(ca_key, hashes.SHA256())
        )
        return certificate.public_bytes(serialization.Encoding.PEM).decode(), pem(key)

    return Keys(
        ca.public_bytes(serialization.Encoding.PEM).decode(), leaf("kube-apiserver"), leaf("admin")
    )


@dataclass
class Stub:
    """What the server answers, by path; a number is a status, and lists go step by step."""

    answers: dict[str, Any]
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    port: int = 0

    def answer(self, path: str) -> Any:
        found = self.answers.get(path, 404)
        if callable(found):
            found = found()
        if isinstance(found, list):
            return found.pop(0) if len(found) > 1 else found[0]
        return found

    def respond(self, method: str, path: str, body: str) -> Any:
        """Answer a request; here, by its path alone."""
        self.requests.append((method, path, body))
        return self.answer(path)


def handler(stub: Stub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            found = stub.respond(self.command, self.path, self.rfile.read(length).decode())
            status = found if isinstance(found, int) else 200
            text = found if isinstance(found, str) else json.dumps(found)
            self.send_response(status)
            kind = "text/plain" if isinstance(found, str) else "application/json"
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        do_POST = do_GET  # noqa: N815 (the library's name)
        do_PATCH = do_GET  # noqa: N815 (the library's name)
        do_DELETE = do_GET  # noqa: N815 (the library's name)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def serving(stub: Stub, keys: Keys, folder: Path, delay: float = 0) -> Iterator[dict[str, Any]]:
    """A server that refuses at first, for `delay` seconds; hands out what a gate is asked."""
    certificate = folder / "server.pem"
    certificate.write_text("".join(keys.server))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.load_verify_locations(cadata=keys.ca)
    context.verify_mode = ssl.CERT_REQUIRED
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(stub), bind_and_activate=False)
    server.server_bind()
    stub.port = server.server_address[1]
    server.socket = context.wrap_socket(server.socket, server_side=True)

    def serve() -> None:
        if delay:
            time.sleep(delay)
            server.server_activate()
        server.serve_forever(poll_interval=0.05)

    if not delay:
        server.server_activate()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield {
            "server": f"https://127.0.0.1:{stub.port}",
            "ca": keys.ca,
            "certificate": keys.client[0],
            "key": keys.client[1],
        }
    finally:
        if delay < 1:
            server.shutdown()
        server.server_close()
