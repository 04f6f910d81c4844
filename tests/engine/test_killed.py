"""An `up` that was killed with all that it had begun: the next one goes on without a warning."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from airgap.killed import go_on, lock_files
from tests.engine.cli import Pulumi, kill_session, members

NAME = "killed"
PROGRAM = Path(__file__).parent / NAME
WARNING = "pending operations from previous deployment"


@pytest.fixture
def stack(ready: dict[str, str], tmp_path: Path) -> Iterator[Pulumi]:
    """The stack of the small program, killed when its step had begun."""
    made = Pulumi(tmp_path, NAME, ready, PROGRAM)
    made.configure({f"{NAME}:folder": str(tmp_path)})
    begun = tmp_path / "begun"
    assert made.killed_up(begun.exists)
    assert begun.read_text().startswith("-----BEGIN")
    yield made
    made.state("stack", "rm", NAME, "--force", "--yes")


def begun(stack: Pulumi) -> list[tuple[str, str]]:
    """(what, of what name) was under way, as the state says."""
    operations = stack.secrets()["deployment"].get("pending_operations") or []
    return [(item["type"], item["resource"]["urn"].rsplit("::")[-1]) for item in operations]


@pytest.mark.engine
def test_the_next_up_goes_on_by_itself(stack: Pulumi) -> None:
    backend = stack.environment["PULUMI_BACKEND_URL"]
    assert len(lock_files(backend, NAME, NAME)) == 1
    assert ("creating", "step") in begun(stack)
    before = stack.secrets()["deployment"]
    encrypted = stack.state("stack", "export").stdout

    (line,) = go_on(NAME, stack.folder, stack.environment)
    assert line.endswith("was killed; this one goes on from there")
    assert lock_files(backend, NAME, NAME) == []
    assert begun(stack) == []
    assert stack.secrets()["deployment"]["resources"] == before["resources"]
    for text in (encrypted, *(file.read_text() for file in Path(backend[7:]).rglob("*.json*"))):
        assert "PRIVATE KEY" not in text

    done = stack.up()
    assert WARNING not in done.output
    assert begun(stack) == []
    assert stack.preview().changed() == set()
    assert go_on(NAME, stack.folder, stack.environment) == []


@pytest.mark.engine
def test_without_it_pulumi_refuses_and_then_warns(stack: Pulumi) -> None:
    """What all of this is for: an engine that needs it no more fails here."""
    assert "locked" in stack.up(check=False).output
    stack.state("cancel", "--yes", NAME)
    assert WARNING in stack.up().output
    assert ("creating", "step") in begun(stack)


def test_all_of_a_session_is_killed() -> None:
    """In groups of their own, too, as an engine's plugins are."""
    script = "set -m; sleep 20 & sleep 20 & echo; wait"
    with subprocess.Popen(
        ("bash", "-c", script), stdout=subprocess.PIPE, start_new_session=True
    ) as leader:
        assert leader.stdout
        leader.stdout.readline()
        assert len(members(leader.pid)) == 3
        kill_session(leader)
        assert members(leader.pid) == set()
        assert leader.wait() < 0
