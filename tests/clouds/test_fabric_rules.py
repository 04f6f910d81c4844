"""From a fabric to rules, without Docker: what machines and the router are told."""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clouds.fabric import disks, memory
from tests.clouds.fabric.disks import Device
from tests.clouds.fabric.firewall import firewall
from tests.clouds.fabric.model import (
    BALANCED,
    Balancer,
    Disk,
    Fabric,
    Machine,
    Nat,
    Network,
    Probe,
    Rule,
)
from tests.clouds.fabric.place import Place, gateway, unused
from tests.clouds.fabric.router import mark, router, rules
from tests.clouds.fabric.scripts import digest, machine_script, router_script

if TYPE_CHECKING:
    from collections.abc import Mapping

FOLDER = Path(__file__).parent / "fabric"
GOLDEN = FOLDER / "golden"
INTERNET = "198.18.16.0/20"
EVERYWHERE = Rule(protocol="any", ports=None, peers=("0.0.0.0/0",))
NETWORK = Network(id="vpc-1", cidr="10.0.0.0/16", mtu=9001, internet=True)
DISK = Disk(id="vol-1", size_gb=10, path="/dev/disk/by-id/etcd")
MASTER = Machine(
    id="i-1",
    name="demo-master-0",
    network="vpc-1",
    address="10.0.1.4",
    public_address="198.18.16.16",
    mtu=9001,
    login_keys={"ubuntu": ("ssh-ed25519 AAAA one\n", "ssh-ed25519 BBBB two"), "root": ("no",)},
    user_data="",
    inbound=(
        Rule(protocol="tcp", ports=(22, 22), peers=("198.18.16.1/32",)),
        Rule(protocol="tcp", ports=(6443, 6443), peers=("10.0.0.0/16", "10.0.1.0/24", BALANCED)),
        Rule(protocol="udp", ports=(8472, 8472), peers=("10.0.1.4/32", "10.0.1.5/32")),
        Rule(protocol="tcp", ports=(30000, 32767), peers=("0.0.0.0/0",)),
        Rule(protocol="any", ports=(53, 53), peers=("10.0.0.0/16",)),
        Rule(protocol="icmp", ports=None, peers=("0.0.0.0/0", "10.0.0.0/8")),
    ),
    outbound=(EVERYWHERE,),
    disks=(DISK,),
)
NODE = replace(
    MASTER,
    id="i-2",
    name="demo-node-0",
    address="10.0.1.5",
    public_address=None,
    inbound=(),
    outbound=(Rule(protocol="udp", ports=None, peers=("10.0.0.2/32",)),),
    disks=(),
    local_addresses=("198.18.16.19",),
    forwards=True,
)
PROBE = Probe(
    protocol="https",
    port=6443,
    path="/readyz",
    source="10.0.0.9",
    interval_seconds=10,
    healthy=2,
    unhealthy=3,
)
TRANSLATING = Balancer(
    id="nlb",
    network="vpc-1",
    address="198.18.16.18",
    port=443,
    backend_port=6443,
    backends=("i-1", "i-2", "i-gone"),
    translate=True,
    clients=("198.18.16.1/32", "198.18.16.17/32"),
    probe=PROBE,
)
KEEPING = replace(
    TRANSLATING,
    id="passthrough",
    address="198.18.16.19",
    port=6443,
    backends=("i-2",),
    translate=False,
    clients=None,
    probe=replace(PROBE, protocol="tcp", path="", source="35.191.0.1"),
)
FABRIC = Fabric(
    networks={"vpc-1": NETWORK},
    machines={"i-1": MASTER, "i-2": NODE},
    nats={"nat": Nat(network="vpc-1", sources=("10.0.1.0/24",), address="198.18.16.17")},
    balancers={"nlb": TRANSLATING, "passthrough": KEEPING},
)
DEVICES = {"vol-1": Device(path="/dev/loop3", major=7, minor=3)}
PLACE = Place(cloud="aws", internet=INTERNET, mirror_directory=None, folder=Path("/nowhere"))


def texts() -> Mapping[str, str]:
    """All that is compared as a whole."""
    return {
        "master.nft": firewall(MASTER),
        "node.nft": firewall(NODE),
        "router.nft": rules(router(FABRIC, INTERNET)),
        "idle-router.nft": rules(router(Fabric(), INTERNET)),
    }


@pytest.mark.parametrize("name", texts())
def test_rules_are_as_recorded(name: str) -> None:
    assert texts()[name] == (GOLDEN / name).read_text()


def test_only_a_machine_that_forwards_has_others_packets() -> None:
    checked = "ip saddr != { 10.0.1.5, 198.18.16.19 } counter drop"
    assert checked in firewall(replace(NODE, forwards=False))
    assert checked not in firewall(NODE)


def test_nobody_is_a_client_of_a_balancer_that_lets_nobody_in() -> None:
    found = replace(FABRIC, balancers={"nlb": replace(TRANSLATING, clients=())})
    assert "ct original proto-dst 443 counter drop" in rules(router(found, INTERNET))


def test_a_network_without_internet_has_nothing_to_do_with_the_router() -> None:
    closed = {"vpc-1": replace(NETWORK, internet=False)}
    found = router(replace(FABRIC, networks=closed), INTERNET)
    assert found == router(Fabric(), INTERNET)


