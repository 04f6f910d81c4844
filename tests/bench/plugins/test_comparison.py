"""How differences are told, and how the comparison ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.plugins import __main__ as program
from bench.plugins.__main__ import AGREED, DIFFERENT, Made, make, report
from bench.plugins.differences import differences


@pytest.mark.parametrize(
    ("ours", "lines"),
    [
        ({"a": [1, {"b": "x"}]}, []),
        ({"a": [1, {"b": "y"}]}, ["a[1] > b: official 'x', stand-in 'y'"]),
        ({"a": [True, {"b": "x"}]}, ["a[0]: official 1, stand-in True"]),
        ({}, ["a: official [1, {'b': 'x'}], stand-in '(absent)'"]),
        ({"a": [1]}, ["a: official [1, {'b': 'x'}], stand-in [1]"]),
    ],
    ids=str,
)
def test_a_difference_says_where_and_what(ours: object, lines: list[str]) -> None:
    assert differences({"a": [1, {"b": "x"}]}, ours) == lines


def test_a_long_value_is_cut() -> None:
    (line,) = differences("x" * 1000, "y")
    assert len(line) < 300


def made(value: object, *surprises: str) -> Made:
    return Made(facts={"state": {"resource": value}}, surprises=list(surprises))


def test_those_that_agree_end_well() -> None:
    assert report(made(1), made(1)) == (["state: 1 compared, agree"], AGREED)


def test_those_that_differ_do_not() -> None:
    lines, status = report(made(1), made(2))
    assert lines == ["state: 1 compared, 1 differences", "  resource: official 1, stand-in 2"]
    assert status == DIFFERENT


def test_a_plan_with_changes_where_there_are_none_is_a_difference() -> None:
    lines, status = report(made(1, "a second plan has changes"), made(1))
    assert (lines[0], status) == ("a second plan has changes", DIFFERENT)


class FakeStack:
    """A stack whose second plan by the other kind of plugins has a change."""

    def __init__(self, _folder: Path, _name: str, environment: dict[str, str]) -> None:
        self.home = environment["PULUMI_HOME"]
        self.said: list[str] = []
        self.max_pods = 0

    def configure(self, keys: dict[str, Any]) -> None:
        self.max_pods = keys.get("kubelet", {"config": {"maxPods": 0}})["config"]["maxPods"]

    def plan(self, variables: dict[str, str] | None = None) -> dict[str, Any]:
        op = "update" if variables or self.max_pods else "same"
        return {"steps": [{"op": op, "urn": "urn:pulumi:s::p::command:remote:Command::step"}]}

    def up(self) -> None:
        self.said.append("up")

    def state(self, *, secrets: bool = False) -> dict[str, Any]:
        assert secrets in (True, False)
        return {"deployment": {"resources": []}}

    def outputs(self) -> dict[str, Any]:
        return {"health": "1 of 1 nodes Ready"}

    def destroy(self) -> None:
        assert self.said == ["up"]
        assert self.max_pods == 0


def test_each_kind_is_asked_to_plan_on_what_the_other_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "Stack", FakeStack)
    found = make(tmp_path, "official", tmp_path / "one", tmp_path / "two")
    (surprise,) = found.surprises
    assert surprise.startswith("made with official plugins, a plan by the other kind has changes: ")
    assert surprise.endswith("update command:remote:Command step")
    assert found.facts["plan of a change"]["command:remote:Command step"]["op"] == "update"
    assert found.facts["results"] == {"names": ["health"], "health": "1 of 1 nodes Ready"}
