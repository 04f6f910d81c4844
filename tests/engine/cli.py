"""The Pulumi CLI as a person uses it, on a stack that nobody will miss.

Everything that it prints is kept: `Pulumi.transcript` is what the canary tests search for keys.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
CLUSTER_KEY = "kubernetes-anywhere:cluster"
KILL_SECONDS = 0.05  # between two looks at what is to be killed
Config = dict[str, Any]  # a stack file's `config`

# What a person has set for stacks of their own must not reach ours.
_PERSONAL = ("PULUMI_", "KUBERNETES_ANYWHERE_MIRROR", "KUBECONFIG", "VIRTUAL_ENV")


def environment(folder: Path) -> dict[str, str]:
    """What `python -m airgap.setup env` exports, with a backend and passphrase below `folder`."""
    stacks = folder / "stacks"
    stacks.mkdir(parents=True, exist_ok=True)
    ours = {
        **{key: value for key, value in os.environ.items() if not key.startswith(_PERSONAL)},
        "PULUMI_BACKEND_URL": f"file://{stacks}",
        "PULUMI_CONFIG_PASSPHRASE": "a passphrase of these tests",
    }
    exports = subprocess.run(
        [sys.executable, "-m", "airgap.setup", "env"],
        cwd=ROOT,
        env=ours,
        capture_output=True,
        text=True,
        check=False,
    )
    if exports.returncode != 0:
        pytest.fail(f"`python -m airgap.setup env` failed: {exports.stderr.strip()}")
    shell = 'eval "$1" && exec env -0'
    whole = subprocess.run(
        ["bash", "-c", shell, "bash", exports.stdout],
        env=ours,
        capture_output=True,
        text=True,
        check=True,
    )
    found = dict(line.split("=", 1) for line in whole.stdout.split("\0") if line)
    # Plugins stay where they are when a test moves HOME.
    found.setdefault("PULUMI_HOME", str(Path.home() / ".pulumi"))
    return found


@dataclass(frozen=True, kw_only=True)
class Done:
    """A program that has ended."""

    arguments: tuple[str, ...]
    code: int
    stdout: str
    stderr: str
    seconds: float

    @property
    def output(self) -> str:
        """All that it printed."""
        return self.stdout + self.stderr

    def explained(self) -> str:
        """What ran, how it ended and what it said last, for a failed test."""
        command = " ".join(self.arguments)
        return (
            f"`{command}` ended with {self.code} after {self.seconds:.0f} s:\n{self.output[-6000:]}"
        )


@dataclass(frozen=True, kw_only=True)
class Step:
    """What the engine does, or would do, to one resource."""

    op: str
    urn: str
    type: str
    name: str
    provider: str
    inputs: Mapping[str, Any]


class Plan:
    """All steps of a preview, or of an update once it is done."""

    def __init__(self, steps: Sequence[Step], changes: Mapping[str, int]) -> None:
        self._steps = tuple(steps)
        self.changes = changes  # {op: how many resources}

    def __iter__(self) -> Iterator[Step]:
        return iter(self._steps)

    def names(self, op: str, kind: str = "") -> set[str]:
        """The names of the resources that one kind of step is about, all types or one."""
        return {step.name for step in self if step.op == op and step.type.startswith(kind)}

    def changed(self) -> set[tuple[str, str]]:
        """(op, name) of everything that does not stay the same."""
        return {(step.op, step.name) for step in self if step.op not in {"same", "read", "refresh"}}


def _step(raw: Mapping[str, Any], state: Mapping[str, Any]) -> Step:
    return Step(
        op=raw["op"],
        urn=raw["urn"],
        type=raw["urn"].rsplit("::", 2)[-2].rsplit("$", 1)[-1],
        name=raw["urn"].rsplit("::", 1)[-1],
        provider=state.get("provider", ""),
        inputs=state.get("inputs", {}),
    )


def planned(text: str) -> Plan:
    """The plan in the output of `pulumi preview --json`: one document."""
    document = json.loads(text)
    steps = document.get("steps", [])
    return Plan(
        [_step(raw, raw.get("newState") or raw.get("oldState") or {}) for raw in steps],
        document["changeSummary"],
    )


def done_steps(text: str) -> Plan:
    """The plan that was carried out, in the output of `pulumi up --json`: an event a line."""
    events = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
    begun = [
        event["resourcePreEvent"]["metadata"] for event in events if "resourcePreEvent" in event
    ]
    (summary,) = [event["summaryEvent"] for event in events if "summaryEvent" in event]
    return Plan(
        [_step(raw, raw.get("new") or raw.get("old") or {}) for raw in begun],
        summary["resourceChanges"],
    )


def members(session: int) -> set[int]:
    """The processes of a session that have not ended."""
    found = set()
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of, *_ = file.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended just now
        if int(of) == session and state != "Z":
            found.add(int(file.parent.name))
    return found


def kill_session(leader: subprocess.Popen[bytes]) -> None:
    """Kill a process and everything that it has begun; none of it runs any more afterwards.

    Pulumi's plugins and language host have process groups of their own, and stay in its session.
    Until `leader` is waited for, its number, which is the session's, is nobody else's.
    """
    leader.kill()  # first, or it would see the others die and write that down
    while alive := members(leader.pid):
        for process in alive:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        time.sleep(KILL_SECONDS)


class Pulumi:
    """One stack of a program. Its config file and its backend are in a folder of the test's.

    `folder`: where commands about the state run; the program's project file is there, too.
    """

    def __init__(
        self, folder: Path, stack: str, variables: Mapping[str, str], program: Path = ROOT
    ) -> None:
        self._program, self._stack = program, stack
        self.environment = dict(variables)
        self.transcript: list[Done] = []
        # The CLI writes a new stack's salt beside the project file that it is run at, and not where
        # --config-file says: a project file of our own keeps the program's folder as it is.
        self.folder = folder / stack
        self.folder.mkdir(parents=True)
        (self.folder / "Pulumi.yaml").write_text((program / "Pulumi.yaml").read_text())
        self.file = self.folder / f"Pulumi.{stack}.yaml"
        self.state("stack", "init", stack)

    def configure(self, config: Config) -> None:
        """Write the stack file's `config`."""
        document = yaml.safe_load(self.file.read_text()) if self.file.exists() else None
        text = yaml.safe_dump({**(document or {}), "config": config}, sort_keys=False)
        self.file.write_text(text)

    def call(self, *arguments: str, check: bool = True, limit: float = 1200) -> Done:
        """A command that runs the program: preview, up, destroy."""
        flags = ("--stack", self._stack, "--config-file", str(self.file))
        return self._run((*arguments, *flags), self._program, check=check, limit=limit)

    def state(self, *arguments: str, check: bool = True) -> Done:
        """A command that looks at the state only: stack export, stack output."""
        return self._run(arguments, self.folder, check=check, limit=120)

    def preview(self) -> Plan:
        """What `up` would do."""
        return planned(self.call("preview", "--json").stdout)

    def diff(self) -> str:
        """What `up` would do, line by line, as a person sees it."""
        return self.call("preview", "--diff").output

    def up(self, *, check: bool = True) -> Done:
        """Make it so."""
        return self.call("up", "--yes", "--skip-preview", check=check)

    def killed_up(self, when: Callable[[], bool]) -> bool:
        """`up`, killed as by `kill -9` as soon as that is so; false if it had ended before."""
        flags = ("--stack", self._stack, "--config-file", str(self.file))
        with subprocess.Popen(
            ("pulumi", "up", "--yes", "--skip-preview", "--non-interactive", *flags),
            cwd=self._program,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            while process.poll() is None and not when():
                time.sleep(KILL_SECONDS)
            if process.returncode is None:
                kill_session(process)
            return process.wait() < 0

    def up_steps(self) -> Plan:
        """Make it so, and tell what was done."""
        return done_steps(self.call("up", "--yes", "--skip-preview", "--json").stdout)

    def destroy(self, *, check: bool = True) -> Done:
        """Remove everything."""
        return self.call("destroy", "--yes", "--skip-preview", check=check)

    def outputs(self) -> dict[str, Any]:
        """The stack's outputs, secrets too. Not for the transcript: they are asked for."""
        done = self._run_unrecorded(("stack", "output", "--json", "--show-secrets"))
        return dict(json.loads(done.stdout))

    def secrets(self) -> dict[str, Any]:
        """The whole state with its secrets in clear. Not for the transcript either."""
        return dict(json.loads(self._run_unrecorded(("stack", "export", "--show-secrets")).stdout))

    def resources(self) -> list[dict[str, Any]]:
        """The resources in the state, secrets hidden."""
        state = json.loads(self.state("stack", "export").stdout)
        return list(state["deployment"].get("resources") or [])

    def _run_unrecorded(self, arguments: tuple[str, ...]) -> Done:
        kept = len(self.transcript)
        done = self._run(arguments, self.folder, check=True, limit=120)
        del self.transcript[kept:]
        return done

    def _run(self, arguments: tuple[str, ...], folder: Path, *, check: bool, limit: float) -> Done:
        command = ("pulumi", *arguments, "--non-interactive", "--color", "never")
        began = time.monotonic()
        ran = subprocess.run(
            command,
            cwd=folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        done = Done(
            arguments=command,
            code=ran.returncode,
            stdout=ran.stdout,
            stderr=ran.stderr,
            seconds=time.monotonic() - began,
        )
        self.transcript.append(done)
        print(f"{' '.join(command[:3])}: {done.code}, {done.seconds:.1f} s", file=sys.stderr)
        if check and done.code != 0:
            pytest.fail(done.explained())
        return done
