"""Masters that are folders, with a real etcd each: on loopback addresses, at its real ports.

The steps run in sandboxes as a host's bash runs them; their curl and etcdctl are real ones. A
thread plays the kubelets: it runs etcd as the manifest in each sandbox says, and ends it with the
manifest.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
import time
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from airgap import paths
from bootstrap import render
from interface import PKI
from model import Role
from tests.bootstrap.api_server import builder, pem
from tests.bootstrap.sandbox import CTR, Ran, Sandbox
from tests.bootstrap.views import on, view
from versions import DEFAULT_RELEASE, RELEASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ADDRESSES = {f"test-master-{index}": f"127.98.76.{10 + index}" for index in range(3)}
MANIFEST = "/etc/kubernetes/manifests/etcd.yaml"
DATA = "/var/lib/etcd"
STUBS = {
    "sleep": 'exec /bin/sleep "$@"',
    # The kubelet and its like are well as long as they were started; etcd is asked itself.
    "curl": 'if [[ $* == *:2379/* || $* == *:2380/* ]]; then exec /usr/bin/curl "$@"; fi',
    "systemctl": """
        unit=${@: -1}
        case $1 in
          is-active) [[ -e $ROOT/active/$unit ]] ;;
          start | restart) touch "$ROOT/active/$unit" ;;
        esac
    """,
    "ctr": """
        case "$*" in
          *'containers ls'*==etcd-*) cat "$ROOT/etcd-runs" 2>/dev/null || true ;;
          *'tasks ls'*) [[ ! -e $ROOT/etcd-runs ]] || echo "$(<"$ROOT/etcd-runs") 1 RUNNING" ;;
          *' run '*)
            until [[ $1 == etcdctl && $2 == etcdctl ]]; do shift; done
            exec "$ETCD/etcdctl" "${@:3}" ;;
        esac
    """,
}


def programs() -> Path | None:
    """Where etcd and etcdctl of the default release are, if they were built here."""
    version = RELEASES[DEFAULT_RELEASE].etcd
    found = sorted((paths.cache() / "bin" / "etcd").glob(f"v{version.removeprefix('v')}-*/etcd"))
    return found[-1].parent if found else None


def keys() -> dict[str, str]:
    """etcd's CA, and what it signed: one certificate for all members and for who asks them."""
    ca_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    ca = (
        builder("ca", "ca", ca_key)
        .add_extension(constraints, critical=True)
        .sign(ca_key, hashes.SHA256())
    )
    names = [x509.IPAddress(ip_address(text)) for text in ("127.0.0.1", *ADDRESSES.values())]
    leaf = (
        builder("member", "ca", key)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(ca_key, hashes.SHA256())
    )
    authority, certificate = (
        item.public_bytes(serialization.Encoding.PEM).decode() for item in (ca, leaf)
    )
    pairs = {
        f"{PKI}/{name}.{kind}": text
        for name in ("etcd", "apiserver-etcd-client")
        for kind, text in (("crt", certificate), ("key", pem(key)))
    }
    return {f"{PKI}/etcd-ca.crt": authority, **pairs}


