"""Runs the shell programs for real, as a host's bash does, against a folder instead of a host.

Every absolute path of the text is moved below the folder, and what would touch this computer
(systemctl, ctr, curl, ...) is a stub that writes down how it was called. The stub of `ctr` plays
the kubelet, too: a static pod's container is a new one as soon as its manifest is.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bootstrap.step import File, place, read

if TYPE_CHECKING:
    from pathlib import Path

HOST_PATH = re.compile(
    r"(?<![\w/.$}\"*-])/(etc|var/lib|opt|run|proc/sys)\b(?=[/ '\"|)\n;]|$)", re.MULTILINE
)
LONG_WAIT = "SECONDS + $1"
CTR = "opt/kubernetes-anywhere/containerd-2.3.4/bin/ctr"
NAME = "test-master-0"

STUBS = {
    "hostname": f"echo {NAME}",
    "sleep": "exec /bin/sleep 0.02",
    "cloud-init": 'exit "$(cat "$ROOT/cloud-init" 2>/dev/null || echo 0)"',
    "sysctl": "! [[ -e $ROOT/broken/sysctl ]]",
    "ss": 'cat "$ROOT/listening" 2>/dev/null || true',
    "uname": '[[ $1 == -m ]] && cat "$ROOT/machine" 2>/dev/null || /bin/uname "$@"',
    "journalctl": 'echo "journal of $2"',
    "systemctl": """
        unit=${@: -1}
        case $1 in
          is-active) [[ -e $ROOT/active/$unit ]]; exit ;;
          start | restart)
            [[ ! -e $ROOT/broken/$unit ]] || exit 1
            touch "$ROOT/active/$unit" ;;
        esac
    """,
    "curl": """
        url=${@: -1}
        while (($# > 1)); do
          if [[ $1 == -o ]]; then cp "$ROOT/www/${url##*/}" "$2"; exit; fi
          shift
        done
        ! grep -qxF "$url" "$ROOT/unhealthy" 2>/dev/null
    """,
    "ctr": """
        case "$*" in
          *'containers ls'*)
            pod=${@: -1} pod=${pod##*==} pod=${pod%-"$(hostname)"}
            [[ ! -f $ROOT/etc/kubernetes/manifests/$pod.yaml ]] ||
              echo "$pod-$(sha256sum <"$ROOT/etc/kubernetes/manifests/$pod.yaml" | cut -c1-16)" ;;
          *'tasks ls'*)
            echo 'TASK PID STATUS'
            for path in "$ROOT"/etc/kubernetes/manifests/*.yaml; do
              pod=${path##*/} pod=${pod%.yaml}
              echo "$pod-$(sha256sum <"$path" | cut -c1-16) 1 RUNNING"
            done ;;
          *'images ls'*)
            reference=${@: -1}
            grep -xF "${reference##*==}" "$ROOT/images" 2>/dev/null || true ;;
          *'images pull'*)
            reference=${@: -1}
            if grep -qxF "$reference" "$ROOT/missing" 2>/dev/null; then
              echo 'not found' >&2
              exit 1
            fi
            echo "$reference" >>"$ROOT/images" ;;
        esac
    """,
}
# What is asked often and changes nothing.
QUESTIONS = ("hostname", "sleep", "ss", "uname", "journalctl", "cloud-init")


@dataclass(frozen=True)
class Ran:
    """What a program did."""

    status: int
    stdout: str
    stderr: str
    calls: list[str]  # of the stubs, without what only asks

    @property
    def restarts(self) -> list[str]:
        """The units that were started or restarted, in order."""
        return [call.split()[-1] for call in self.calls if re.match("systemctl (re)?start ", call)]


class Sandbox:
    """A folder that is a host's file system."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for folder in ("bin", "active", "broken", "www", "etc", "run/systemd/system"):
            self.path(folder).mkdir(parents=True, exist_ok=True)
        self.write("/proc/sys/fs/inotify/max_user_instances", "8192\n")
        self.write("etc/os-release", 'PRETTY_NAME="Test Linux"\n')
        for name, body in STUBS.items():
            self._stub(CTR if name == "ctr" else f"bin/{name}", name, body)

    def _stub(self, path: str, name: str, body: str) -> None:
        log = "" if name in QUESTIONS else f'echo "{name} $*" >>"$ROOT/calls"\n'
        self.write(path, f"#!/bin/bash\n{log}{body}\n")
        self.path(path).chmod(0o755)

    def path(self, name: str) -> Path:
        """Where a path of the host is."""
        return self.root / name.lstrip("/")

    def read(self, name: str) -> str:
        return self.path(name).read_text()

    def write(self, name: str, text: str) -> None:
        self.path(name).parent.mkdir(parents=True, exist_ok=True)
        self.path(name).write_text(text)

    def files(self, folder: str) -> set[str]:
        """The names in a folder, hidden ones too."""
        return {path.name for path in self.path(folder).iterdir()}

    def run(self, text: str) -> Ran:
        """Run a step's whole text by standard input, as `ssh HOST bash -s` does."""
        assert LONG_WAIT in text, "how long a wait lasts is written differently: adapt the sandbox"
        moved = HOST_PATH.sub(lambda found: f"{self.root}{found[0]}", text)
        self.path("calls").unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "-s"],
            input=moved.replace(LONG_WAIT, "SECONDS + 1").encode(),
            env={
                "PATH": f"{self.path('bin')}:/usr/bin:/bin",
                "ROOT": str(self.root),
                "HOME": "/nowhere",
            },
            capture_output=True,
            check=False,
            timeout=120,
        )
        calls = self.path("calls")
        return Ran(
            status=done.returncode,
            stdout=done.stdout.decode(),
            stderr=done.stderr.decode(),
            calls=[
                line.replace(str(self.root), "")
                for line in (calls.read_text().splitlines() if calls.exists() else [])
            ],
        )

    def place(self, *files: File, then: str = "commit test") -> Ran:
        """Run the shared functions on some files."""
        return self.run("\n".join((read("common.sh"), *map(place, files), then, "")))

    def pending(self) -> set[str]:
        """What is on record as placed and not yet acted on."""
        record = self.path("/var/lib/kubernetes-anywhere/pending")
        lines = record.read_text().splitlines() if record.exists() else []
        return {line.replace(str(self.root), "") for line in lines}
