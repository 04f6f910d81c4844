"""tls and command behind the real engine: no change twice, line diffs, no key in sight."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cryptography import x509

from tests.engine import canaries
from tests.engine.cli import Pulumi

pytestmark = pytest.mark.engine

# No YAML, of which the CLI would show each line and none as text.
LINES = [f"place file-{number}" for number in range(20)]
CHANGED = [*LINES[:10], "place another", *LINES[11:]]


class Small:
    """The small program's stack, and the file that it places."""

    def __init__(self, folder: Path, variables: dict[str, str], name: str = "small") -> None:
        self.target = folder / "placed"
        self.stack = Pulumi(folder, name, variables, Path(__file__).parent / "small")

    def configure(self, lines: list[str], early: int = 1) -> None:
        """Say what the file is to hold, and how many hours early the certificate is made anew."""
        text = "\n".join(lines) + "\n"
        said = {"small:target": str(self.target), "small:text": text, "small:early": early}
        self.stack.configure(said)

    def serials(self) -> tuple[int, int]:
        """Those of the authority and of the certificate."""
        outputs = self.stack.outputs()
        authority, leaf = (
            x509.load_pem_x509_certificate(outputs[name].encode()).serial_number
            for name in ("authority", "certificate")
        )
        return authority, leaf


@pytest.fixture(scope="module")
def small(ready: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Small:
    """The stack after its first `up`."""
    made = Small(tmp_path_factory.mktemp("small"), ready)
    made.configure(LINES)
    made.stack.up()
    return made


def test_the_resources_of_one_run_fit_together(small: Small) -> None:
    assert small.target.read_text().splitlines() == LINES
    outputs = small.stack.outputs()
    leaf = x509.load_pem_x509_certificate(outputs["certificate"].encode())
    leaf.verify_directly_issued_by(x509.load_pem_x509_certificate(outputs["authority"].encode()))
    assert leaf.subject.rfc4514_string() == "CN=leaf"


def test_a_second_up_changes_nothing(small: Small) -> None:
    done = small.stack.call("up", "--yes", "--skip-preview", "--expect-no-changes")
    assert "unchanged" in done.output


def test_a_changed_line_of_stdin_shows_as_a_line(small: Small) -> None:
    small.configure(CHANGED)
    text = small.stack.diff()
    changes = re.findall(r"^\s*([-+]) (place.*)$", text, re.MULTILINE)
    assert changes == [("-", "place file-10"), ("+", "place another")]
    assert "place file-9\n" in text, "the line before the change shows where it is"
    assert "place file-2\n" not in text, "lines far from the change are not shown"
    small.configure(LINES)


def test_a_plain_up_renews_what_is_due_and_nothing_else(small: Small) -> None:
    """B01: without a refresh. One that is not due stays, and so does the authority."""
    authority, leaf = small.serials()
    small.configure(LINES, early=23)  # of 24: not due, by an hour
    assert small.stack.up_steps().changed() == {("update", "leaf")}
    assert small.serials() == (authority, leaf)

    small.configure(LINES, early=24)
    assert {name for _, name in small.stack.up_steps().changed()} == {"leaf"}
    same, renewed = small.serials()
    assert (same == authority, renewed == leaf) == (True, False)
    small.configure(LINES)
    assert small.stack.up_steps().changed() == {("update", "leaf")}
    assert small.serials() == (authority, renewed)


def test_no_key_is_in_the_output_or_in_the_exported_state(small: Small) -> None:
    key = small.stack.outputs()["key"]
    assert canaries.leaks(key, {"leaf": key}) == ["leaf", "PRIVATE KEY"]
    small.stack.call("preview", "--diff", "--show-sames")
    small.stack.state("stack", "output", "--json")
    state = small.stack.state("stack", "export").stdout
    seen = state + "".join(done.output for done in small.stack.transcript)
    assert canaries.leaks(seen, {"leaf": key}) == []


def test_destroy_runs_deletes_and_leaves_no_resource(ready: dict[str, str], tmp_path: Path) -> None:
    small = Small(tmp_path, ready, "gone")
    small.configure(LINES)
    small.stack.up()
    assert small.target.exists()
    small.stack.destroy()
    assert not small.target.exists()
    assert small.stack.resources() == []
