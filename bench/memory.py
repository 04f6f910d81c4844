"""The memory of a process and all that it has started, at its highest."""

from __future__ import annotations

import os
import threading
from pathlib import Path

SAMPLE_SECONDS = 0.25
_MEBIBYTE = 1 << 20


def resident(pid: int, proc: Path = Path("/proc")) -> int:
    """Resident bytes of a process and its descendants, by what the kernel says right now.

    A sum: pages that several of them share are counted for each.
    """
    try:
        pages = int((proc / str(pid) / "statm").read_text().split()[1])
        tasks = list((proc / str(pid) / "task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has just ended, or one of its threads has
        return 0
    own = pages * os.sysconf("SC_PAGE_SIZE")
    return own + sum(resident(int(child), proc) for child in children)


class Peak:
    """Looks at a process from time to time, until it is told to stop."""

    def __init__(self, pid: int) -> None:
        self._pid, self._peak = pid, 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stopped.wait(SAMPLE_SECONDS):
            self._peak = max(self._peak, resident(self._pid))

    def stop(self) -> float:
        """End it; the highest sum seen, in MiB."""
        self._stopped.set()
        self._thread.join()
        return self._peak / _MEBIBYTE
