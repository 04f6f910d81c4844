"""A cluster on machines that exist already, through a bastion, and the machines once it is gone.

The machines are simulated: containers on this computer, as plain as hosts are. Minutes, and only by
`make test-long`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import asyncssh
import pytest

from bootstrap.ready import CLUSTER_LABEL
from tests.e2e import machine, metalhosts
from tests.e2e.battery import CHECKS
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import sweep
from tests.e2e.metalhosts import HOSTS, MASTER, NODES, RACK, WAYS, Lab
from tests.e2e.test_pods import Pair
from tests.engine.cli import Config
from validation import MIRROR_VARIABLE

pytestmark = [pytest.mark.e2e, pytest.mark.long]

NAME = "e2e-metal"


class MetalCluster(Cluster):
    """A cluster on the lab's machines, and what they were before it."""

    lab: Lab
    before: dict[str, dict[str, list[str]]]

    def address(self, name: str) -> str:
        """A host's address, which it had all along."""
        return self.lab.addresses[name]

    def with_hosts(self, section: Config) -> Config:
        """The config with the hosts as that section has them."""
        return {**self.wanted, "metal": section}


@pytest.fixture(scope="module")
def metal(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MetalCluster]:
    """A cluster that is not up yet, on machines that are."""
    sweep(metalhosts.NETWORK)
    lab = metalhosts.make(tmp_path_factory.mktemp("lab"), variables.get(MIRROR_VARIABLE))
    config = {
        "name": NAME,
        "platform": "metal",
        "systemContainers": True,
        "mirror": lab.mirror,
        "metal": metalhosts.listed(lab),
    }
    made = MetalCluster(tmp_path_factory.mktemp(NAME), variables, config)
    made.lab = lab
    made.before = {host: metalhosts.found(host) for host in HOSTS}
    yield made
    if made.is_up or made.has_failed:
        made.destroy_all(check=False)
    sweep(metalhosts.NETWORK)


@pytest.fixture
def up(metal: MetalCluster) -> MetalCluster:
    """The cluster, up."""
    if metal.ensure_up():
        Pair(metal).make()
    return metal


def test_a_look_at_a_machine_sees_what_is_changed(metal: MetalCluster) -> None:
    """Or the comparison at the end would say nothing."""
    changes = {
        "files": ("touch /opt/x", "rm /opt/x"),
        "contents": ("echo >/etc/x", "rm /etc/x"),
        "mounts": ("mkdir /mnt/x && mount -t tmpfs x /mnt/x", "umount /mnt/x && rmdir /mnt/x"),
        "nftables": ("nft add table ip x", "nft delete table ip x"),
        "interfaces": ("ip link add x type bridge", "ip link delete x"),
        "units": ("systemd-run --unit=x sleep 1000", "systemctl stop x"),
    }
    for part, (there, gone) in changes.items():
        machine.run("docker", "exec", MASTER, "sh", "-c", there)
        now = metalhosts.found(MASTER)
        machine.run("docker", "exec", MASTER, "sh", "-c", gone)
        assert now[part] != metal.before[MASTER][part], part
    assert metalhosts.differences(metal.before[MASTER], metalhosts.found(MASTER)) == ""


def test_the_machines_let_nobody_in_but_from_the_bastion(metal: MetalCluster) -> None:
    """So that what follows shows that the way through it works."""

    async def log_in() -> None:
        key = asyncssh.read_private_key(metal.lab.key_file)
        await asyncssh.connect(
            metal.lab.addresses[MASTER],
            username=metalhosts.USER,
            client_keys=[key],
            known_hosts=metal.lab.known_hosts,
            config=None,
            agent_path=None,
        )

    with pytest.raises(asyncssh.PermissionDenied):
        asyncio.run(log_in())


def test_the_hosts_become_nodes_under_their_own_names(up: MetalCluster) -> None:
    nodes = {node["metadata"]["name"]: node for node in up.items("nodes")}
    assert nodes.keys() == set(HOSTS)
    for name, node in nodes.items():
        conditions = {c["type"]: c["status"] for c in node["status"]["conditions"]}
        assert conditions["Ready"] == "True", name
        assert node["metadata"]["labels"][CLUSTER_LABEL] == NAME
        (address,) = [
            a["address"] for a in node["status"]["addresses"] if a["type"] == "InternalIP"
        ]
        assert address == up.lab.addresses[name]
    assert RACK.items() <= nodes[NODES[1]]["metadata"]["labels"].items()


def test_hosts_are_reached_through_the_bastion_by_a_user_with_sudo(up: MetalCluster) -> None:
    for name in HOSTS:
        connection = up.connection(name)
        assert (connection["host"], connection["user"]) == (up.lab.addresses[name], metalhosts.USER)
        assert connection["proxy"]["host"] == up.lab.addresses[metalhosts.GATE]
        assert up.login(name, "id -un; sudo -n id -un").split() == [metalhosts.USER, "root"]


@pytest.mark.parametrize("check", CHECKS)
def test_everything_works(up: MetalCluster, check: str) -> None:
    CHECKS[check](up)


@pytest.mark.parametrize("way", WAYS)
def test_however_the_hosts_are_listed_it_is_the_same_cluster(up: MetalCluster, way: str) -> None:
    up.wanted = up.with_hosts(WAYS[way](up.lab))
    assert up.up_steps().changed() == set()


def test_a_host_less_is_as_it_was_found_and_may_come_back(up: MetalCluster) -> None:
    kept, gone = HOSTS[:2], NODES[1]
    up.wanted = up.with_hosts(metalhosts.listed(up.lab, kept))
    before = up.starts()
    plan = up.up_steps()
    assert {op for op, _ in plan.changed()} <= {"delete", "update"}
    assert up.starts() == before
    assert {node["metadata"]["name"] for node in up.items("nodes")} == set(kept)
    assert metalhosts.differences(up.before[gone], metalhosts.found(gone)) == ""
    up.wanted = up.with_hosts(metalhosts.listed(up.lab))
    up.up()
    CHECKS["kubelets_report"](up)


def test_destroy_leaves_the_machines_as_they_were_found(up: MetalCluster) -> None:
    up.destroy_all()
    assert up.pulumi.resources() == []
    for host in HOSTS:
        left = metalhosts.differences(up.before[host], metalhosts.found(host))
        assert left == "", f"{host}:\n{left}"
