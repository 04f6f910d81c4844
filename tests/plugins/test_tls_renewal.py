"""What a change, or the passage of time, does to a certificate: T21 to T27, and write-only keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from airgap.plugins.values import UNKNOWN, Secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.plugins.client import Client, Inputs


SELF = "tls:index/selfSignedCert:SelfSignedCert"
LOCAL = "tls:index/locallySignedCert:LocallySignedCert"
PEM = "-----BEGIN X-----\nAA==\n-----END X-----\n"


def in_hours(hours: float) -> str:
    return (datetime.now(UTC) + timedelta(hours=hours)).isoformat()


INPUTS = {
    "privateKeyPem": Secret(PEM),
    "validityPeriodHours": 24.0,
    "allowedUses": ["server_auth"],
    "subject": {"commonName": "a"},
    "dnsNames": ["a", "b"],
}


def state(end: float = 24, *, ready: bool = False, **changes: object) -> Inputs:
    return {
        **INPUTS,
        "id": "1",
        "certPem": "CERT",
        "keyAlgorithm": "RSA",
        "earlyRenewalHours": 0.0,
        "isCaCertificate": False,
        "setSubjectKeyId": False,
        "setAuthorityKeyId": False,
        "readyForRenewal": ready,
        "validityStartTime": in_hours(end - 24),
        "validityEndTime": in_hours(end),
        **changes,
    }


@pytest.fixture
def cert(tls: Client) -> Client:
    tls.token = SELF
    return tls


def diff(
    cert: Client, old: Inputs, *, ignore: Sequence[str] = (), **changes: Any
) -> tuple[list[str], list[str]]:
    new = {name: value for name, value in {**INPUTS, **changes}.items() if value is not None}
    answer = cert.diff({}, new, old, ignore)
    assert (answer.changes == answer.DIFF_SOME) == bool(answer.diffs)
    return list(answer.diffs), list(answer.replaces)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("validityPeriodHours", 25.0),
        ("allowedUses", []),
        ("dnsNames", ["b", "a"]),
        ("dnsNames", None),
        ("subject", {"commonName": "b"}),
        ("subject", None),
        ("subject", {}),
        ("uris", []),
        ("isCaCertificate", True),
        ("setSubjectKeyId", True),
        ("maxPathLength", 1.0),
        ("maxPathLength", -1.0),
        ("privateKeyPem", PEM.rstrip("\n")),
        ("privateKeyPem", UNKNOWN),
    ],
)
def test_t21_changes_that_replace(cert: Client, name: str, value: object) -> None:
    changes: Inputs = {name: value}
    assert diff(cert, state(), **changes) == ([name], [name])
    assert diff(cert, state(), ignore=[name], **changes) == ([], [])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("earlyRenewalHours", 0.0),
        ("isCaCertificate", False),
        ("privateKeyPem", PEM),
        ("validityPeriodHours", "24"),
        ("surplus", 1.0),
    ],
)
def test_no_change(cert: Client, name: str, value: object) -> None:
    changes: Inputs = {name: value}
    assert diff(cert, state(__meta="{}"), **changes) == ([], [])


def test_a_hash_in_old_state_is_updated(cert: Client) -> None:
    assert diff(cert, state(privateKeyPem="da39a3ee")) == (["privateKeyPem"], [])


def test_t22_early_renewal_is_an_update(cert: Client) -> None:
    assert diff(cert, state(), earlyRenewalHours=5.0) == (["earlyRenewalHours"], [])
    old = state()
    for preview in (True, False):
        new = cert.update(old, {**INPUTS, "earlyRenewalHours": 5.0}, preview=preview)
        assert new == {**old, "earlyRenewalHours": 5}


def test_t23_early_renewal_that_is_due(cert: Client) -> None:
    diffs, replaces = diff(cert, state(), earlyRenewalHours=24.0)
    assert diffs == ["earlyRenewalHours", "readyForRenewal"]
    assert replaces == ["readyForRenewal"]


def test_t24_refresh_of_an_expired_one(cert: Client) -> None:
    old = state(-1)
    assert cert.read(old, INPUTS) == {**old, "readyForRenewal": True}


def test_t25_expired(cert: Client) -> None:
    assert diff(cert, state(-1)) == (["readyForRenewal"], ["readyForRenewal"])


def test_t26_no_longer_due(cert: Client) -> None:
    old = state(3, ready=True, earlyRenewalHours=2.0)
    assert cert.read(old) == old
    assert diff(cert, old, earlyRenewalHours=2.0) == (["readyForRenewal"], [])
    new = cert.update(old, {**INPUTS, "earlyRenewalHours": 2.0})
    assert new == {**old, "readyForRenewal": False}


@pytest.mark.parametrize(("hours", "early"), [(0.0, 0.0), (5.0, 5.0)])
@pytest.mark.parametrize("preview", [True, False])
def test_t27_due_from_the_start(tls: Client, hours: float, early: float, *, preview: bool) -> None:
    tls.token = "tls:index/privateKey:PrivateKey"
    key = tls.create({"algorithm": "ED25519"})[1]["privateKeyPem"]
    tls.token = SELF
    inputs = {**INPUTS, "privateKeyPem": key, "validityPeriodHours": hours}
    inputs["earlyRenewalHours"] = early
    _, made = tls.create(inputs, preview=preview)
    assert made["readyForRenewal"] is True
    if not preview:
        answer = tls.diff({}, inputs, made)
        assert list(answer.replaces) == ["readyForRenewal"]


@pytest.mark.parametrize("fraction", ["", ".7", ".70853", ".706708539"])
@pytest.mark.parametrize("zone", ["Z", "+01:00", "-03:30"])
def test_times_of_the_official_plugin(cert: Client, fraction: str, zone: str) -> None:
    for year, due in ((2020, True), (2090, False)):
        old = state(validityEndTime=f"{year}-03-04T05:31:06{fraction}{zone}")
        assert cert.read(old)["readyForRenewal"] is due


def test_unreadable_end(cert: Client) -> None:
    old = state(validityEndTime="soon")
    assert "Failed to parse data from string" in cert.failure(cert.read, old)[1]
    assert "Failed to parse data from string" in cert.failure(cert.diff, {}, INPUTS, old)[1]


# --- write-only keys

WRITE_ONLY = {
    **{name: value for name, value in INPUTS.items() if name != "privateKeyPem"},
    "privateKeyPemWo": Secret(PEM),
    "privateKeyPemWoVersion": 1.0,
}


def test_write_only_key(tls: Client) -> None:
    tls.token = "tls:index/privateKey:PrivateKey"
    key = tls.create({"algorithm": "ED25519"})[1]["privateKeyPem"]
    tls.token = SELF
    inputs, failures = tls.check({**WRITE_ONLY, "privateKeyPemWo": key.value})
    assert failures == []
    assert inputs["privateKeyPemWo"] == key
    _, made = tls.create(inputs)
    assert made["keyAlgorithm"] == "ED25519"
    assert made["privateKeyPemWoVersion"] == 1
    assert {"privateKeyPem", "privateKeyPemWo"}.isdisjoint(made)
    assert diff_of(tls, inputs, made, privateKeyPemWo=Secret("other")) == []
    assert diff_of(tls, inputs, made, privateKeyPemWoVersion=2.0) == ["privateKeyPemWoVersion"]


def diff_of(tls: Client, inputs: Inputs, made: Inputs, **changes: object) -> list[str]:
    return list(tls.diff({}, {**inputs, **changes}, made).replaces)


def test_write_only_to_plain_replaces(tls: Client) -> None:
    tls.token = SELF
    old = state(privateKeyPemWoVersion=1.0)
    del old["privateKeyPem"]
    assert "privateKeyPemWoVersion" in tls.diff({}, INPUTS, old).replaces


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"privateKeyPem": "k"}, "2 attributes specified when one (and only one) of"),
        ({"privateKeyPemWo": None, "privateKeyPemWoVersion": None}, "No attribute specified"),
        ({"privateKeyPemWoVersion": None}, '"private_key_pem_wo_version" must be specified when'),
        ({"privateKeyPemWo": UNKNOWN}, None),
    ],
)
def test_choice_of_keys(tls: Client, changes: Inputs, text: str | None) -> None:
    tls.token = SELF
    reasons = [reason for _, reason in tls.check({**WRITE_ONLY, **changes})[1]]
    assert len(reasons) == (text is not None)
    assert text is None or text in reasons[0]