@dataclass
class Masters:
    """The masters of a cluster, by name; who has no entry in `hosts` has no machine."""

    folder: Path
    programs: Path
    keys: dict[str, str]
    hosts: dict[str, Sandbox] = field(default_factory=dict)
    founders: set[str] = field(default_factory=set)  # by their machines' folders
    etcds: dict[str, tuple[str, subprocess.Popen[bytes]]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    machines: int = 0

    def machine(self, name: str, *, founder: bool = False) -> None:
        """A new machine in place of the one of that name, if there was one."""
        self.lose(name)
        self.machines += 1
        root = self.folder / f"machine-{self.machines}"
        root.mkdir()
        host = Sandbox(root)
        host.wait = "$1"
        for stub, body in STUBS.items():
            host.stub(
                CTR if stub == "ctr" else f"bin/{stub}", stub, f"ETCD={self.programs}\n{body}"
            )
        host.stub("bin/hostname", "hostname", f"echo {name}")
        with self.lock:
            self.hosts[name] = host
        if founder:
            self.founders.add(str(root))

    def lose(self, name: str) -> None:
        """The machine goes, with its etcd and its disk."""
        with self.lock:
            self.hosts.pop(name, None)
            self._end(name)

    def up(self, *names: str) -> list[Ran]:
        """What `pulumi up` does on the masters of such a config, one after another."""
        return [self.activate(name, *names) for name in names]

    def activate(self, name: str, *names: str) -> Ran:
        """Both halves of the activation of one."""
        host, found = self.hosts[name], view(Role.MASTER, masters=3)
        spec = next(spec for spec in found.config.hosts if spec.name == name)
        found = on(
            found,
            spec=spec,
            address=ADDRESSES[name],
            masters={other: ADDRESSES[other] for other in names},
            founder=str(host.root) in self.founders,
        )
        first = host.run(render.identity(found, self.keys))
        assert first.status == 0, first.stderr
        return host.run(render.activate(found, {}))

    # The kubelets

    def play(self, stop: threading.Event) -> None:
        while not stop.wait(0.05):
            with self.lock:
                for name, host in self.hosts.items():
                    self._sync(name, host)
        with self.lock:
            for name in list(self.etcds):
                self._end(name)

    def _sync(self, name: str, host: Sandbox) -> None:
        manifest = host.path(MANIFEST)
        wanted = ""
        if manifest.exists() and host.path("active/kubelet").exists():
            with contextlib.suppress(FileNotFoundError):
                wanted = manifest.read_text()
        text, process = self.etcds.get(name, ("", None))
        if process and (text != wanted or process.poll() is not None):
            self._end(name)
            host.path("etcd-runs").unlink()
        if wanted and name not in self.etcds:
            self.etcds[name] = (wanted, self._start(name, host, wanted))
            host.write("etcd-runs", f"etcd-{self.etcds[name][1].pid}\n")

    def _start(self, name: str, host: Sandbox, manifest: str) -> subprocess.Popen[bytes]:
        command = yaml.safe_load(manifest)["spec"]["containers"][0]["command"]
        client = f"--listen-client-urls=https://{ADDRESSES[name]}:2379"
        flags = [client if "listen-client" in flag else flag for flag in command[1:]]
        with host.path("etcd.log").open("ab") as log:
            return subprocess.Popen(
                [str(self.programs / "etcd"), *(f for f in flags if "listen-metrics" not in f)],
                stdout=log,
                stderr=log,
            )

    def _end(self, name: str) -> None:
        _, process = self.etcds.pop(name, ("", None))
        if process:
            process.kill()
            process.wait()

    def stop_etcd(self, name: str) -> None:
        """The kubelet of a master ends, and with it what it runs."""
        with self.lock:
            self.hosts[name].path("active/kubelet").unlink()
        wait(lambda: name not in self.etcds)

    def pid(self, name: str) -> int:
        return self.etcds[name][1].pid

    # Looking at it

    def etcdctl(self, at: str, *arguments: str) -> str:
        """What etcdctl says at a master."""
        pki = self.hosts[at].path(PKI)
        return subprocess.run(
            [
                str(self.programs / "etcdctl"),
                f"--endpoints=https://{ADDRESSES[at]}:2379",
                *(f"--cacert={pki}/etcd-ca.crt", f"--cert={pki}/etcd.crt", f"--key={pki}/etcd.key"),
                *arguments,
            ],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout

    def members(self, at: str) -> dict[str, dict[str, Any]]:
        """Every member, by name."""
        listed = json.loads(self.etcdctl(at, "member", "list", "-w", "json"))["members"]
        return {item.get("name", ""): item for item in listed}

    def voters(self, at: str) -> set[str]:
        """Those that vote, are healthy, and have been seen."""
        self.etcdctl(at, "endpoint", "health", "--cluster")
        return {name for name, item in self.members(at).items() if not item.get("isLearner")}


def wait(found: Callable[[], object], limit: float = 30) -> None:
    """Wait until it is so."""
    until = time.monotonic() + limit
    while not found():
        assert time.monotonic() < until
        time.sleep(0.05)


@contextlib.contextmanager
def masters(folder: Path, found: Path) -> Iterator[Masters]:
    """No machine yet; all of them are gone afterwards."""
    made, stop = Masters(folder, found, keys()), threading.Event()
    thread = threading.Thread(target=made.play, args=(stop,), daemon=True)
    thread.start()
    try:
        yield made
    finally:
        stop.set()
        thread.join()
