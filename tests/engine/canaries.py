"""What of a private key would be a leak wherever it is seen."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator

from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_ssh_private_key,
)

# Of any key at all, also of one that the test has not got; a PEM block in base64 begins so, too.
MARKS = (
    "PRIVATE KEY",
    base64.b64encode(b"-----BEGIN EC PRIVATE KEY-----").decode(),
    base64.b64encode(b"-----BEGIN PRIVATE KEY-----").decode(),
)


def public_part(pem: str) -> str:
    """The base64 of the public key, which may be seen, and whose end is in the private one too."""
    load = load_ssh_private_key if "OPENSSH" in pem else load_pem_private_key
    public = load(pem.encode(), None).public_key()
    text = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
    return "".join(line for line in text.splitlines() if not line.startswith("-----"))


def of_key(pem: str) -> Iterator[str]:
    """The whole key as text, in JSON and in base64, and each of its lines that is secret."""
    public = public_part(pem)
    yield from (pem, json.dumps(pem)[1:-1], base64.b64encode(pem.encode()).decode())
    lines = [line for line in pem.splitlines() if line and not line.startswith("-----")]
    # The first line of OpenSSH's format is the same in every key.
    for line in lines[1:] if "OPENSSH" in pem else lines:
        if line not in public:
            yield line


def leaks(text: str, keys: dict[str, str]) -> list[str]:
    """Which of the keys, by name, and which marks of any key, are seen in the text."""
    seen = [name for name, pem in keys.items() if any(canary in text for canary in of_key(pem))]
    return seen + [mark for mark in MARKS if mark in text]
