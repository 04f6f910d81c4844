"""A plugin as a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[2]


def _runs(pid: int) -> bool:
    """Whether the process is there, and is no corpse that its new parent has not looked at yet."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


@pytest.mark.parametrize("name", ["tls", "command"])
def test_a_plugin_ends_when_the_engine_that_started_it_was_killed(name: str) -> None:
    engine = subprocess.Popen(
        ["sh", "-c", f'"{sys.executable}" -m airgap.plugins {name} & echo $!; wait'],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert engine.stdout is not None
    plugin, port = int(engine.stdout.readline()), int(engine.stdout.readline())
    assert 0 < port < 65536
    os.kill(engine.pid, signal.SIGKILL)
    engine.wait()
    until = time.monotonic() + 10
    while _runs(plugin) and time.monotonic() < until:
        time.sleep(0.1)
    assert not _runs(plugin), "it outlived its engine"


def test_the_command_plugin_starts_without_ssh() -> None:
    """It takes as long to load as all the rest, and a preview dials nobody."""
    script = "import airgap.plugins.command, sys; print('asyncssh' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=_ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
