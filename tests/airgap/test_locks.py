"""Whose locks go, and whose stay."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from airgap import locks

HERE = socket.gethostname()


@pytest.fixture
def processes(tmp_path: Path) -> Path:
    """A /proc with a pulumi and a process that has the number of one that ended."""
    for process, program in (("self", "python"), ("10", "pulumi"), ("11", "bash")):
        folder = tmp_path / "proc" / process
        folder.mkdir(parents=True)
        (folder / "comm").write_text(f"{program}\n")
    return tmp_path / "proc"


@pytest.mark.parametrize(
    ("said", "dead"),
    [
        ({"pid": 10, "hostname": HERE}, False),
        ({"pid": 11, "hostname": HERE}, True),
        ({"pid": 12, "hostname": HERE}, True),
        ({"pid": 12, "hostname": "another-computer"}, False),
        ({"pid": 12}, False),
        ({"pid": "x", "hostname": HERE}, False),
        ([], False),
    ],
)
def test_only_a_process_of_this_computer_that_ended_is_dead(
    processes: Path, tmp_path: Path, said: object, *, dead: bool
) -> None:
    file = tmp_path / "lock.json"
    file.write_text(json.dumps(said))
    assert locks.is_dead(file, processes) == dead


def test_where_processes_cannot_be_seen_nobody_is_dead(tmp_path: Path) -> None:
    file = tmp_path / "lock.json"
    file.write_text(json.dumps({"pid": 12, "hostname": HERE}))
    assert not locks.is_dead(file, tmp_path / "nothing")


def test_the_locks_of_one_stack_are_found(tmp_path: Path) -> None:
    folder = tmp_path / ".pulumi/locks/organization/p"
    for name in ("a/1.json", "a/2.json", "ab/3.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps({"pid": 2**30, "hostname": HERE}))
    found = locks.lock_files(f"file://{tmp_path}", "p", "a")
    assert [file.name for file in found] == ["1.json", "2.json"]
    assert locks.remove_dead(found) == found
    assert locks.lock_files(f"file://{tmp_path}", "p", "a") == []
    assert (folder / "ab/3.json").exists()
    assert locks.lock_files("s3://bucket", "p", "a") == []
