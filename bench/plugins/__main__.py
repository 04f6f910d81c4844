"""Whether our stand-ins for the command and tls plugins do what the official ones do.

    python -m bench.plugins

Makes a small cluster on this computer twice, with one kind and then with the other, and compares
plans, states, certificates and results. Each kind also plans on the stack that the other has made.
Ends with 0 if they agree, 1 if they differ, 2 if a run failed, 3 if there is no official plugin.
"""

from __future__ import annotations

import datetime as dt
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import BenchError
from bench.plugins import facts, find
from bench.plugins.differences import SIDES, differences
from bench.plugins.facts import Facts
from bench.plugins.words import addresses
from bench.stack import Stack

AGREED, DIFFERENT, FAILED, NOT_TO_BE_HAD = range(4)
NAME = "bench-plugins"
CLUSTER: Mapping[str, Any] = {
    "name": NAME,
    "masters": {"count": 1},
    "pools": [],
    "network": {"hostCidr": "10.230.1.0/24"},
}
# One file of the host, by one step.
CHANGED: Mapping[str, Any] = {**CLUSTER, "kubelet": {"config": {"maxPods": 60}}}


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """What one kind of plugins made, as plain data, by what it is about."""

    facts: dict[str, Facts]
    surprises: list[str]  # what must not be, whatever the other kind does


def make(folder: Path, kind: str, home: Path, other: Path) -> Made:
    """Make the stack with the plugins of `home`, look at it, and remove it. Raises BenchError.

    `other` is the PULUMI_HOME of the other kind.
    """
    stack = Stack(folder / kind, NAME, {**os.environ, "PULUMI_HOME": str(home)})
    stack.configure(CLUSTER)
    first = stack.plan()
    try:
        stack.up()
        again, crossed = stack.plan(), stack.plan({"PULUMI_HOME": str(other)})
        stack.configure(CHANGED)
        change = stack.plan()
        hidden, shown = stack.state(), stack.state(secrets=True)
        outputs = stack.outputs()
    finally:
        stack.configure(CLUSTER)
        stack.destroy()
    names = addresses(shown)
    quiet = {"a second plan": again, "a plan by the other kind": crossed}
    return Made(
        facts={
            "first plan": facts.plan(first, {}),
            "plan of a change": facts.plan(change, names),
            "state": facts.state(hidden, names),
            "certificates and requests": facts.issued(shown, names),
            "keys": facts.keys(shown),
            "results": facts.results(outputs, names),
        },
        surprises=[
            f"made with {kind} plugins, {what} has changes: {loud(plan)}"
            for what, plan in quiet.items()
            if not facts.is_quiet(plan)
        ],
    )


def loud(plan: Mapping[str, Any]) -> str:
    """Which resources a plan changes."""
    changed = {name: step["op"] for name, step in facts.plan(plan, {}).items()}
    return ", ".join(f"{op} {name}" for name, op in changed.items() if op != "same")


def report(official: Made, ours: Made) -> tuple[list[str], int]:
    """The comparison as lines, and how the program ends."""
    lines = [*official.surprises, *ours.surprises]
    status = DIFFERENT if lines else AGREED
    for what, found in official.facts.items():
        different = differences(found, ours.facts[what])
        status = DIFFERENT if different else status
        verdict = f"{len(different)} differences" if different else "agree"
        lines += [f"{what}: {len(found)} compared, {verdict}", *(f"  {line}" for line in different)]
    return lines, status


def run(official: Mapping[str, Path]) -> int:
    """Make both, compare and tell. Raises BenchError."""
    with tempfile.TemporaryDirectory(prefix="kubernetes-anywhere-plugins-") as name:
        folder = Path(name)
        homes = [
            find.plugin_home(folder / f"{kind}-home", plugins, os.environ)
            for kind, plugins in zip(SIDES, (official, {}), strict=True)
        ]
        made = [
            make(folder, kind, home, other)
            for kind, home, other in zip(SIDES, homes, homes[::-1], strict=True)
        ]
    versions = ", ".join(f"{name} v{find.wanted(name)}" for name in find.NAMES)
    print(f"official plugins and stand-ins, {versions}, {dt.datetime.now(dt.UTC):%Y-%m-%d}")
    lines, status = report(*made)
    print("\n".join(lines))
    return status


def main() -> int:
    """Entry point."""
    official, missing = find.find(os.environ)
    if missing:
        print("not compared: official plugins cannot be had here", *missing, sep="\n  ")
        return NOT_TO_BE_HAD
    try:
        return run(official)
    except BenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
