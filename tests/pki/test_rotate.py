"""Which keys `make rotate-certs` replaces."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from components.pki import rotate
from components.pki.table import AUTHORITIES, CERTIFICATES

if TYPE_CHECKING:
    from tests.conftest import Graph


def exported(graph: Graph) -> dict[str, Any]:
    """A state as `pulumi stack export` prints it."""
    return {"deployment": {"resources": [{"urn": item.urn, "inputs": {}} for item in graph]}}


def test_exactly_the_keys_of_leaves_are_replaced(small: Graph) -> None:
    """No CA, no key for tokens, no key for SSH and no host key: those would be another cluster."""
    keys = small.of_type(rotate.KEY)
    found = {urn.rsplit("::", 1)[1] for urn in rotate.leaf_keys(exported(small))}
    assert found == small.of_type(rotate.LEAF).keys()
    assert {f"test-{row.name}" for row in CERTIFICATES if not row.per_host} <= found
    kept = keys.keys() - found
    assert {*(f"test-{row.name}" for row in AUTHORITIES), "test-service-account"} <= kept
    assert {name for name in keys if "ssh" in name or "host-key" in name} <= kept
    assert set(rotate.leaf_keys(exported(small))) <= {item.urn for item in keys.values()}


def run(state: object, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(state)))
    return rotate.main()


def test_what_is_printed_are_flags_and_what_is_said_is_apart(
    small: Graph, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(exported(small), monkeypatch) == 0
    said = capsys.readouterr()
    words = said.out.split()
    assert words[::2] == ["--replace"] * len(small.of_type(rotate.LEAF))
    assert words[1::2] == rotate.leaf_keys(exported(small))
    assert said.err == "12 certificates get new keys; CAs and the service-account key stay\n"


@pytest.mark.parametrize("deployment", [{}, {"resources": []}, {"resources": None}])
def test_a_stack_without_certificates_is_not_brought_up(
    deployment: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its flags would be none, and `pulumi up` without any would make the cluster."""
    assert run({"deployment": deployment}, monkeypatch) == 1
    said = capsys.readouterr()
    assert (said.out, "run `pulumi up`" in said.err) == ("", True)
