"""Events of a run as spans, the path that took longest, and both as text."""

from __future__ import annotations

import json
from typing import Any

from bench import events
from bench.events import Span


def urn(name: str, kind: str = "command:remote:Command") -> str:
    return f"urn:pulumi:s::p::x:y:Hosts${kind}::{name}"


def line(what: str, name: str, op: str = "create", **state: Any) -> str:
    side = "old" if op == "delete-replaced" else "new"
    metadata = {"urn": urn(name), "op": op, side: {"custom": True, **state}}
    return json.dumps({"sequence": 1, "timestamp": 1, what: {"metadata": metadata}})


def found(*lines: tuple[float, str]) -> list[Span]:
    return events.spans(event for at, text in lines if (event := events.event(at, text)))


def span(name: str, start: float, end: float) -> Span:
    return Span(urn=urn(name), op="create", start=start, end=end)


def test_a_span_is_from_the_event_before_to_the_event_after() -> None:
    spans = found(
        (1.0, line("resourcePreEvent", "a")),
        (1.5, line("resourcePreEvent", "b")),
        (2.0, "warning: no event"),
        (2.5, line("resOutputsEvent", "b")),
        (4.0, line("resOutputsEvent", "a")),
    )
    assert [(s.name, s.start, s.end) for s in spans] == [("b", 1.5, 2.5), ("a", 1.0, 4.0)]
    assert spans[0].kind == "Command"


def test_what_was_not_touched_and_components_are_no_spans() -> None:
    spans = found(
        (1.0, line("resourcePreEvent", "same", "same")),
        (1.1, line("resOutputsEvent", "same", "same")),
        (1.2, line("resourcePreEvent", "component", custom=False)),
        (1.3, line("resOutputsEvent", "component", custom=False)),
    )
    assert spans == []


def test_both_halves_of_a_replacement_are_spans() -> None:
    spans = found(
        (1.0, line("resourcePreEvent", "a", "create-replacement")),
        (2.0, line("resOutputsEvent", "a", "create-replacement")),
        (3.0, line("resourcePreEvent", "a", "delete-replaced")),
        (5.0, line("resOutputsEvent", "a", "delete-replaced")),
    )
    assert [(s.op, s.seconds) for s in spans] == [
        ("create-replacement", 1.0),
        ("delete-replaced", 2.0),
    ]


def test_a_provider_is_needed_like_an_input() -> None:
    provider = urn("cluster", "pulumi:providers:kubernetes")
    state = {
        "deployment": {
            "resources": [
                {"urn": urn("a")},
                {"urn": urn("b"), "dependencies": [urn("a")], "provider": f"{provider}::some-id"},
            ]
        }
    }
    assert events.dependencies(state) == {
        urn("a"): frozenset(),
        urn("b"): frozenset({urn("a"), provider}),
    }


def test_the_path_follows_what_ended_last() -> None:
    spans = [span("a", 0, 1), span("b", 0, 3), span("c", 3.5, 5), span("other", 0, 9)]
    needs = {urn("c"): frozenset({urn("a"), urn("b"), urn("unknown")}), urn("b"): frozenset[str]()}
    path = events.critical_path(spans, needs, urn("c"))
    assert [s.name for s in path] == ["b", "c"]
    assert events.path_lines(path) == [
        "    0.0 s     3.0 s  after  0.0 s  Command            b",
        "    3.5 s     1.5 s  after  0.5 s  Command            c",
    ]


def test_the_waterfall_has_a_bar_for_each_long_span() -> None:
    lines = events.waterfall([span("late", 5, 10), span("early", 0, 5), span("short", 1, 1.25)])
    assert lines == [
        f"|{'#' * 30}{' ' * 30}|    0.0    5.0 s  early",
        f"|{' ' * 30}{'#' * 30}|    5.0    5.0 s  late",
        "and 1 shorter than 0.5 s, 0.2 s in all",
    ]


def test_no_span_at_all_is_no_error() -> None:
    assert events.waterfall([]) == []
