"""Whose locks go, and whose stay; what is forgotten of what was begun, and what is not."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from airgap import killed

HERE = socket.gethostname()


@pytest.fixture
def processes(tmp_path: Path) -> Path:
    """A /proc with a pulumi, one that has ended, and one whose number somebody else has now."""
    for process, stat in (
        ("self", "5 (python) R 1 5 5"),
        ("10", "10 (pulumi) S 1 10 10"),
        ("11", "11 (a (b) c) S 1 11 11"),
        ("13", "13 (pulumi) Z 1 13 13"),
    ):
        folder = tmp_path / "proc" / process
        folder.mkdir(parents=True)
        (folder / "stat").write_text(f"{stat} 0 -1\n")
    return tmp_path / "proc"


@pytest.mark.parametrize(
    ("said", "dead"),
    [
        ({"pid": 10, "hostname": HERE}, False),
        ({"pid": 11, "hostname": HERE}, True),
        ({"pid": 12, "hostname": HERE}, True),
        ({"pid": 13, "hostname": HERE}, True),
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
    assert killed.is_dead(file, processes) == dead


def test_where_processes_cannot_be_seen_nobody_is_dead(tmp_path: Path) -> None:
    file = tmp_path / "lock.json"
    file.write_text(json.dumps({"pid": 12, "hostname": HERE}))
    assert not killed.is_dead(file, tmp_path / "nothing")


def test_the_locks_of_one_stack_are_found(tmp_path: Path) -> None:
    folder = tmp_path / ".pulumi/locks/organization/p"
    for name in ("a/1.json", "a/2.json", "ab/3.json"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps({"pid": 2**30, "hostname": HERE}))
    found = killed.lock_files(f"file://{tmp_path}", "p", "a")
    assert [file.name for file in found] == ["1.json", "2.json"]
    assert killed.remove_dead(found) == found
    assert killed.lock_files(f"file://{tmp_path}", "p", "a") == []
    assert (folder / "ab/3.json").exists()
    assert killed.lock_files("s3://bucket", "p", "a") == []


def operation(kind: str, package: str, *, custom: bool = True) -> dict[str, Any]:
    """What a killed command leaves of something that it had begun."""
    token = f"{package}:module:Kind"
    urn = f"urn:pulumi:s::p::{token}::name"
    return {"type": kind, "resource": {"urn": urn, "type": token, "custom": custom}}


@pytest.mark.parametrize(
    ("begun", "repeatable"),
    [
        (operation("creating", "command"), True),
        (operation("creating", "tls"), True),
        (operation("creating", "kubernetes"), True),
        (operation("creating", "pulumi"), True),
        (operation("creating", "kubernetes-anywhere", custom=False), True),
        (operation("creating", "aws"), False),
        (operation("creating", "gcp"), False),
        (operation("creating", "azure-native"), False),
        (operation("updating", "aws"), True),
        (operation("deleting", "aws"), True),
        (operation("reading", "aws"), True),
    ],
)
def test_only_what_a_cloud_was_making_has_to_be_looked_at(
    begun: dict[str, Any], *, repeatable: bool
) -> None:
    assert killed.is_repeatable(begun) == repeatable


STACK = "a"
SECRET = {"4dabf18193072939515e22adb298388d": "...", "ciphertext": "v1:abc"}


@dataclass
class Backend:
    """A folder of files with one stack, and a pulumi that reads and writes its state."""

    folder: Path
    deployment: dict[str, Any] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)

    @property
    def document(self) -> dict[str, Any]:
        """What is exported."""
        return {"version": 3, "deployment": self.deployment}

    @property
    def url(self) -> str:
        return f"file://{self.folder}"

    def lock(self, process: int) -> Path:
        """The lock of a process."""
        file = self.folder / f".pulumi/locks/organization/p/{STACK}/{process}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"pid": process, "hostname": HERE}))
        return file

    def run(
        self, command: tuple[str, ...], *, cwd: Path, env: Mapping[str, str], **more: Any
    ) -> subprocess.CompletedProcess[str]:
        """In the place of `subprocess.run`."""
        program, noun, verb, *flags = command
        assert (program, noun) == ("pulumi", "stack")
        assert flags == ["--stack", STACK, "--non-interactive"], "no secret shown, no file written"
        assert (cwd, env["PULUMI_BACKEND_URL"]) == (self.folder, self.url)
        self.calls.append(verb)
        if verb == "import":
            written = json.loads(more["input"])
            assert written["version"] == 3
            self.deployment = written["deployment"]
        return subprocess.CompletedProcess(command, 0, json.dumps(self.document))

    def go_on(self, url: str = "") -> list[str]:
        return killed.go_on(STACK, self.folder, {"PULUMI_BACKEND_URL": url or self.url})


@pytest.fixture
def backend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Backend:
    (tmp_path / "Pulumi.yaml").write_text("name: p\n")
    made = Backend(tmp_path, {"resources": [{"urn": "u", "inputs": {"key": SECRET}}]})
    monkeypatch.setattr(subprocess, "run", made.run)
    return made


DEAD = 2**30
GOES_ON = ["an earlier command on the stack a was killed; this one goes on from there"]


def test_where_no_command_was_killed_nothing_is_said_or_written(backend: Backend) -> None:
    assert backend.go_on() == []
    assert backend.calls == ["export"]


def test_a_stack_that_has_never_been_up_has_nothing_to_forget(backend: Backend) -> None:
    backend.deployment = {}
    assert backend.go_on() == []


@pytest.mark.parametrize("has_lock", [True, False])
def test_what_can_be_made_again_is_forgotten(backend: Backend, *, has_lock: bool) -> None:
    """Also without a lock: somebody may have said `pulumi cancel`."""
    lock = backend.lock(DEAD) if has_lock else None
    was = dict(backend.deployment)
    begun = [operation("creating", "command"), operation("updating", "aws")]
    backend.deployment["pending_operations"] = begun
    assert backend.go_on() == GOES_ON
    assert backend.deployment == was
    assert not (lock and lock.exists())
    assert backend.go_on() == []


def test_a_lock_alone_goes_without_a_touch_of_the_state(backend: Backend) -> None:
    lock = backend.lock(DEAD)
    assert backend.go_on() == GOES_ON
    assert not lock.exists()
    assert backend.calls == ["export"]


def test_what_a_cloud_was_making_is_kept_and_named(backend: Backend) -> None:
    backend.lock(DEAD)
    begun = [operation("creating", "aws"), operation("creating", "command")]
    backend.deployment["pending_operations"] = begun
    first, *lines = backend.go_on()
    assert [first] == GOES_ON
    assert [line.strip() for line in lines if "urn:" in line] == [begun[0]["resource"]["urn"]]
    assert "`pulumi refresh`" in " ".join(lines)
    assert backend.deployment["pending_operations"] == begun
    assert backend.calls == ["export"]


def test_while_another_command_is_at_work_nothing_is_touched(
    backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.deployment["pending_operations"] = [operation("creating", "command")]
    monkeypatch.setattr(killed, "is_dead", lambda lock: lock.stem == str(DEAD))
    backend.lock(DEAD)
    lock = backend.lock(os.getpid())
    assert backend.go_on() == []
    assert lock.exists()
    assert backend.calls == []


def test_a_backend_that_is_no_folder_is_left_as_it_is(backend: Backend) -> None:
    backend.deployment["pending_operations"] = [operation("creating", "command")]
    assert backend.go_on("s3://bucket") == []
    assert backend.calls == []
