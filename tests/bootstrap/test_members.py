"""What a master decides about etcd's members: `files/members.sh`, against simulated etcds.

`test_real_members.py` has the same with real ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from bootstrap import render
from bootstrap.step import read
from model import Role
from tests.bootstrap.views import on, view

if TYPE_CHECKING:
    from tests.bootstrap.sandbox import Ran, Sandbox

A, B, C, D = (f"test-master-{index}" for index in range(4))
ADDRESSES = {name: f"172.30.0.{10 + index}" for index, name in enumerate((A, B, C, D))}
MANIFEST = "/etc/kubernetes/manifests/etcd.yaml"
DATA = "/var/lib/etcd/member/wal"
HEALTHY = "/var/lib/kubernetes-anywhere/healthy"
PUBLISHED = '[{"id":1,"peerURLs":["https://x:2380"],"name":"x","clientURLs":["https://x:2379"]}]'
WAITING = '[{"id":1,"peerURLs":["https://x:2380"],"name":"x"},{"id":2,"name":"y"}]'


def peer(name: str) -> str:
    return f"https://{ADDRESSES[name]}:2380"


def initial(*names: str) -> str:
    return ",".join(f"{name}={peer(name)}" for name in names)


def line(name: str, at: str = "", kind: str = "voter") -> str:
    """A member as etcdctl lists it; its ID is the last letter of its name."""
    client = "" if kind == "expected" else f"https://{ADDRESSES[at or name]}:2379"
    learner = str(kind == "learner").lower()
    return f"a{name[-1]}, started, {name}, {peer(at or name)}, {client}, {learner}\n"


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a host finds, and what comes of it. The host is A, and well as soon as it runs."""

    masters: tuple[str, ...] = (A, B, C)
    founder: bool = False
    was_up: bool = False
    well: tuple[str, ...] = (B, C)
    members: tuple[str, ...] = (line(B), line(C))
    peers: str = ""  # what others answer on their peers' port
    refuses: str = ""  # what etcdctl cannot do
    state: str = ""  # what etcd starts with; empty: it does not
    initial: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()  # `etcdctl member` calls that change something
    says: str = ""


JOINS = ("add", "promote 9f")
# Hosts without data.
NEW: dict[str, Case] = {
    "one master, for the first time": Case(
        masters=(A,), founder=True, well=(), members=(), state="new", initial=(A,)
    ),
    "the first of three": Case(founder=True, well=(), members=(), state="new", initial=(A, B, C)),
    "one of three whose peers wait for it": Case(
        founder=True, well=(), members=(), peers=WAITING, state="new", initial=(A, B, C)
    ),
    "the last of three, who are up without it": Case(
        founder=True,
        members=(line(A, kind="expected"), line(B), line(C)),
        state="new",
        initial=(A, B, C),
    ),
    "one that was made anew before it was ever up": Case(
        members=(line(A, kind="expected"), line(B), line(C)),
        state="existing",
        initial=(B, C, A),
        changes=("remove a0", *JOINS),
    ),
    "a master more": Case(state="existing", initial=(B, C, A), changes=JOINS),
    "a machine that was made anew": Case(
        members=(line(A), line(B), line(C)),
        state="existing",
        initial=(B, C, A),
        changes=("remove a0", *JOINS),
    ),
    "the same, and its disk alone": Case(
        founder=True,
        was_up=True,
        members=(line(A), line(B), line(C)),
        state="existing",
        initial=(B, C, A),
        changes=("remove a0", *JOINS),
    ),
    "one that has got the address of one that is gone": Case(
        members=(line(B), line(C), line(D, at=A)),
        state="existing",
        initial=(B, C, A),
        changes=("remove a3", *JOINS),
    ),
    "one while another still learns": Case(
        members=(line(B), line(C, kind="learner")),
        state="existing",
        initial=(B, C, A),
        changes=("promote a2", *JOINS),
    ),
    "one whose peer is not well": Case(
        well=(B,),
        members=(line(A), line(B), line(C)),
        says=f"etcd's members are not all healthy, so {A} cannot join: {C}; repair that first",
    ),
    "one whose peer has never been up": Case(
        members=(line(B), line(C), line(D, kind="expected")),
        says=f"so {A} cannot join: {D}",
    ),
    "one whom etcd does not want": Case(refuses="add", says="etcd refuses it: etcd: no add"),
    "one of whom nobody tells": Case(refuses="list", says="etcd refuses it: "),
    "a second one while no peer answers": Case(
        well=(), says="no other master has a healthy etcd; repair those, or see docs/etcd.md"
    ),
    "a master alone that was made anew": Case(
        masters=(A,), well=(), says="etcd's data is not on this machine, which is not one that"
    ),
    "the disk alone while no peer answers": Case(
        founder=True, was_up=True, well=(), says="no other master has a healthy etcd"
    ),
    "one of the first, beside a cluster without a majority": Case(
        founder=True, well=(), peers=PUBLISHED, says="the other masters' etcd is not healthy"
    ),
}


