"""Work in steps, two at a time, with lines that a person can follow."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass

_PULSE_SECONDS = 60.0  # how often a long step says that it is alive


Note = Callable[[str], None]  # how a step says how far it is


class BuildError(Exception):
    """Something could not be made; the message says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing to make, such as `kubernetes v1.37.2`."""

    label: str
    made: Callable[[], bool]  # nothing to do?
    make: Callable[[Note], None]


def line(number: int, total: int, label: str, seconds: float | None = None, note: str = "") -> str:
    """A progress line: `[ 3/14] kubelet v1.37.2 … 74 s`."""
    width = len(str(total))
    parts = [f"[{number:>{width}}/{total}] {label} …"]
    if seconds is not None:
        parts.append(f"{seconds:.0f} s")
    if note:
        parts.append(f"({note})")
    return " ".join(parts)


def say(text: str) -> None:
    """Print a line at once."""
    # At once: two builds speak side by side.
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


class _Pulse:
    """Says every minute how far a step is."""

    def __init__(self, number: int, total: int, label: str) -> None:
        self._where = (number, total, label)
        self._note = ""
        self._done = threading.Event()
        self._start = time.monotonic()
        threading.Thread(target=self._beat, daemon=True).start()

    def seconds(self) -> float:
        return time.monotonic() - self._start

    def note(self, text: str) -> None:
        self._note = text

    def stop(self) -> None:
        self._done.set()

    def _beat(self) -> None:
        while not self._done.wait(_PULSE_SECONDS):
            say(line(*self._where, self.seconds(), self._note or "still at it"))


def _run(number: int, total: int, step: Step) -> None:
    pulse = _Pulse(number, total, step.label)
    say(line(number, total, step.label))
    try:
        step.make(pulse.note)
    finally:
        pulse.stop()
    say(line(number, total, step.label, pulse.seconds()))


def run(steps: Sequence[Step], *, at_once: int = 2) -> None:
    """Make what is not there yet, in order. Raises BuildError.

    Two at once, because a compiler fills all cores but a linker only one.
    """
    todo = [step for step in steps if not step.made()]
    with ThreadPoolExecutor(at_once) as pool:
        futures = [
            pool.submit(_run, number, len(todo), step) for number, step in enumerate(todo, start=1)
        ]
        wait(futures, return_when=FIRST_EXCEPTION)
        pool.shutdown(wait=False, cancel_futures=True)  # after a failure, begin nothing new
    for future in futures:
        if not future.cancelled():
            future.result()
