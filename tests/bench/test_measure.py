"""The order of the runs, with programs that only say that they ran."""

from __future__ import annotations

from pathlib import Path
from typing import Self

import pytest

from bench import BenchError, kubeadm, measure
from bench.__main__ import heading, parse_arguments
from bench.events import Span
from bench.kubeadm import Marks
from bench.machine import Machine
from bench.measure import ALONE, OURS, WITHOUT_PACKAGES, Bench
from bench.stack import Up, failure

Said = list[str]


def up_of(name: str, ended: float) -> Up:
    last = f"urn:pulumi:s::p::command:local:Command::{name}"
    span = Span(urn=last, op="create", start=1.0, end=ended - 1)
    return Up(ended=ended, spans=(span,), peak_memory=500)


class FakeStack:
    said: Said = []  # noqa: RUF012 - one list for all of them, on purpose

    def __init__(self, folder: Path, name: str, environment: object) -> None:
        assert environment == {}
        folder.mkdir()
        self.nodes = 0
        self.said.append(f"stack {name}")

    def configure(self, keys: dict[str, list[dict[str, int]]]) -> None:
        self.nodes = keys["pools"][0]["count"]

    def preview(self) -> float:
        self.said.append("preview")
        return 4.0

    def up(self) -> Up:
        self.said.append(f"up {self.nodes}")
        return up_of("bench-cluster-ready", 30.0)

    def state(self) -> dict[str, object]:
        return {"deployment": {"resources": [{"urn": "a"}, {"urn": "b"}]}}

    def destroy(self) -> None:
        self.said.append("destroy")


class FakePlace:
    def __init__(self, *arguments: object) -> None:
        _, mirror, folder = arguments
        assert mirror == Path("/mirror")
        assert isinstance(folder, Path)
        assert not folder.exists()
        self.hosts = ["master", "node", "node"]

    def __enter__(self) -> Self:
        FakeStack.said.append("hosts")
        return self

    def __exit__(self, *error: object) -> None:
        FakeStack.said.append("gone")


def install(*_: object) -> Marks:
    FakeStack.said.append("kubeadm")
    return Marks(packages=5, init=20, joined=30, ready=45)


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch) -> Said:
    FakeStack.said = []
    monkeypatch.setattr(measure, "Stack", FakeStack)
    monkeypatch.setattr(measure, "Place", FakePlace)
    monkeypatch.setattr(measure, "clear", lambda _: FakeStack.said.append("cleared"))
    monkeypatch.setattr(measure, "memory_speed", lambda: 5.0)
    monkeypatch.setattr(kubeadm, "install", install)
    return FakeStack.said


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(folder=tmp_path, mirror=Path("/mirror"), environment={}, runs=2)


def test_both_run_in_turn_on_hosts_of_their_own(said: Said, bench: Bench) -> None:
    bench.compare(2)
    one = ["hosts", "stack bench", "up 2", "gone", "hosts", "kubeadm", "gone"]
    assert said == [*one, *one]
    found = bench.figures.groups["1 + 2"]
    assert found[OURS].values == [29.0, 29.0], "the gate's end, not the command's"
    assert found[WITHOUT_PACKAGES].values == [40.0, 40.0]
    assert found["ours: resources"].values == [2, 2]


def test_hosts_are_gone_even_when_a_program_fails(
    said: Said, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Marks:
        raise BenchError("no join command")

    monkeypatch.setattr(kubeadm, "install", fails)
    with pytest.raises(BenchError, match="no join command"):
        bench.compare(2)
    assert said[-1] == "gone"


def test_nodes_come_and_go_at_both_sizes(said: Said, bench: Bench) -> None:
    bench.alone()
    ups = [word for word in said if word.startswith("up")]
    grown = ["up 3", "up 2"] * 2 + ["up 10"] + ["up 11", "up 10"] * 2
    assert ups == ["up 2", "up 2", "up 2", *grown]
    assert said.count("preview") == 2
    assert said.index("cleared") < said.index("up 2"), "what an ended run has left would be reused"
    assert said[-1] == "destroy"
    assert bench.figures.groups[ALONE]["first preview"].values == [4.0, 4.0]
    assert len(bench.figures.groups["a node more than 10"]["`up` with one node more"].values) == 2


def test_all_is_measured_unless_somebody_says_less() -> None:
    found = parse_arguments(["run"])
    assert (found.runs, found.nodes, set(found.parts)) == (3, [2, 5], {"compare", "alone"})
    assert parse_arguments(["run", "--nodes", "1", "--parts", "compare"]).nodes == [1]


def test_a_failed_up_says_its_errors_and_not_its_events() -> None:
    lines = [
        '{"diagnosticEvent": {"severity": "debug", "message": "registering"}}\n',
        '{"diagnosticEvent": {"severity": "error", "message": "the host is gone\\n"}}\n',
    ]
    assert failure(lines) == "the host is gone\n"
    assert failure(["error: no stack\n"]) == "error: no stack\n"


def test_the_heading_says_what_the_figures_were_found_on() -> None:
    machine = Machine(cores=2, processor="x", memory_gib=24.0, kernel="6.1")
    assert heading(machine, {"kubernetes": "v1"}, 3) == [
        "2 cores (x), 24.0 GiB, Linux 6.1; 3 runs in turn",
        "kubernetes v1",
    ]