def prepare(host: Sandbox, case: Case) -> None:
    well = (A, *case.well)
    host.write("etcds", "".join(f"https://{ADDRESSES[name]}:2379/health\n" for name in well))
    host.write("members", "".join(case.members))
    if case.peers:
        host.write("peers", case.peers)
    if case.refuses:
        host.write("refuses", f"{case.refuses}\n")
    if case.was_up:
        host.write(HEALTHY, "yes\n")


def activate(host: Sandbox, case: Case) -> Ran:
    masters = {name: ADDRESSES[name] for name in case.masters}
    found = on(view(Role.MASTER, masters=3), masters=masters, founder=case.founder)
    return host.run(render.activate(found, {}))


def changes(ran: Ran) -> tuple[str, ...]:
    """What etcdctl was told to change, in order."""
    calls = [call.rpartition(" member ")[2] for call in ran.calls if " etcdctl etcdctl " in call]
    return tuple(
        "add" if call.startswith(f"add {A} --learner --peer-urls={peer(A)}") else call
        for call in calls
        if call != "list"
    )


def flag(host: Sandbox, name: str) -> str:
    """A flag of etcd as it stands on the host."""
    (found,) = [
        text.partition(f"--{name}=")[2]
        for text in host.read(MANIFEST).splitlines()
        if f"--{name}=" in text
    ]
    return found


@pytest.mark.parametrize("name", NEW)
def test_a_master_without_data_begins_joins_or_is_refused(host: Sandbox, name: str) -> None:
    """H11, H12: voters are never more than what is up, and a member without its data is another."""
    case = NEW[name]
    prepare(host, case)
    ran = activate(host, case)
    if not case.state:
        assert ran.status == 1
        assert case.says in ran.stderr
        assert not host.path(MANIFEST).exists(), (
            "etcd would start, and maybe begin a second cluster"
        )
        assert [call for call in changes(ran) if call != case.refuses] == []
        return
    assert ran.status == 0, ran.stderr
    assert flag(host, "initial-cluster-state") == case.state
    assert flag(host, "initial-cluster") == initial(*case.initial)
    assert changes(ran) == case.changes


def test_what_an_earlier_run_has_placed_does_not_start_while_it_is_decided(host: Sandbox) -> None:
    """Or etcd would begin with a list of members that is no longer true."""
    case = Case(well=())
    prepare(host, case)
    host.write(MANIFEST, "kind: Pod\n")
    ran = activate(host, case)
    assert ran.status == 1
    assert not host.path(MANIFEST).exists()


def test_a_new_member_is_waited_for_until_it_votes(host: Sandbox) -> None:
    """H11: the next one must not come before."""
    case = Case(refuses="promote")
    prepare(host, case)
    ran = activate(host, case)
    assert ran.status == 1
    assert "waited too long for etcd here to be a healthy, voting member" in ran.stderr
    assert "etcd: no promote" in ran.stderr
    host.path("refuses").unlink()
    again = activate(host, case)  # which finds data now
    assert (again.status, changes(again)) == (0, ("promote 9f",)), again.stderr


def test_a_new_member_is_waited_for_until_it_is_well(host: Sandbox) -> None:
    prepare(host, Case())
    host.write("etcds", "".join(f"https://{ADDRESSES[name]}:2379/health\n" for name in (B, C)))
    ran = activate(host, Case())
    assert ran.status == 1
    assert "waited too long for etcd here to be a healthy, voting member" in ran.stderr


# --- with data


@pytest.fixture
def member(host: Sandbox) -> Sandbox:
    """One of the first of three, with its data."""
    prepare(host, Case(well=(), members=()))
    assert activate(host, Case(founder=True, well=())).status == 0
    host.write(DATA, "")
    return host


