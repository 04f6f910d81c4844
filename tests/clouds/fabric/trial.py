"""A small simulated cloud for tests of the fabric: three machines, and how they are asked.

Their listeners say who they are and who asks, so that an answer tells which way a packet took.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

import yaml

from components.local.containers import networks
from components.local.containers.shell import run
from tests.clouds.fabric.apply import apply
from tests.clouds.fabric.model import BALANCED, Balancer, Fabric, Machine, Network, Probe, Rule
from tests.clouds.fabric.place import Place

if TYPE_CHECKING:
    from pathlib import Path

INTERNET = IPv4Network("198.18.240.0/24")
COMPUTER, TRANSLATED, KEPT, NAT = (str(INTERNET[index]) for index in (1, 20, 21, 22))
OPEN, CLOSED, BEHIND, SECURE = 8080, 8081, 8082, 8443
EVERYTHING = Rule(protocol="any", ports=None, peers=("0.0.0.0/0",))
PASSES, LOST = 5.0, 0.4  # seconds after which a packet is lost that should pass, or should not
NAMES = ("fabtest-a", "fabtest-b", "fabtest-c")

# Each listener answers "NAME PEER", the secure one as a web server whose certificate nobody knows.
UNIT = """\
[Service]
ExecStart=socat {},fork,reuseaddr{} EXEC:{}
[Install]
WantedBy=multi-user.target
"""
SAY, WELL, CERTIFICATE = "/usr/local/bin/say", "/usr/local/bin/well", "/etc/listener.pem"
FILES = {
    SAY: '#!/bin/sh\necho "$(hostname) $SOCAT_PEERADDR"\n',
    WELL: "#!/bin/sh\nsed '/^.\\?$/q' >>/var/log/asked\nprintf 'HTTP/1.0 200 OK\\r\\n\\r\\n'\n",
    "/etc/systemd/system/say@.service": UNIT.format("TCP4-LISTEN:%i", "", SAY),
    "/etc/systemd/system/well@.service": UNIT.format(
        "OPENSSL-LISTEN:%i", f",cert={CERTIFICATE},verify=0", WELL
    ),
}
COMMANDS = [
    *(["sh", "-c", 'printf %s "$1" >"$0" && chmod 0755 "$0"', *file] for file in FILES.items()),
    (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=listener"
        f" -keyout {CERTIFICATE} -out {CERTIFICATE}"
    ),
    f"systemctl enable --now say@{OPEN} say@{CLOSED} say@{BEHIND} well@{SECURE}",
]


def tcp(port: int, *peers: str) -> Rule:
    return Rule(protocol="tcp", ports=(port, port), peers=peers)


class Cloud:
    """The simulated cloud that the tests change, and how they ask it."""

    def __init__(self, folder: Path) -> None:
        self.place = Place(
            cloud="fabtest",
            internet=str(INTERNET),
            mirror_directory=str(folder / "mirror"),
            folder=folder / "fabric",
        )
        (folder / "mirror").mkdir()
        (folder / "mirror" / "hello").write_text("from the mirror")
        used = [*networks._engine_networks(), *networks._host_routes()]
        free = (
            cidr
            for cidr in IPv4Network("10.200.0.0/13").subnets(new_prefix=24)
            if not networks.overlap(cidr, used)
        )
        self.cidr, self.other = next(free), next(free)
        self.key = folder / "login"
        run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.key)])
        login = {"ubuntu": (self.key.with_suffix(".pub").read_text(),)}
        public = (str(INTERNET[16]), str(INTERNET[17]), None)
        user_data = f"#cloud-config\n{yaml.safe_dump({'runcmd': COMMANDS})}"
        self.base = Fabric(
            networks={"net": Network(id="net", cidr=str(self.cidr), mtu=1460, internet=True)},
            machines={
                name: Machine(
                    id=name,
                    name=name,
                    network="net",
                    address=str(self.cidr[10 + index]),
                    public_address=public[index],
                    mtu=1460,
                    login_keys=login,
                    user_data=user_data,
                    inbound=(
                        tcp(22, COMPUTER),
                        tcp(OPEN, "0.0.0.0/0"),
                        tcp(BEHIND, BALANCED),
                        tcp(SECURE, str(self.cidr[9])),
                    ),
                    outbound=(EVERYTHING,),
                )
                for index, name in enumerate(NAMES)
            },
        )

    def address(self, name: str) -> str:
        return self.base.machines[name].address

    def public(self, name: str) -> str:
        return self.base.machines[name].public_address or ""

    def apply(self, fabric: Fabric) -> None:
        apply(fabric, self.place)

    def start(self) -> None:
        """Make it, after what a run that was killed has left, and wait until it listens."""
        self.apply(Fabric())
        for line in leftovers():
            run(["losetup", "--detach", line.split()[0]])
        self.apply(self.base)
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda name: inside(name, "cloud-init status --wait"), NAMES))
        until(lambda: all(inside(name, f"ss -Hltn sport = :{BEHIND}") for name in NAMES))

    def machine(self, name: str, **changes: Any) -> Fabric:
        """The base with one machine that differs."""
        machines = dict(self.base.machines)
        machines[name] = replace(machines[name], **changes)
        return replace(self.base, machines=machines)

    def balanced(self, *backends: str, **changes: Any) -> Balancer:
        """A balancer that translates and finds nobody well, unless it is said otherwise."""
        probe = Probe(
            protocol="tcp",
            port=9,
            path="",
            source=str(self.cidr[9]),
            interval_seconds=1,
            healthy=1,
            unhealthy=1,
        )
        balancer = Balancer(
            id="lb",
            network="net",
            address=TRANSLATED,
            port=443,
            backend_port=BEHIND,
            backends=backends,
            translate=True,
            clients=None,
            probe=probe,
        )
        return replace(balancer, **changes)

    def keeping(self, *backends: str, fabric: Fabric | None = None) -> Fabric:
        """A fabric with a balancer that leaves the destination as it is."""
        balancer = self.balanced(
            *backends, address=KEPT, port=OPEN, backend_port=OPEN, translate=False
        )
        probe = replace(balancer.probe, source="35.191.0.1", port=OPEN)
        found = fabric or self.base
        machines = {
            name: replace(machine, local_addresses=(KEPT,) if name in backends else ())
            for name, machine in found.machines.items()
        }
        return replace(found, machines=machines, balancers={"lb": replace(balancer, probe=probe)})


def inside(name: str, command: str) -> str:
    """Run a shell's line in a container."""
    return run(["docker", "exec", name, "sh", "-c", command]).strip()


