"""What is another one in each run goes, and nothing else."""

from __future__ import annotations

import json

import pytest

from bench.plugins.words import addresses, plain, plain_text

KEY = "-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"before\n{KEY}\nafter", "before\n<EC PRIVATE KEY>\nafter"),
        (f"{KEY}\n{KEY}", "<EC PRIVATE KEY>\n<EC PRIVATE KEY>"),
        ("ssh-ed25519 AAAA+/== name", "<ssh-ed25519> name"),
        ("ecdsa-sha2-nistp256 AAAA", "<ecdsa-sha2-nistp256>"),
        ("clock 2026-01-02T03:04:05.678Z", "clock <time>"),
        ("from 2026-01-02T03:04:05+01:00 on", "from <time> on"),
        (f"SHA256:{'a' * 43}", "<fingerprint>"),
        (":".join(["0f"] * 16), "<fingerprint>"),
        ("https://10.231.0.4:6443", "https://<plugins-api>:6443"),
        ("10.231.0.41 and 110.231.0.4", "10.231.0.41 and 110.231.0.4"),
        ("placed 9 files, 0 changed", "placed 9 files, 0 changed"),
    ],
)
def test_a_text(text: str, wanted: str) -> None:
    assert plain_text(text, {"10.231.0.4": "plugins-api"}) == wanted


def test_private_and_made_up_fields_go_at_any_depth() -> None:
    value = {"__defaults": [], "id": "x", "list": [{"__meta": "{}", "kept": [1, None, "text"]}]}
    assert plain(value, {}) == {"list": [{"kept": [1, None, "text"]}]}


def test_addresses_are_those_that_containers_were_given() -> None:
    outputs = [
        {"stdout": json.dumps({"name": "plugins-api", "address": "10.231.0.4", "port": 6443})},
        {"stdout": json.dumps({"name": "a network"})},
        {"stdout": "prepared: 7 images"},
        {"stdout": {"4dabf18193072939515e22adb298388d": "hidden"}},
        None,
    ]
    state = {"deployment": {"resources": [{"outputs": found} for found in outputs]}}
    assert addresses(state) == {"10.231.0.4": "plugins-api"}
