from __future__ import annotations

import pytest

from airgap import flags, status
from airgap.progress import BuildError, Note, Step, line, run


def step(label: str, done: list[str], *, made: bool = False, error: str = "") -> Step:
    def make(_: Note) -> None:
        if error:
            raise BuildError(error)
        done.append(label)

    return Step(label=label, made=lambda: made, make=make)


def test_a_line_says_which_of_how_many_what_and_how_long() -> None:
    assert line(3, 14, "kubelet v1.37.2", 74.2) == "[ 3/14] kubelet v1.37.2 … 74 s"
    assert line(3, 4, "kubelet v1.37.2") == "[3/4] kubelet v1.37.2 …"
    assert line(1, 1, "x", 60.0, "compiling") == "[1/1] x … 60 s (compiling)"


def test_only_what_is_missing_is_made_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[str] = []
    run([step("one", done), step("two", done, made=True), step("three", done)], at_once=1)
    assert done == ["one", "three"]
    assert "[2/2] three … 0 s" in capsys.readouterr().out


def test_nothing_is_said_when_nothing_is_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    run([step("one", [], made=True)])
    assert capsys.readouterr().out == ""


def test_after_a_failure_nothing_new_is_begun() -> None:
    done: list[str] = []
    steps = [step("one", done, error="no compiler"), *(step(str(n), done) for n in range(20))]
    with pytest.raises(BuildError, match="no compiler"):
        run(steps, at_once=1)
    assert len(done) < 20


def test_flags_are_read_from_help_texts() -> None:
    text = (
        "Usage:\n  kubelet [flags] --not-this\n\nFlags:\n"
        "      --address ip   The address (overrides --ignored)\n"
        "  -v, --v Level      number\n"
        "  --listen-peer-urls 'http://localhost:2380'\n"
        "  --experimental.x\n"
    )
    assert flags.parse(text) == ["address", "experimental.x", "listen-peer-urls", "v"]


@pytest.mark.parametrize(
    ("size", "text"), [(5, "5 B"), (2048, "2.0 kB"), (3 << 20, "3.0 MB"), (1 << 30, "1.0 GB")]
)
def test_sizes_are_for_people(size: int, text: str) -> None:
    assert status.human(size) == text
