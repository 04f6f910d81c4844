"""How long certificates are valid, when they are made anew, and what is said of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from components.pki import ClusterPki, PkiArgs, expiry
from components.pki.table import AUTHORITIES, CERTIFICATES
from model import CA_HOURS, MOST_LEAF_HOURS
from tests.conftest import Answers, Graph, cluster, record
from tests.pki.test_table import SELF_SIGNED, SIGNED, machines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pulumi.runtime import mocks

NOW = datetime(2030, 6, 1, tzinfo=UTC)


def in_days(days: float) -> str:
    """So many days from now, as the tls plugin writes it: with a fraction."""
    return f"{NOW + timedelta(days=days):%Y-%m-%dT%H:%M:%S}.123456789Z"


@pytest.mark.parametrize(
    ("keys", "valid", "renew"),
    [({}, 8760, 1440), ({"certificates": {"validHours": 48, "renewHours": 12}}, 48, 12)],
)
def test_every_leaf_lives_as_long_as_the_config_says(
    keys: dict[str, Any], valid: int, renew: int
) -> None:
    """B01: and is due so many hours earlier; authorities keep to their ten years."""
    graph = issued(cluster_keys=keys)
    leaves = graph.of_type(SIGNED)
    hosts, rows = 3, [row for row in CERTIFICATES if not row.per_host]
    assert len(leaves) == len(rows) + 2 + hosts  # a master's API server and etcd; kubelets
    for name, leaf in leaves.items():
        found = leaf.inputs["validityPeriodHours"], leaf.inputs["earlyRenewalHours"]
        assert found == (valid, renew), name
    for name, authority in graph.of_type(SELF_SIGNED).items():
        assert authority.inputs["validityPeriodHours"] == CA_HOURS, name
        assert "earlyRenewalHours" not in authority.inputs, name


def test_a_leaf_of_the_first_half_of_its_authority_ends_before_it() -> None:
    assert 2 * MOST_LEAF_HOURS <= CA_HOURS


class Ends(Answers):
    """Certificates with ends of their own; some are unknown, as those that are to be replaced."""

    def __init__(self, ends: Mapping[str, str], replaced: frozenset[str]) -> None:
        super().__init__(lambda _: False)
        self._ends, self._replaced = ends, replaced

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ == SIGNED and args.name in self._replaced:
            return "", dict(args.inputs)
        identity, outputs = super().new_resource(args)
        if args.name in self._ends and "validityEndTime" in outputs:
            outputs["validityEndTime"] = self._ends[args.name]
        return identity, outputs


def issued(
    ends: Mapping[str, str] | None = None,
    replaced: frozenset[str] = frozenset(),
    *,
    cluster_keys: Mapping[str, Any] | None = None,
    found: dict[str, Any] | None = None,
) -> Graph:
    """What the PKI alone registers, in a preview; its output goes to `found`."""
    config = cluster(**(cluster_keys or {}))
    arguments = PkiArgs(config=config, machines=machines(config, "192.0.2.100", "192.0.2.100"))

    def program() -> None:
        pki = ClusterPki(config.name, arguments)
        if found is not None:
            pki.certificates.apply(found.update)

    return record(program, preview=True, answers=lambda _: Ends(ends or {}, replaced))


def test_the_output_names_what_ends_first_of_leaves_and_of_authorities() -> None:
    found: dict[str, Any] = {}
    ends = {
        "test-node-1-kubelet": "2031-02-03T05:05:06.708539017+01:00",
        "test-admin": "2031-02-03T04:05:07Z",
        "test-etcd-ca": "2039-12-31T23:59:59.9Z",
    }
    issued(ends, found=found)
    assert found == {
        "leaves": {"first": "test-node-1-kubelet", "expires": "2031-02-03T04:05:06Z"},
        "authorities": {"first": "test-etcd-ca", "expires": "2039-12-31T23:59:59Z"},
    }


@pytest.fixture
def warnings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a program warns of, with the resource that it is about."""
    said: list[str] = []
    monkeypatch.setattr(
        pulumi.log, "warn", lambda message, resource: said.append(message) if resource else None
    )
    return said


def test_a_preview_warns_of_what_it_is_about_to_renew(warnings: list[str]) -> None:
    issued(replaced=frozenset({"test-admin", "test-node-1-kubelet"}))
    (warning,) = warnings
    assert warning.startswith("2 certificate(s) will be made anew")
    assert "no more than 1440 hours (certificates.renewHours)" in warning
    assert warning.endswith(": test-admin, test-node-1-kubelet")


def test_a_preview_of_what_stays_warns_of_nothing(warnings: list[str]) -> None:
    issued()
    assert warnings == []


def test_the_first_preview_warns_of_nothing(warnings: list[str]) -> None:
    """Certificates that are not there yet are unknown, and so is what they are made for."""
    config = cluster()
    arguments = PkiArgs(config=config, machines=machines(config, "192.0.2.100", "192.0.2.100"))
    record(lambda: ClusterPki(config.name, arguments), preview=True)
    assert warnings == []


def test_an_authority_that_ends_soon_is_warned_of_in_each_run(warnings: list[str]) -> None:
    soon = datetime.now(UTC) + timedelta(days=30, hours=1)
    issued({"test-ca": soon.isoformat()})
    (warning,) = warnings
    assert warning.startswith(
        f"the authority test-ca ends at {soon:%Y-%m-%dT%H:%M:%SZ} (30 days left)"
    )
    assert "docs/certificates.md" in warning


@pytest.mark.parametrize(("days", "told"), [(90.1, False), (89.9, True), (0, True), (-3, True)])
def test_ninety_days_is_soon(days: float, *, told: bool) -> None:
    names = [f"test-{row.name}" for row in AUTHORITIES]
    ends = {**dict.fromkeys(names, in_days(3650)), names[1]: in_days(days)}
    found = expiry.old_authorities(ends, NOW)
    assert [names[1] in text for text in found] == [True] * told


def test_a_warning_names_a_few_and_counts_the_rest() -> None:
    names = [f"n{index}" for index in range(8)]
    text = expiry.renewals(names, 24)
    assert text.startswith("8 certificate(s)")
    assert text.endswith(": n0, n1, n2, n3, n4 and 3 more")
    assert expiry.renewals(names[:5], 24).endswith(": n0, n1, n2, n3, n4")