def from_computer(address: str, port: int, limit: float = PASSES, tos: int = 0) -> str | None:
    """What the listener answers; None when the packet is lost."""
    try:
        with socket.socket() as made:
            made.settimeout(limit)
            made.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, tos)
            made.connect((address, port))
            return made.makefile().readline().strip()
    except TimeoutError:
        return None
    except ConnectionRefusedError:
        return "refused"


def from_machine(
    name: str, address: str, port: int, limit: float = PASSES, more: str = ""
) -> str | None:
    """The same from a machine."""
    target = f"TCP4:{address}:{port},connect-timeout={limit}{more}"
    return inside(name, f"socat -T{limit} -u {target} - 2>/dev/null || true") or None


@contextlib.contextmanager
def listening(address: str) -> Iterator[tuple[int, list[str]]]:
    """This computer says hello there: the port, and who has asked."""
    seen: list[str] = []

    def answer(server: socket.socket) -> None:
        with contextlib.suppress(OSError):  # the end
            while True:
                connection, (peer, _) = server.accept()
                seen.append(peer)
                with connection:
                    connection.sendall(b"hello\n")

    with socket.create_server((address, 0)) as server:
        threading.Thread(target=answer, args=(server,), daemon=True).start()
        yield server.getsockname()[1], seen


def until(holds: Callable[[], bool], limit: float = 30.0) -> None:
    """Wait for a condition."""
    end = time.monotonic() + limit
    while not holds():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.05)


def leftovers() -> list[str]:
    """What of the simulated cloud is on this computer."""
    commands = (
        "docker ps --all --format {{.Names}}",
        "docker volume ls --format {{.Name}}",
        "docker network ls --format {{.Name}}",
        "losetup --list --noheadings --output NAME,BACK-FILE",
    )
    listed = [line for command in commands for line in run(command.split()).splitlines()]
    addresses = run(["ip", "-oneline", "-4", "address"]).splitlines()
    return [
        *(line for line in listed if "fabtest" in line),
        *(line for line in addresses if f"{COMPUTER}/" in line),
    ]
