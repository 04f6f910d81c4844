"""Fresh hosts for one run: the local platform's machines, up and with sshd, and a mirror for them.

Both programs that are measured get the same: the same image, network and mirror, hosts that have
just been made and have booted. The network has no way out.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from bench import BenchError
from bench.settings import NAME
from components.local.containers.networks import network_state
from components.local.docker import VERBS
from components.local.image.build import image_tag
from components.local.machine import CPU_SHARES
from components.local.network import STACK_LABEL
from config import ClusterConfig, HostSpec

AT_ONCE = 4  # machines that are made side by side
_TAIL = 3000  # characters of what a failed host said


@dataclass(frozen=True, kw_only=True, slots=True)
class Reached:
    """Where a host is, for the others and for this computer."""

    address: str
    ssh_host: str
    ssh_port: str


def clear(config: ClusterConfig) -> None:
    """Remove the network of a measurement with all that is on it. Raises BenchError."""
    found = network_state(config.name)
    if found and found.labels.get(STACK_LABEL) != NAME:
        raise BenchError(
            f"there is a Docker network {found.name} that no measurement made: remove it first"
        )
    VERBS["delete-network"]({"name": config.name})


class Place:
    """The hosts of a config, for as long as the context lasts. `folder` is for its keys."""

    mirror_url: str
    hosts: Mapping[str, Reached]

    def __init__(self, config: ClusterConfig, mirror: Path, folder: Path) -> None:
        self._config, self._mirror, self._folder = config, mirror, folder
        self._common = {"cluster": config.name, "network": config.name, "image": image_tag()}

    def __enter__(self) -> Self:
        """Make all of it, and wait until it has booted. What an earlier run left goes first.

        Raises BenchError.
        """
        clear(self._config)
        self._folder.mkdir(parents=True)
        for name in ("login", "host"):
            command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "bench", "-f")
            subprocess.run([*command, str(self._folder / name)], check=True)
        try:
            self._make()
        except BaseException:
            clear(self._config)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Remove the hosts and whatever was added to their network."""
        clear(self._config)

    def _make(self) -> None:
        config = self._config
        network = {
            "cidr": config.network.host_cidr,
            "internal": True,
            "labels": {STACK_LABEL: NAME},
        }
        VERBS["create-network"]({"cluster": config.name, "name": config.name, **network})
        mirror = {"name": f"{config.name}-mirror", "directory": str(self._mirror)}
        self.mirror_url = str(VERBS["create-mirror"]({**self._common, **mirror})["url"])
        names = [host.name for host in config.hosts]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            self.hosts = dict(zip(names, pool.map(self._machine, config.hosts), strict=True))
        key = (self._folder / "host.pub").read_text()
        self._known_hosts().write_text("".join(f"{name} {key}" for name in names))
        self.run_on(names, "systemctl is-system-running --wait || true")

    def _machine(self, spec: HostSpec) -> Reached:
        keys = {
            "authorizedKey": (self._folder / "login.pub").read_text(),
            "hostKeyPrivate": (self._folder / "host").read_text(),
            "hostKeyPublic": (self._folder / "host.pub").read_text(),
        }
        shares = CPU_SHARES[spec.role]
        made = VERBS["create-machine"](
            {**self._common, "name": spec.name, "cpuShares": shares, **keys}
        )
        return Reached(
            address=str(made["address"]),
            ssh_host=str(made["sshHost"]),
            ssh_port=str(made["sshPort"]),
        )

    def _known_hosts(self) -> Path:
        return self._folder / "known_hosts"

    def run(self, name: str, text: str) -> str:
        """What a shell script says on a host, over SSH. Raises BenchError."""
        host = self.hosts[name]
        options = {
            "BatchMode": "yes",
            "HostKeyAlias": name,
            "IdentitiesOnly": "yes",
            "UserKnownHostsFile": str(self._known_hosts()),
        }
        command = [
            *("ssh", "-F", "none", "-i", str(self._folder / "login"), "-p", host.ssh_port),
            *(word for key, value in options.items() for word in ("-o", f"{key}={value}")),
            *(f"root@{host.ssh_host}", "bash -s"),
        ]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            said = f"{done.stdout}\n{done.stderr}".strip()[-_TAIL:]
            raise BenchError(f"{name}: the script ended with {done.returncode}:\n{said}")
        return done.stdout

    def run_on(self, names: Iterable[str], text: str) -> None:
        """Run a script on several hosts at once. Raises BenchError."""
        wanted = list(names)
        with ThreadPoolExecutor(max(1, len(wanted))) as pool:
            list(pool.map(lambda name: self.run(name, text), wanted))