def test_what_the_router_is_told_besides_rules() -> None:
    found = router(FABRIC, INTERNET)
    assert found.addresses == ["198.18.16.16", "198.18.16.17", "198.18.16.18", "198.18.16.19"]
    assert found.sources == ["10.0.0.9", "35.191.0.1"]
    assert found.kept == ["0xa000105 10.0.1.5"], "only where the destination stays as it is"
    assert [line.split()[1:] for line in found.backends] == [
        ["10.0.1.4", "0xa000104"],
        ["10.0.1.5", "0xa000105"],
        ["10.0.1.5", "0xa000105"],
    ]
    assert [line.split()[3:] for line in found.probes] == [
        ["https", "10.0.0.9", "6443", "10", "2", "3", "/readyz"],
        ["https", "10.0.0.9", "6443", "10", "2", "3", "/readyz"],
        ["tcp", "35.191.0.1", "6443", "10", "2", "3"],
    ]


def test_a_machine_s_successor_is_asked_anew() -> None:
    before = router(FABRIC, INTERNET).probes
    other = replace(FABRIC, machines={"i-1": MASTER, "i-3": replace(NODE, id="i-3")})
    after = router(
        replace(other, balancers={"nlb": replace(TRANSLATING, backends=("i-1", "i-3"))}), INTERNET
    )
    assert after.probes[0] == before[0]
    assert after.probes[1] not in before


def test_a_mark_is_an_address() -> None:
    assert mark("10.0.1.5") == "0xa000105"
    assert int(mark("255.0.0.1"), 16) == 0xFF000001


def test_addresses_that_no_machine_has() -> None:
    assert (str(gateway(NETWORK)), str(unused(NETWORK))) == ("10.0.0.1", "10.0.0.2")
    other = replace(NETWORK, kept=(1, -2))
    assert (str(gateway(other)), str(unused(other))) == ("10.0.0.1", "10.0.255.254")
    assert str(PLACE.computer_address) == "198.18.16.1"
    assert str(PLACE.mirror_address) == "198.18.16.2"
    assert str(PLACE.router_address) == "198.18.16.3"


def test_names_say_that_it_is_simulated() -> None:
    assert {PLACE.router, PLACE.bridge, PLACE.mirror} == {
        "simulated-aws-router",
        "simulated-aws-internet",
        "simulated-aws-mirror",
    }
    long = f"/subscriptions/{'0' * 36}/resourceGroups/demo/providers/x/virtualNetworks/demo"
    assert PLACE.network(long).startswith("simulated-aws-")
    assert len(PLACE.network(long)) < 30
    assert PLACE.network(long) != PLACE.network(f"{long}2")


class TestScripts:
    def test_a_machine_knows_its_disks_and_users(self) -> None:
        script = machine_script(MASTER, NETWORK, DEVICES)
        assert "disks='/dev/loop3 7 3 /dev/disk/by-id/etcd'\n" in script
        assert "keys='ubuntu ssh-ed25519 AAAA one\nubuntu ssh-ed25519 BBBB two'\n" in script
        assert "gateway=10.0.0.1\n" in script

    def test_what_changes_in_a_running_machine_changes_its_script(self) -> None:
        known = digest(machine_script(NODE, NETWORK, DEVICES))
        for other in (
            replace(NODE, inbound=MASTER.inbound),
            replace(NODE, disks=MASTER.disks),
            replace(NODE, local_addresses=()),
            replace(NODE, login_keys={}),
            replace(NODE, forwards=False),
            replace(NODE, mtu=1500),
        ):
            assert digest(machine_script(other, NETWORK, DEVICES)) != known
        assert digest(machine_script(replace(NODE, user_data="x"), NETWORK, DEVICES)) == known

    @pytest.mark.parametrize("name", sorted(path.name for path in (FOLDER / "files").glob("*.sh")))
    def test_the_linter_has_nothing_to_say(self, name: str) -> None:
        linter = shutil.which("shellcheck")
        if linter is None:
            pytest.skip("shellcheck is not installed: `apt-get install shellcheck`")
        text = {
            "machine.sh": machine_script(MASTER, NETWORK, DEVICES),
            "router.sh": router_script(router(FABRIC, INTERNET), PLACE.router_address),
        }.get(name, (FOLDER / "files" / name).read_text())
        shell = "bash" if name == "health.sh" else "dash"
        done = subprocess.run(
            [linter, f"--shell={shell}", "--format=gcc", "-"],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == ""


def test_a_run_that_ends_early_is_done_again(tmp_path: Path) -> None:
    place = replace(PLACE, folder=tmp_path)
    assert memory.recall(place) == {}
    memory.remember(place, {"scripts": {"a": "1"}})
    assert memory.recall(place) == {"scripts": {"a": "1"}}
    memory.forget(place)
    memory.forget(place)
    assert memory.recall(place) == {}


def test_loop_devices_of_others_are_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = replace(PLACE, folder=tmp_path)
    mine = disks._file(place, DISK)
    mine.parent.mkdir()
    other = mine.parent / "of-a-disk-that-is-gone"
    for file in (mine, other):
        file.touch()
    devices = [
        {"name": "/dev/loop0", "back-file": "/somebody/else"},
        {"name": "/dev/loop1", "back-file": str(mine)},
        {"name": "/dev/loop2", "back-file": f"{other} (deleted)"},
    ]
    did: list[list[str]] = []

    def run(command: list[str]) -> str:
        did.append(command)
        return json.dumps({"loopdevices": devices})

    monkeypatch.setattr(disks, "run", run)
    disks.release(replace(FABRIC, machines={"i-1": MASTER}), place)
    assert did[1:] == [["losetup", "--detach", "/dev/loop2"]]
    assert (mine.exists(), other.exists()) == (True, False)

    did.clear()
    disks.release(Fabric(detached=(DISK,)), place)
    assert ["losetup", "--detach", "/dev/loop1"] in did
    assert mine.exists(), "a disk that no machine has is still a disk"

    disks.release(Fabric(), place)
    assert not mine.parent.exists()
