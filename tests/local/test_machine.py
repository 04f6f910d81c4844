"""A real machine on a real Docker engine: SSH gets in, and nothing stays when it is deleted."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

import pytest

from airgap.docker import ensure_engine
from components.local.containers import networks
from components.local.containers.requests import NetworkRequest
from components.local.containers.shell import CommandError, run
from components.local.image.build import ensure_image
from interface import API_PORT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.docker

NAME = "anywhere-test"
MACHINES = (f"{NAME}-0", f"{NAME}-1")


def verb(name: str, /, **request: object) -> dict[str, Any]:
    """Run a verb as the Pulumi program does."""
    done = subprocess.run(
        [sys.executable, "-m", "components.local.docker", name],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "PRIVATE KEY" not in done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def inventory(*bridges: str) -> dict[str, list[str]]:
    """Whatever this cluster could leave on this computer, where other clusters may come and go."""
    return {
        command: sorted(
            line
            for line in run(command.split()).splitlines()
            if any(name in line for name in (NAME, *bridges))
        )
        for command in (
            "docker ps --all --format {{.Names}}",
            "docker volume ls --format {{.Name}}",
            "docker network ls --format {{.Name}}",
            "ip -brief link",
            "findmnt --noheadings --list --output TARGET",
        )
    }


def free_range() -> str:
    """A network that nobody on this computer uses."""
    used = [*networks._engine_networks(), *networks._host_routes()]
    found = (
        cidr
        for cidr in IPv4Network("10.200.0.0/13").subnets(new_prefix=24)
        if not networks.overlap(cidr, used)
    )
    return str(next(found))


class Cluster:
    """Two machines, their keys, and the network that they are on."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.image = ensure_image()
        self.cidr = free_range()
        for name in ("login", *MACHINES):
            run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)])

    def network(self) -> dict[str, Any]:
        return verb("create-network", name=NAME, cidr=self.cidr, internal=True, cluster=NAME)

    def machine(self, name: str) -> dict[str, Any]:
        return verb(
            "create-machine",
            cluster=NAME,
            name=name,
            network=NAME,
            image=self.image,
            authorizedKey=(self.folder / "login.pub").read_text(),
            hostKeyPrivate=(self.folder / name).read_text(),
            hostKeyPublic=(self.folder / f"{name}.pub").read_text(),
        )

    def ssh(self, made: dict[str, Any], command: str) -> str:
        """Log in, trusting nothing but the host key that was made here."""
        kind, key, *_ = (self.folder / f"{made['name']}.pub").read_text().split()
        known = self.folder / f"{made['name']}.known"
        known.write_text(f"{made['sshHost']} {kind} {key}\n")
        login = [f"-i{self.folder / 'login'}", f"-oUserKnownHostsFile={known}", "-oBatchMode=yes"]
        target = [f"-p{made['sshPort']}", f"root@{made['sshHost']}"]
        return run(["ssh", *login, "-oStrictHostKeyChecking=yes", *target, command]).strip()


def delete_all() -> None:
    verb("delete-load-balancer", name=f"{NAME}-api")
    verb("delete-mirror", name=f"{NAME}-mirror")
    for name in MACHINES:
        verb("delete-machine", name=name)
    verb("delete-network", name=NAME)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        ensure_engine()
    except CommandError as error:
        pytest.skip(f"no Docker engine can be had: {error}")
    made = Cluster(tmp_path_factory.mktemp("keys"))
    delete_all()
    yield made
    delete_all()


def test_life_of_a_cluster(cluster: Cluster) -> None:
    before = inventory()
    assert cluster.network() == cluster.network(), "a second create finds the first"
    bridges = run(["docker", "network", "ls", "--quiet", f"--filter=name={NAME}"]).split()
    assert inventory(*bridges)["ip -brief link"], "the bridge is seen while it is there"
    with ThreadPoolExecutor() as pool:
        made = list(pool.map(cluster.machine, MACHINES))
    assert len({item["address"] for item in made}) == len(MACHINES)
    assert len({item["id"] for item in made if item["id"]}) == len(MACHINES)

    for item in made:
        assert cluster.ssh(item, "hostname") == item["name"]
        assert cluster.ssh(item, "systemctl is-system-running --wait") == "running"
        assert cluster.ssh(item, "findmnt -no PROPAGATION /").startswith("shared")
        assert cluster.ssh(item, "stat -c %a /etc/ssh/ssh_host_ed25519_key") == "600"
        assert cluster.ssh(item, "cat /etc/resolv.conf") == f"nameserver {item['address']}"
    first, second = made
    assert cluster.ssh(first, "cat /etc/machine-id") != cluster.ssh(second, "cat /etc/machine-id")

    # A cgroup of one machine is not there for the other.
    place = "$(cd /sys/fs/cgroup/memory 2>/dev/null || cd /sys/fs/cgroup; pwd)/kubepods"
    cluster.ssh(first, f"mkdir {place}")
    assert cluster.ssh(second, f"test -e {place} || echo none") == "none"

    shown = run(["docker", "inspect", *MACHINES])
    assert "PRIVATE KEY" not in shown
    assert "ssh-ed25519" not in shown

    assert cluster.machine(first["name"]) == first, "a second create finds the first"
    run(["docker", "kill", first["name"]])
    assert cluster.machine(first["name"]) == first, "a machine that ended comes back"
    assert cluster.ssh(first, "hostname") == first["name"]

    _balance(cluster, made)
    _mirror(cluster, first)

    run(["docker", "rm", "--force", second["name"]])  # a dead cluster goes away as well
    delete_all()
    delete_all()
    assert inventory(*bridges) == before


def _balance(cluster: Cluster, made: list[dict[str, Any]]) -> None:
    """A new list of backends changes neither the container nor its address."""
    request = {
        "name": f"{NAME}-api",
        "network": NAME,
        "image": cluster.image,
        "cluster": NAME,
        "port": API_PORT,
    }
    balancer = verb("create-load-balancer", **request)
    started = ["docker", "inspect", "--format", "{{.State.StartedAt}}"]
    before = run([*started, balancer["name"]])
    addresses = [item["address"] for item in made]
    answer = verb("configure-load-balancer", name=balancer["name"], backends=addresses)
    assert answer == {**balancer, "backends": addresses}
    assert verb("create-load-balancer", **request) == balancer
    config = run(
        ["docker", "exec", balancer["name"], "cat", "/etc/kubernetes-anywhere/haproxy.cfg"]
    )
    assert all(f"{address}:{API_PORT}" in config for address in addresses), "create keeps them"
    assert run([*started, balancer["name"]]) == before


def _mirror(cluster: Cluster, machine: dict[str, Any]) -> None:
    """A machine without a way out gets files, and what an image registry answers."""
    folder = cluster.folder / "mirror"
    folder.mkdir(mode=0o700)
    (folder / "hello").write_text("from outside")
    request = {"name": f"{NAME}-mirror", "network": NAME, "image": cluster.image, "cluster": NAME}
    made = verb("create-mirror", **request, directory=str(folder))
    assert verb("create-mirror", **request, directory=str(folder)) == made
    assert cluster.ssh(machine, f"curl -fsS {made['url']}/hello") == "from outside"
    assert cluster.ssh(machine, f"curl -fsS {made['url']}/v2/") == "{}"


def test_network_that_overlaps_is_refused(cluster: Cluster) -> None:
    cluster.network()
    with pytest.raises(CommandError, match=rf"Docker network {NAME} .*network\.hostCidr"):
        networks.create_network(
            NetworkRequest(name=f"{NAME}-other", cidr=cluster.cidr, cluster=NAME)
        )
