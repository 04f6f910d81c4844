"""A background job of a shell ignores SIGINT; what it starts has to hear it all the same."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

CHILD = "import signal; print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)"
PARENT = f"""
import subprocess, sys
from airgap.engine import hear_interrupts
if len(sys.argv) > 1: hear_interrupts()
subprocess.run((sys.executable, "-c", {CHILD!r}), check=True)
"""


@pytest.mark.parametrize(("words", "ignores"), [((), "True"), (("hear",), "False")])
def test_what_a_background_job_starts_hears_interrupts(
    words: tuple[str, ...], ignores: str
) -> None:
    was = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        done = subprocess.run(
            (sys.executable, "-c", PARENT, *words), check=True, capture_output=True, text=True
        )
    finally:
        signal.signal(signal.SIGINT, was)
    assert done.stdout.strip() == ignores
