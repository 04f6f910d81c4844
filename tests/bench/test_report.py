"""Figures: medians, ratios of medians, and every value in sight."""

from __future__ import annotations

import pytest

from bench.measure import ADD, OURS, WITH_PACKAGES, WITHOUT_PACKAGES, ratios, size
from bench.report import Figures, Ratio

RATIO = Ratio(label="a / b", figure="a", to="b")


@pytest.fixture
def figures() -> Figures:
    found = Figures()
    for value in (3.0, 1.0, 10.0):
        found.add("group", "a", value)
    for value in (4.0, 8.0):
        found.add("group", "b", value)
    found.add("group", "resources", 120, "")
    return found


def test_a_ratio_is_that_of_the_medians(figures: Figures) -> None:
    assert figures.ratio("group", RATIO) == 0.5


def test_there_is_no_ratio_to_what_was_not_measured(figures: Figures) -> None:
    assert figures.ratio("group", Ratio(label="", figure="a", to="c")) is None
    assert figures.ratio("nowhere", RATIO) is None


def test_a_ratio_may_look_into_another_group(figures: Figures) -> None:
    figures.add("other", "b", 30)
    assert figures.ratio("group", Ratio(label="", figure="a", to="b", to_group="other")) == 0.1


def test_each_row_has_its_median_and_every_value(figures: Figures) -> None:
    rows = [line.split() for line in figures.lines({"group": (RATIO,)})]
    assert rows == [
        [],
        ["group", "median", "each", "run"],
        ["a,", "s", "3.0", "3.0", "1.0", "10.0"],
        ["b,", "s", "6.0", "4.0", "8.0"],
        ["resources", "120", "120"],
        ["a", "/", "b", "0.50"],
    ]


def test_a_ratio_that_cannot_be_had_has_no_row(figures: Figures) -> None:
    missing = Ratio(label="missing", figure="a", to="c")
    assert not [line for line in figures.lines({"group": (missing,)}) if "missing" in line]


def test_what_is_kept_says_the_same(figures: Figures) -> None:
    assert figures.document({"group": (RATIO,)}) == {
        "group": {
            "figures": {
                "a": {"unit": "s", "median": 3.0, "values": [3.0, 1.0, 10.0]},
                "b": {"unit": "s", "median": 6.0, "values": [4.0, 8.0]},
                "resources": {"unit": "", "median": 120, "values": [120]},
            },
            "ratios": {"a / b": 0.5},
        }
    }


def test_we_are_compared_with_kubeadm_both_ways_and_adding_a_node_with_itself() -> None:
    found = ratios([2, 5])
    assert {(r.figure, r.to) for r in found[size(5)]} == {
        (OURS, WITH_PACKAGES),
        (OURS, WITHOUT_PACKAGES),
    }
    (growth,) = found["a node more than 10"]
    assert (growth.figure, growth.to, growth.to_group) == (ADD, ADD, "a node more than 2")
