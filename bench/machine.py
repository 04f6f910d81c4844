"""The computer that figures were found on."""

from __future__ import annotations

import os
import platform
import re
import time
from dataclasses import dataclass
from pathlib import Path

_PROBE_BYTES = 256 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """What figures depend on."""

    cores: int
    processor: str
    memory_gib: float
    kernel: str


def this_machine() -> Machine:
    """The computer at hand."""
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    total = re.search(r"^MemTotal:\s+(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return Machine(
        cores=os.cpu_count() or 1,
        processor=model[1] if model else platform.machine(),
        memory_gib=round(int(total[1]) / (1 << 20), 1) if total else 0.0,
        kernel=platform.release(),
    )


def memory_speed() -> float:
    """GB/s at which memory is copied right now: on a shared computer it explains the outliers."""
    source = bytes(_PROBE_BYTES)
    began = time.perf_counter()
    bytearray(source)
    return _PROBE_BYTES / (time.perf_counter() - began) / 1e9
