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
    r"(?<![\w/.$}\"*-])/(etc|var/lib|var/log|opt|run|usr/lib|usr/libexec|usr/local|proc|sys)\b"
    r"(?=[/ '\"|)\n;]|$)",
    re.MULTILINE,
)
LONG_WAIT = "SECONDS + $1"
PATIENCE = "patience=90"
STEADY = "steady_seconds=3"
CTR = "opt/kubernetes-anywhere/containerd-2.3.4/bin/ctr"
NAME = "test-master-0"

STUBS = {
    "hostname": f"echo {NAME}",
    "sleep": "exec /bin/sleep 0.02",
    "cloud-init": 'exit "$(cat "$ROOT/cloud-init" 2>/dev/null || echo 0)"',
    "sysctl": "! [[ -e $ROOT/broken/sysctl ]]",
    "ss": 'cat "$ROOT/listening" 2>/dev/null || true',
    "ip": """
        case "$*" in
          *"address show to $(cat "$ROOT/address")/32") echo '2: eth0 inet 172.30.0.10/24' ;;
          *'address show') echo '2: eth0 inet 192.0.2.7/24' ;;
          *'route show') cat "$ROOT/routes" ;;
          '-o link') sed 's/^/9: /; s/$/: <UP>/' "$ROOT/links" ;;
        esac
    """,
    "nft": "true",
    "id": 'cat "$ROOT/uid" 2>/dev/null || echo 0',
    "df": 'echo; cat "$ROOT/disk/$(basename "${@: -1}")" 2>/dev/null || cat "$ROOT/disk/all"',
    "findmnt": 'cat "$ROOT/options"',
    "modprobe": "false",
    "systemd-detect-virt": "false",
    "date": """
        [[ $* == +%s ]] || exec /bin/date "$@"
        echo $(($(/bin/date +%s) + $(cat "$ROOT/ahead" 2>/dev/null || echo 0)))
    """,
    "uname": 'cat "$ROOT/uname$1"',
    "journalctl": 'echo "journal of $2"',
    "systemctl": """
        unit=${@: -1}
        case $1 in
          show) head -n1 "$ROOT/pids" && sed -i 1d "$ROOT/pids" ;;
          is-active) [[ -e $ROOT/active/$unit ]]; exit ;;
          list-units)
            for unit; do
              [[ ! -e $ROOT/active/${unit%.service} ]] || echo "$unit loaded active running"
            done ;;
          start | restart)
            [[ ! -e $ROOT/broken/$unit ]] || exit 1
            touch "$ROOT/active/$unit"
            if [[ $unit == kubelet && -f $ROOT/etc/kubernetes/manifests/etcd.yaml ]]; then
              mkdir -p "$ROOT/var/lib/etcd/member"
            fi ;;
        esac
    """,
    "curl": """
        url=${@: -1}
        case $url in # of etcd: the addresses where it is well, and what its peers' port answers
          *:2379/health) grep -qxF "$url" "$ROOT/etcds" 2>/dev/null; exit ;;
          *:2380/members) cat "$ROOT/peers" 2>/dev/null; exit ;;
        esac
        if [[ $1 == -*I* ]]; then
          if grep -qxF "$url" "$ROOT/away" 2>/dev/null; then
            echo "curl: (7) Failed to connect" >&2
            exit 7
          fi
          status=200
          if grep -qxF "$url" "$ROOT/unknown" 2>/dev/null; then status=404; fi
          printf 'HTTP/1.1 %s x\r\nDate: %s\r\n\r\n' "$status" "$(/bin/date -R)"
          exit
        fi
        while (($# > 1)); do
          if [[ $1 == -o ]]; then
            gone away-www && { echo "curl: (18) transfer closed" >&2; exit 18; }
            cp "$ROOT/www/${url##*/}" "$2" && exit
            echo "curl: (22) The requested URL returned error: 404" >&2
            exit 22
          fi
          shift
        done
        ! grep -qxF "$url" "$ROOT/unhealthy" 2>/dev/null
    """,
    "systemd-run": """
        until [[ $1 == /bin/sh ]]; do shift; done
        printf '%s\n' "${@:7}" >>"$ROOT/images"
    """,
    "ctr": """
        case "$*" in
          *'containers ls'*)
            pod=${@: -1} pod=${pod##*==} pod=${pod%-"$(hostname)"}
            [[ ! -f $ROOT/etc/kubernetes/manifests/$pod.yaml ]] ||
              echo "$pod-$(sha256sum <"$ROOT/etc/kubernetes/manifests/$pod.yaml" | cut -c1-16)" ;;
          *'tasks ls'*)
            echo 'TASK PID STATUS'
            if [[ $* == *-q ]]; then printf 'kubelet\nkube-proxy-1\ncoredns-1\n'; exit; fi
            for path in "$ROOT"/etc/kubernetes/manifests/*.yaml; do
              pod=${path##*/} pod=${pod%.yaml}
              echo "$pod-$(sha256sum <"$path" | cut -c1-16) 1 RUNNING"
            done ;;
          *'containers info kube-proxy-1')
            echo '"source": "'"$ROOT"'/etc/kubernetes/in-cluster.kubeconfig"' ;;
          *'containers info'*) echo '"source": "/etc/kubernetes"' ;;
          *' run '*' etcdctl etcdctl '*)
            until [[ $1 == member ]]; do shift; done
            if [[ -d $ROOT/var/lib/etcd/member ]]; then # it runs, and has told who it is
              at=https://$(<"$ROOT/address")
              told=", started, $(hostname), $at:2380, $at:2379, "
              sed -i -E "s|, [a-z]+, [^,]*, $at:2380, , |$told|" "$ROOT/members"
            fi
            line=$(grep "^$3, " "$ROOT/members" || true)
            if grep -qF "$2" "$ROOT/refuses" 2>/dev/null; then echo "etcd: no $2" >&2; exit 1; fi
            case $2 in
              add) echo "9f, unstarted, , ${5#*=}, , true" >>"$ROOT/members" ;;
              promote) sed -i "s|^$3, .*|${line%true}false|" "$ROOT/members" ;;
              remove)
                [[ -n $line ]] || { echo 'member not found' >&2; exit 1; }
                sed -i "/^$3, /d" "$ROOT/members" ;;
            esac
            cat "$ROOT/members" ;;
          *'images ls'*)
            reference=${@: -1}
            grep -xF "${reference##*==}" "$ROOT/images" 2>/dev/null || true ;;
          *'images pull'*)
            reference=${@: -1}
            gone away-registry && { echo 'connection refused' >&2; exit 1; }
            if grep -qxF "$reference" "$ROOT/missing" 2>/dev/null; then
              echo 'not found' >&2
              exit 1
            fi
            echo "$reference" >>"$ROOT/images" ;;
        esac
    """,
}
# gone WHAT: so many times more, as the file says, it is not there.
GONE = """
gone() { ( # images are pulled side by side
  [[ -f $ROOT/$1 ]] || exit 1
  exec 8<"$ROOT/$1" && flock 8
  left=$(<"$ROOT/$1")
  ((left > 0)) && echo $((left - 1)) >"$ROOT/$1"
) }
"""
# What is asked often and changes nothing.
QUESTIONS = {"hostname", "sleep", "ss", "ip", "nft", "id", "df", "findmnt", "modprobe", "date"} | {
    *("systemd-detect-virt", "uname", "journalctl", "cloud-init"),
}
# A host that is fit for anything; the links of `ip` and what else is not a file of the host's are
# files beside it.
FIT = {
    "/etc/os-release": 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Test Linux"\n',
    "/proc/cgroups": "".join(f"{name} 0 1 1\n" for name in ("cpu", "cpuset", "memory", "pids")),
    "/proc/kallsyms": "".join(
        f"0 t {name}_init\n"
        for name in ("ovl", "nf_conntrack", "nf_tables", "xt", "br_nf", "vxlan")
    ),
    "/proc/modules": "",
    "/proc/self/mountinfo": "",
    "/proc/sys/kernel/random/boot_id": "this-boot\n",
    "/proc/swaps": "Filename Type Size Used Priority\n",
    "/proc/sys/fs/inotify/max_user_instances": "8192\n",
    "/proc/sys/net/ipv4/ip_forward": "0\n",
    "/sys/class/net/eth0/mtu": "1500\n",
    "/sys/fs/cgroup/cgroup.controllers": "cpuset cpu io memory pids\n",
    "address": "172.30.0.10\n",
    "pids": "",
    "disk/all": "/dev/x 99999 0 90000 0% /\n",
    "links": "lo\neth0\n",
    "options": "rw,relatime\n",
    "routes": "default via 172.30.0.1 dev eth0\n172.30.0.0/24 dev eth0 scope link\n",
    "uname-m": "x86_64\n",
    "uname-r": "6.1.0-31-amd64\n",
}


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
        self.patience = 0  # seconds
        self.wait = "1"  # seconds, as bash reads them; "$1" is as long as the program says
        for folder in ("bin", "active", "broken", "www", "etc", "run/systemd/system"):
            self.path(folder).mkdir(parents=True, exist_ok=True)
        for name, text in FIT.items():
            self.write(name, text)
        for name, body in STUBS.items():
            self.stub(CTR if name == "ctr" else f"bin/{name}", name, body)

    def stub(self, path: str, name: str, body: str) -> None:
        """Put a program in place of a real one, which writes down how it was called."""
        log = "" if name in QUESTIONS else f'echo "{name} $*" >>"$ROOT/calls"\n'
        self.write(path, f"#!/bin/bash\n{log}{GONE}{body}\n")
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
        assert PATIENCE in text, "how long it persists is written differently: adapt the sandbox"
        moved = HOST_PATH.sub(lambda found: f"{self.root}{found[0]}", text)
        self.path("calls").unlink(missing_ok=True)
        done = subprocess.run(
            ["bash", "-s"],
            input=moved.replace(LONG_WAIT, f"SECONDS + {self.wait}")
            .replace(PATIENCE, f"patience={self.patience}")
            .replace(STEADY, "steady_seconds=0")
            .encode(),
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
            stdout=done.stdout.decode().replace(str(self.root), ""),
            stderr=done.stderr.decode().replace(str(self.root), ""),
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