@pytest.mark.parametrize("masters", [(A,), (A, B, C), (A, B, C, D)], ids=len)
def test_a_member_with_data_keeps_what_it_began_with(
    member: Sandbox, masters: tuple[str, ...]
) -> None:
    """Other words of who the members are would restart it for nothing."""
    before = member.read(MANIFEST)
    case = Case(masters=masters, well=masters[1:], members=tuple(map(line, masters)))
    prepare(member, case)
    ran = activate(member, case)
    assert (ran.status, changes(ran)) == (0, ()), ran.stderr
    assert member.read(MANIFEST) == before


def test_a_member_with_data_starts_whatever_the_others_do(member: Sandbox) -> None:
    """After a power cut of all, the first one is alone for a while."""
    member.path("etcds").unlink()
    ran = activate(member, Case())
    assert (ran.status, changes(ran)) == (0, ()), ran.stderr
    assert member.path(MANIFEST).exists()


def test_a_machine_that_finds_its_old_disk_is_the_same_member(member: Sandbox) -> None:
    """H12: as in a cloud."""
    member.path(MANIFEST).unlink()
    case = Case(members=tuple(map(line, (A, B, C))))
    prepare(member, case)
    ran = activate(member, case)
    assert (ran.status, changes(ran)) == (0, ()), ran.stderr
    assert flag(member, "initial-cluster") == initial(A)
    assert member.path(DATA).exists()


def test_data_of_a_member_that_was_removed_is_put_aside(member: Sandbox) -> None:
    prepare(member, Case())
    member.write("etcds", "".join(f"https://{ADDRESSES[name]}:2379/health\n" for name in (B, C)))
    member.write("refuses", "promote\n")
    ran = activate(member, Case())
    assert f"{A} was removed from etcd's members; its old data is in" in ran.stdout
    assert set(changes(ran)) == set(JOINS)
    assert flag(member, "initial-cluster-state") == "existing"
    assert member.path("/var/lib/etcd/removed/wal").exists()
    assert not member.path(DATA).exists()


@pytest.mark.parametrize("answer", ["", "Error: deadline exceeded\n"])
def test_data_is_left_where_it_is_while_nobody_tells_who_the_members_are(
    member: Sandbox, answer: str
) -> None:
    member.write("etcds", f"https://{ADDRESSES[B]}:2379/health\n")
    member.write("members", answer)
    ran = activate(member, Case())
    assert ran.status == 1
    assert "waited too long for etcd to name its members" in ran.stderr
    assert member.path(DATA).exists()
    assert member.path(MANIFEST).exists()


# --- fewer masters

FEWER: dict[str, Case] = {
    "three, then one": Case(
        masters=(A,), members=tuple(map(line, (A, B, C))), changes=("remove a1", "remove a2")
    ),
    "first the one that is gone already": Case(
        masters=(A,),
        well=(B,),
        members=tuple(map(line, (A, B, C))),
        changes=("remove a2", "remove a1"),
    ),
    "one in the middle": Case(
        masters=(A, C, D), well=(B, C), members=tuple(map(line, (A, B, C))), changes=("remove a1",)
    ),
    "nobody": Case(members=tuple(map(line, (A, B, C)))),
    "while one of those that stay is not well": Case(
        masters=(A, B),
        well=(C,),
        members=tuple(map(line, (A, B, C))),
        says=f"etcd's members are not all healthy, so none can be removed: {B}; repair that first",
    ),
    "while etcd refuses it": Case(
        masters=(A,),
        members=tuple(map(line, (A, B, C))),
        refuses="remove",
        says="etcd refuses it: etcd: no remove",
    ),
}


@pytest.mark.parametrize("name", FEWER)
def test_who_is_no_master_any_more_is_removed_by_one_that_stays(member: Sandbox, name: str) -> None:
    """H13: before its machine goes, so that no member stays behind."""
    case = FEWER[name]
    prepare(member, case)
    ran = activate(member, case)
    assert ran.status == (1 if case.says else 0), ran.stderr
    assert case.says in ran.stderr
    if not case.refuses:
        assert changes(ran) == case.changes


def test_only_masters_have_anything_to_do_with_it() -> None:
    assert read("members.sh") not in render.activate(view(Role.NODE), {})
    assert read("members.sh") not in render.identity(view(Role.MASTER), {})
