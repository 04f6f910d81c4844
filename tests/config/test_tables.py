"""The tables of flags and fields that a config is checked against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.config.cases import args
from validation import components as component_checks
from validation import parse
from validation.flags import FLAGS, MissingTableError, Tables
from validation.owned import FIELDS, FLAGS_OF, NEEDED_ITEMS
from versions import RELEASES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
@pytest.mark.parametrize("component", FLAGS_OF)
def test_each_version_has_its_tables(release: Any, component: str) -> None:
    """What we refuse to hand through, and what must stay in a list, are real flags."""
    known = Tables(FLAGS, release).flags(component)
    needed = {flag for owner, flag in NEEDED_ITEMS if owner == component}
    assert needed <= set(known)
    assert len(known) > 20


def test_a_missing_table_is_never_a_skipped_check(tmp_path: Path) -> None:
    with pytest.raises(MissingTableError, match=r"v1\.37/etcd\.txt is missing"):
        parse(args("etcd", "quota-backend-bytes", "1"), tmp_path)


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_owned_kubelet_fields_exist(release: Any) -> None:
    fields = Tables(FLAGS, release).kubelet_fields()
    assert set(FIELDS) <= set(fields)
    assert set(fields.values()) <= set(component_checks.KINDS)
