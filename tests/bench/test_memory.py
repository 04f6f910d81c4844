"""The memory of a process tree, and of a real one."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from bench.memory import Peak, resident

PAGE = os.sysconf("SC_PAGE_SIZE")


def process(proc: Path, pid: int, pages: int, tasks: dict[int, str]) -> None:
    (proc / str(pid)).mkdir()
    (proc / str(pid) / "statm").write_text(f"1000 {pages} 1 1 0 1 0\n")
    for task, children in tasks.items():
        (proc / str(pid) / "task" / str(task)).mkdir(parents=True)
        (proc / str(pid) / "task" / str(task) / "children").write_text(children)


def test_children_of_every_thread_count(tmp_path: Path) -> None:
    process(tmp_path, 1, 10, {1: "3 ", 2: "4 "})
    process(tmp_path, 3, 5, {3: "5"})
    process(tmp_path, 4, 2, {4: ""})
    process(tmp_path, 9, 1000, {9: ""})  # somebody else's
    assert resident(1, tmp_path) == 17 * PAGE, "5 has ended meanwhile"


def test_a_grandchild_s_memory_is_seen() -> None:
    grandchild = "import time; memory = bytearray(64 << 20); print(flush=True); time.sleep(60)"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {grandchild!r}])"
    with subprocess.Popen([sys.executable, "-c", child], stdout=subprocess.PIPE) as made:
        assert made.stdout
        peak = Peak(made.pid)
        made.stdout.readline()
        until = time.monotonic() + 20
        while resident(made.pid) < 64 << 20:
            assert time.monotonic() < until
        time.sleep(0.6)  # two samples
        children = Path(f"/proc/{made.pid}/task/{made.pid}/children").read_text().split()
        for pid in map(int, children):
            os.kill(pid, 9)
        made.wait()
        assert 64 < peak.stop() < 300
