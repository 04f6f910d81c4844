"""Our program as a person runs it: `pulumi preview`, `up` and the rest, on a stack of its own."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import JsonValue

from bench import BenchError, events
from bench.events import Event, Span
from bench.memory import Peak
from validation import CLUSTER_KEY

ROOT = Path(__file__).resolve().parent.parent
_TAIL = 3000  # characters of what a failed command said


@dataclass(frozen=True, kw_only=True, slots=True)
class Up:
    """One `pulumi up`, from the start of the command."""

    ended: float  # seconds until the command returned
    spans: tuple[Span, ...]
    peak_memory: float  # MiB

    def end_of(self, name: str) -> float:
        """When a resource was done, in seconds."""
        (found,) = [span.end for span in self.spans if span.name == name]
        return found


class Stack:
    """A stack in a folder that is given, kept in files there. Nothing of a person's is used."""

    def __init__(self, folder: Path, name: str, environment: Mapping[str, str]) -> None:
        self._name, self._folder = name, folder / name
        stacks, temporary = self._folder / "state", self._folder / "tmp"
        stacks.mkdir(parents=True)
        temporary.mkdir(mode=0o700)
        self._environment = {
            **environment,
            "PULUMI_BACKEND_URL": f"file://{stacks}",
            "PULUMI_CONFIG_PASSPHRASE": "bench",
            "TMPDIR": str(temporary),
        }
        # It would win, and be another one.
        self._environment.pop("PULUMI_CONFIG_PASSPHRASE_FILE", None)
        # The CLI writes a new stack's salt beside the project file that it is run at.
        (self._folder / "Pulumi.yaml").write_text((ROOT / "Pulumi.yaml").read_text())
        self._file = self._folder / f"Pulumi.{name}.yaml"
        self._call("stack", "init", name, folder=self._folder)

    def configure(self, keys: Mapping[str, JsonValue]) -> None:
        """Write the cluster config object."""
        document = yaml.safe_load(self._file.read_text()) if self._file.exists() else None
        content = {**(document or {}), "config": {CLUSTER_KEY: dict(keys)}}
        self._file.write_text(yaml.safe_dump(content, sort_keys=False))

    def preview(self) -> float:
        """Seconds that a preview takes."""
        began = time.monotonic()
        self._program("preview")
        return time.monotonic() - began

    def plan(self, variables: Mapping[str, str] | None = None) -> dict[str, JsonValue]:
        """What `up` would do, as the CLI has it; secrets hidden. `variables` win over the stack's.

        Raises BenchError.
        """
        return dict(json.loads(self._program("preview", "--json", variables=variables)))

    def up(self) -> Up:
        """Make it so, and look at what happens. Raises BenchError."""
        began = time.monotonic()
        found: list[Event] = []
        said: list[str] = []
        with subprocess.Popen(
            self._command("up", "--yes", "--skip-preview", "--json"),
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            peak = Peak(process.pid)
            for line in process.stdout or ():
                said.append(line)
                event = events.event(time.monotonic() - began, line)
                found += [event] if event else []
            process.wait()
            ended, peak_memory = time.monotonic() - began, peak.stop()
        if process.returncode:
            raise BenchError(f"`pulumi up` failed:\n{failure(said)}")
        return Up(ended=ended, spans=tuple(events.spans(found)), peak_memory=peak_memory)

    def state(self, *, secrets: bool = False) -> dict[str, JsonValue]:
        """The exported stack, its secrets hidden unless they are asked for."""
        shown = ("--show-secrets",) if secrets else ()
        return dict(json.loads(self._call("stack", "export", *shown, folder=self._folder)))

    def outputs(self) -> dict[str, JsonValue]:
        """The stack's outputs, secrets too."""
        text = self._call("stack", "output", "--json", "--show-secrets", folder=self._folder)
        return dict(json.loads(text))

    def destroy(self) -> None:
        """Remove everything."""
        self._program("destroy", "--yes", "--skip-preview")

    def _program(self, *arguments: str, variables: Mapping[str, str] | None = None) -> str:
        return self._run(self._command(*arguments), ROOT, variables)

    def _call(self, *arguments: str, folder: Path) -> str:
        return self._run(("pulumi", *arguments, "--non-interactive"), folder)

    def _command(self, *arguments: str) -> tuple[str, ...]:
        own = ("--stack", self._name, "--config-file", str(self._file))
        return ("pulumi", *arguments, *own, "--non-interactive", "--color", "never")

    def _run(
        self, command: tuple[str, ...], folder: Path, variables: Mapping[str, str] | None = None
    ) -> str:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**self._environment, **(variables or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            said = (done.stdout + done.stderr)[-_TAIL:]
            raise BenchError(f"`{' '.join(command[:3])}` failed:\n{said}")
        return done.stdout


def failure(lines: list[str]) -> str:
    """What a failed `up --json` said that a person wants to read: the errors, else the end."""
    found = [event.content for line in lines if (event := events.event(0, line))]
    diagnostics = [item["diagnosticEvent"] for item in found if "diagnosticEvent" in item]
    errors = [item["message"] for item in diagnostics if item.get("severity") == "error"]
    return "".join(errors or lines)[-_TAIL:]
