"""The fabric on a real Docker engine: which packets pass, whom they seem to come from, what stays.

One small cloud for all tests. A test applies its own fabric and is done in a second or two, since
only what differs is touched.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from airgap.docker import ensure_engine
from components.local.containers.shell import CommandError, is_root, run
from components.local.image.build import ensure_image
from tests.clouds.fabric.health import healthy
from tests.clouds.fabric.model import BALANCED, Disk, Fabric, Nat
from tests.clouds.fabric.nft import BALANCED_DSCP
from tests.clouds.fabric.trial import (
    BEHIND,
    CLOSED,
    COMPUTER,
    INTERNET,
    KEPT,
    LOST,
    NAMES,
    NAT,
    OPEN,
    SECURE,
    TRANSLATED,
    Cloud,
    from_computer,
    from_machine,
    inside,
    leftovers,
    listening,
    tcp,
    until,
)

pytestmark = pytest.mark.docker

BALANCED_TOS = int(BALANCED_DSCP, 16) << 2
DISK = Disk(id="fabtest", size_gb=1, path="/dev/disk/by-id/fabtest")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cloud]:
    try:
        ensure_engine()
    except CommandError as error:
        pytest.skip(f"no Docker engine can be had: {error}")
    if not is_root():
        pytest.skip("disks of simulated machines are loop devices, which only root can make")
    ensure_image()
    found = Cloud(tmp_path_factory.mktemp("fabtest"))
    try:
        found.start()
        yield found
    finally:
        found.apply(Fabric())


@pytest.fixture
def cloud(made: Cloud) -> Cloud:
    made.apply(made.base)
    return made


def test_what_a_rule_allows_passes_and_nothing_else(cloud: Cloud) -> None:
    a, b = (cloud.public(name) for name in NAMES[:2])
    assert from_computer(a, OPEN) == f"{NAMES[0]} {COMPUTER}"
    assert from_computer(b, OPEN) == f"{NAMES[1]} {COMPUTER}"
    assert from_computer(a, CLOSED, LOST) is None
    assert (
        from_machine(NAMES[1], cloud.address(NAMES[0]), OPEN)
        == f"{NAMES[0]} {cloud.address(NAMES[1])}"
    )
    assert from_machine(NAMES[1], cloud.address(NAMES[0]), CLOSED, LOST) is None
    assert from_machine(NAMES[0], cloud.address(NAMES[0]), CLOSED), "a machine reaches itself"


def test_a_change_of_rules_is_there_at_once(cloud: Cloud) -> None:
    cloud.apply(cloud.machine(NAMES[0], inbound=(tcp(CLOSED, COMPUTER),)))
    assert from_computer(cloud.public(NAMES[0]), CLOSED) == f"{NAMES[0]} {COMPUTER}"
    assert from_computer(cloud.public(NAMES[0]), OPEN, LOST) is None
    cloud.apply(cloud.machine(NAMES[0], outbound=(tcp(CLOSED, "0.0.0.0/0"),)))
    assert from_machine(NAMES[0], cloud.address(NAMES[1]), OPEN, LOST) is None


def test_a_neighbour_called_by_its_public_address_sees_the_public_source(cloud: Cloud) -> None:
    a, b = (cloud.public(name) for name in NAMES[:2])
    assert from_machine(NAMES[0], b, OPEN) == f"{NAMES[1]} {a}"
    assert from_machine(NAMES[2], b, OPEN, LOST) is None, "it has no public address and no NAT"


def test_nobody_is_somebody_else(cloud: Cloud) -> None:
    other = str(cloud.cidr[77])
    inside(NAMES[0], f"ip address replace {other}/32 dev eth0")
    target = cloud.address(NAMES[1])
    assert from_machine(NAMES[0], target, OPEN, LOST, f",bind={other}") is None
    cloud.apply(cloud.machine(NAMES[0], forwards=True))
    assert from_machine(NAMES[0], target, OPEN, more=f",bind={other}") == f"{NAMES[1]} {other}"


def test_the_way_out_without_a_public_address_is_the_nat(cloud: Cloud) -> None:
    with listening(COMPUTER) as (port, seen):
        assert from_machine(NAMES[2], COMPUTER, port, LOST) is None
        nat = Nat(network="net", sources=(str(cloud.cidr),), address=NAT)
        cloud.apply(replace(cloud.base, nats={"nat": nat}))
        assert from_machine(NAMES[2], COMPUTER, port) == "hello"
        assert from_machine(NAMES[0], COMPUTER, port) == "hello"
        assert from_machine(NAMES[2], cloud.public(NAMES[1]), OPEN) == f"{NAMES[1]} {NAT}"
    assert seen == [NAT, cloud.public(NAMES[0])], "who has a public address goes out by it"
    assert from_computer(NAT, OPEN, LOST) is None


def test_a_balancer_that_translates(cloud: Cloud) -> None:
    a, b, c = NAMES
    cloud.apply(replace(cloud.base, balancers={"lb": cloud.balanced(a, b)}))
    assert from_computer(cloud.public(a), BEHIND, LOST) is None, "only by way of the balancer"
    assert from_computer(cloud.public(a), BEHIND, LOST, BALANCED_TOS) is None, (
        "nobody says so himself"
    )
    assert from_machine(b, cloud.address(a), BEHIND, LOST, f",tos={BALANCED_TOS}") is None
    assert healthy(cloud.place) == {"lb": []}
    assert {from_computer(TRANSLATED, 443) for _ in range(20)} == {
        f"{name} {COMPUTER}" for name in (a, b)
    }, "when nobody is well, everybody is asked"
    assert from_computer(TRANSLATED, OPEN, LOST) is None

    cloud.apply(replace(cloud.base, balancers={"lb": cloud.balanced(b)}))
    assert from_machine(a, TRANSLATED, 443) == f"{b} {cloud.public(a)}"
    assert from_machine(b, TRANSLATED, 443, LOST) is None, "a backend never meets itself"
    assert from_machine(c, TRANSLATED, 443, LOST) is None

    there = (f"{cloud.public(a)}/32",)
    cloud.apply(replace(cloud.base, balancers={"lb": cloud.balanced(b, clients=there)}))
    assert from_computer(TRANSLATED, 443, LOST) is None
    assert from_machine(a, TRANSLATED, 443) == f"{b} {cloud.public(a)}"


def test_health_is_asked_by_https_from_the_source_that_rules_know(cloud: Cloud) -> None:
    a, b, _ = NAMES
    balancer = cloud.balanced(a, b)
    probe = replace(balancer.probe, protocol="https", port=SECURE, path="/readyz")
    known = replace(cloud.base, balancers={"lb": replace(balancer, probe=probe)})
    inbound = (tcp(SECURE, BALANCED), tcp(BEHIND, BALANCED))
    machines = {**known.machines, a: replace(known.machines[a], inbound=inbound)}
    fabric = replace(known, machines=machines)  # b's rule has the address, that of a the balancer
    cloud.apply(fabric)
    until(lambda: healthy(cloud.place) == {"lb": [a, b]})
    assert "GET /readyz" in inside(a, "cat /var/log/asked")
    inside(a, f"systemctl stop well@{SECURE}")
    until(lambda: healthy(cloud.place) == {"lb": [b]})
    assert {from_computer(TRANSLATED, 443) for _ in range(10)} == {f"{b} {COMPUTER}"}
    cloud.apply(fabric)
    assert healthy(cloud.place) == {"lb": [b]}, "what is known is kept"

    machines = {**machines, b: replace(known.machines[b], inbound=())}
    cloud.apply(replace(fabric, machines=machines))
    until(lambda: healthy(cloud.place) == {"lb": []})


def test_a_balancer_that_keeps_the_destination(cloud: Cloud) -> None:
    a, b, c = NAMES
    cloud.apply(cloud.keeping(a, b))
    until(lambda: healthy(cloud.place) == {"lb": [a, b]})
    assert {from_computer(KEPT, OPEN) for _ in range(20)} == {
        f"{name} {COMPUTER}" for name in (a, b)
    }
    assert from_computer(KEPT, CLOSED, LOST) is None

    cloud.apply(cloud.keeping(b))
    assert from_machine(a, KEPT, OPEN) == f"{b} {cloud.public(a)}"
    assert from_machine(b, KEPT, OPEN) == f"{b} {KEPT}", "it never leaves the machine"
    assert from_machine(c, KEPT, OPEN, LOST) is None
    until(lambda: healthy(cloud.place) == {"lb": [b]})
    inside(b, f"ip route delete local {KEPT} dev lo table local proto 66")
    until(lambda: healthy(cloud.place) == {"lb": []})


def test_a_machine_that_restarts_is_the_same(cloud: Cloud) -> None:
    a = NAMES[0]
    cloud.apply(cloud.keeping(a, fabric=cloud.machine(a, disks=(DISK,))))
    entry = f"UUID=$(blkid -s UUID -o value {DISK.path}) /var/lib/x ext4 defaults,nofail 0 2"
    inside(a, f"mkfs.ext4 -q {DISK.path} && mkdir /var/lib/x && echo {entry} >>/etc/fstab")
    inside(a, "mount /var/lib/x && touch /var/lib/x/kept")
    run(["docker", "restart", "--time", "1", a])
    assert inside(a, "nft list table inet simulated").count("counter") == 4
    assert inside(a, "ip route show table local proto 66") == f"local {KEPT} dev lo scope host"
    until(lambda: from_computer(KEPT, OPEN) == f"{a} {COMPUTER}")
    assert inside(a, "test -e /var/lib/x/kept && cloud-init status") == "status: done"
    assert inside(a, "systemctl is-system-running --wait || true") == "running"
    inside(a, "umount /var/lib/x")


def test_a_disk_outlives_its_machine(cloud: Cloud) -> None:
    a, b, _ = NAMES
    cloud.apply(cloud.machine(b, disks=(DISK,)))
    assert inside(b, f"blockdev --getsize64 $(readlink -f {DISK.path})") == str(1 << 30)
    inside(b, f"echo canary | dd of={DISK.path} conv=fsync status=none")
    cloud.apply(replace(cloud.base, detached=(DISK,)))
    assert inside(b, f"test -e {DISK.path} || echo none") == "none"
    changed = cloud.machine(a, disks=(replace(DISK, size_gb=2),))
    cloud.apply(changed)
    assert inside(a, f"head -c 6 {DISK.path}") == "canary"
    assert inside(a, f"blockdev --getsize64 $(readlink -f {DISK.path})") == str(2 << 30)
    cloud.apply(cloud.base)
    assert not (cloud.place.folder / "disks").exists()


def test_users_are_as_in_a_cloud(cloud: Cloud) -> None:
    address = cloud.public(NAMES[0])
    known = cloud.key.with_suffix(".known")
    known.write_text(f"{address} {inside(NAMES[0], 'cat /etc/ssh/ssh_host_ed25519_key.pub')}\n")
    options = [f"-oUserKnownHostsFile={known}", "-oBatchMode=yes", f"-i{cloud.key}"]
    ssh = ["ssh", *options, "-oStrictHostKeyChecking=yes"]
    assert run([*ssh, f"ubuntu@{address}", "sudo id -un; id -un"]).split() == ["root", "ubuntu"]
    with pytest.raises(CommandError, match="Permission denied"):
        run([*ssh, f"root@{address}", "true"])
    cloud.apply(cloud.machine(NAMES[0], login_keys={}))
    with pytest.raises(CommandError, match="Permission denied"):
        run([*ssh, f"ubuntu@{address}", "true"])


def test_the_mirror_is_on_the_internet(cloud: Cloud) -> None:
    ask = f"curl --silent --max-time {LOST} http://{cloud.place.mirror_address}:5000/hello || true"
    assert inside(NAMES[0], ask) == "from the mirror"
    assert inside(NAMES[2], ask) == ""


def test_what_did_not_change_costs_two_questions(
    cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    original = subprocess.run

    def counted(command: list[str], **options: Any) -> subprocess.CompletedProcess[bytes]:
        asked.append(command[:2])
        return original(command, **options)

    monkeypatch.setattr(subprocess, "run", counted)
    cloud.apply(cloud.base)
    assert asked == [["docker", "ps"], ["docker", "network"]]


def test_networks_have_no_way_to_each_other(cloud: Cloud) -> None:
    """Also not from this computer, which knows public addresses only."""
    a, _, c = NAMES
    identity = ["docker", "inspect", "--format", "{{.Id}}", c]
    before = run(identity)
    other = replace(cloud.base.networks["net"], id="other", cidr=str(cloud.other))
    networks = {**cloud.base.networks, "other": other}
    changed = {**networks, "other": replace(other, mtu=1500)}
    public, address = str(INTERNET[18]), str(cloud.other[10])
    machine = replace(
        cloud.base.machines[c], id="d", network="other", address=address, public_address=public
    )
    machines = {**cloud.base.machines, c: machine}
    cloud.apply(replace(cloud.base, networks=changed))  # it may change while no machine is on it
    cloud.apply(replace(cloud.base, networks=networks, machines=machines))
    assert run(identity) != before, "another id is another machine"
    until(lambda: from_machine(a, public, OPEN, LOST) == f"{c} {cloud.public(a)}")
    assert from_machine(a, address, OPEN, LOST) is None
    assert str(cloud.other) not in run(["ip", "route"])
    with pytest.raises(CommandError, match=rf"while machines are on it: take {c} away"):
        cloud.apply(replace(cloud.base, networks=changed, machines=machines))


def test_a_stopped_machine_and_a_lost_container(cloud: Cloud) -> None:
    a, b, _ = NAMES
    state = ["docker", "inspect", "--format", "{{.State.Running}} {{.Id}}", a]
    before = run(state).split()
    cloud.apply(cloud.machine(a, running=False))
    assert run(state).split() == ["false", before[1]]
    run(["docker", "rm", "--force", cloud.place.router])
    (cloud.place.folder / "fabric.json").unlink()
    cloud.apply(cloud.base)
    assert run(state).split() == before
    assert from_computer(cloud.public(b), OPEN) == f"{b} {COMPUTER}"


def test_nothing_is_left_of_an_empty_fabric(cloud: Cloud) -> None:
    assert leftovers()
    run(["docker", "rm", "--force", NAMES[2]])
    cloud.apply(Fabric())
    until(lambda: leftovers() == [])
    assert list(cloud.place.folder.iterdir()) == []
