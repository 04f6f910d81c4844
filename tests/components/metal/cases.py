"""Hosts that exist already, as tests write them: keys, host keys, and a person's ~/.ssh."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from validation import ConfigError, Problem, parse

if TYPE_CHECKING:
    from config import ClusterConfig

Raw = dict[str, Any]
HERE = Path(__file__).parent


def ssh_string(data: bytes) -> bytes:
    """A string on SSH's wire."""
    return len(data).to_bytes(4) + data


def public_key(seed: str, kind: str = "ssh-ed25519") -> str:
    """A public key line that belongs to no key."""
    blob = ssh_string(kind.encode()) + ssh_string(seed.encode().ljust(32, b"."))
    return f"{kind} {b64encode(blob).decode()}"


def private_key(cipher: bytes = b"none", kind: bytes = b"ssh-ed25519") -> str:
    """What `ssh-keygen` would write, with nothing secret in it."""
    public = ssh_string(ssh_string(kind) + ssh_string(b"." * 32))
    head = b"openssh-key-v1\0" + ssh_string(cipher) + ssh_string(b"none") + ssh_string(b"")
    body = b64encode(head + (1).to_bytes(4) + public + ssh_string(b"canary " * 9)).decode()
    lines = "\n".join(body[at : at + 70] for at in range(0, len(body), 70))
    return f"-----BEGIN OPENSSH PRIVATE KEY-----\n{lines}\n-----END OPENSSH PRIVATE KEY-----\n"


HOST_KEY = public_key("host")


def host(name: str, role: str = "node", **keys: Any) -> Raw:
    """A host that says all that SSH needs, at an address that its name gives."""
    number = sum(name.encode()) % 200 + 20
    return {
        "name": name,
        "role": role,
        "address": f"192.0.2.{number}",
        "hostKey": HOST_KEY,
        **keys,
    }


def keys(*hosts: Any, more: Raw | None = None, **metal: Any) -> Raw:
    """A cluster config object on hosts."""
    section = {**({"hosts": [*hosts]} if hosts else {}), **metal}
    return {
        "name": "test",
        "platform": "metal",
        "arch": "amd64",
        "mirror": None,
        "metal": section,
        **(more or {}),
    }


def good(raw: Raw) -> ClusterConfig:
    """What the program makes of it."""
    return parse(json.loads(json.dumps(raw)))


def problems(raw: Raw) -> dict[str, Problem]:
    """What is wrong with it, by path."""
    with pytest.raises(ConfigError) as caught:
        good(raw)
    error: ConfigError = caught.value
    found = {problem.path: problem for problem in error.problems}
    assert len(found) == len(error.problems)
    return found


class Bad(NamedTuple):
    """One mistake: what is written, and the problem that has to come of it."""

    raw: Raw
    path: str
    value: object
    message: str  # a part of it
    remedy: str  # a part of it


def expect(case: Bad) -> None:
    """That problem and no other."""
    (problem,) = problems(case.raw).values()
    assert (problem.path, problem.value) == (case.path, case.value)
    assert case.message in problem.message
    assert case.remedy in problem.remedy
