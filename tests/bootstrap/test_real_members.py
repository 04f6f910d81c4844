"""etcd's members come, are replaced, and go: `files/members.sh` with real etcds."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.bootstrap import real_etcd
from tests.bootstrap.real_etcd import DATA, Masters, wait

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

A, B, C = real_etcd.ADDRESSES
ALL = {A, B, C}


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Masters]:
    found = real_etcd.programs()
    if found is None:
        pytest.skip("etcd has not been built on this computer")
    with real_etcd.masters(tmp_path, found) as made:
        yield made


def begin(cluster: Masters, *names: str) -> None:
    """A cluster with one object in it."""
    for name in names:
        cluster.machine(name, founder=True)
    for ran in cluster.up(*names):
        assert ran.status == 0, ran.stderr
    wait(lambda: healthy(cluster, A))
    assert cluster.voters(A) == set(names)
    cluster.etcdctl(A, "put", "kept", "yes")


def healthy(cluster: Masters, at: str) -> bool:
    try:
        cluster.etcdctl(at, "endpoint", "health", "--cluster")
    except subprocess.CalledProcessError:
        return False
    return True


def kept(cluster: Masters, at: str) -> bool:
    return cluster.etcdctl(at, "get", "kept", "--print-value-only") == "yes\n"


def test_one_master_becomes_three_and_one_again(cluster: Masters) -> None:
    """H11, H13: the data stays, and so does the first one's process."""
    begin(cluster, A)
    pid = cluster.pid(A)
    for name in (B, C):
        cluster.machine(name)
    for ran in cluster.up(A, B, C):
        assert ran.status == 0, ran.stderr
    assert cluster.voters(A) == ALL
    assert all(kept(cluster, name) for name in ALL)
    assert cluster.pid(A) == pid, "the first one was restarted"

    for ran in cluster.up(A, B, C):  # nothing is left to do
        assert ran.status == 0, ran.stderr
    assert cluster.pid(A) == pid

    (ran,) = cluster.up(A)
    assert ran.status == 0, ran.stderr
    assert f"{B} is no member" in ran.stdout
    assert f"{C} is no member" in ran.stdout
    assert set(cluster.members(A)) == {A}
    assert kept(cluster, A)
    assert cluster.pid(A) == pid


def test_each_of_three_that_began_together_is_replaced(cluster: Masters) -> None:
    """H12: the first one as the others."""
    begin(cluster, A, B, C)
    for name, other in ((A, B), (B, C), (C, A)):
        before = cluster.members(other)
        cluster.machine(name)
        for ran in cluster.up(A, B, C):
            assert ran.status == 0, ran.stderr
        after = cluster.members(other)
        assert cluster.voters(other) == ALL
        assert {n for n in ALL if before[n]["ID"] != after[n]["ID"]} == {name}
        assert kept(cluster, name)


def test_who_was_removed_and_comes_back_joins_anew(cluster: Masters) -> None:
    begin(cluster, A, B, C)
    (ran, *_) = cluster.up(A, B)  # as nobody would: C goes, with its machine still there
    assert ran.status == 0, ran.stderr
    assert set(cluster.members(A)) == {A, B}
    for ran in cluster.up(A, B, C):
        assert ran.status == 0, ran.stderr
    assert "its old data is in" in ran.stdout
    assert cluster.voters(A) == ALL
    assert kept(cluster, C)


def test_nobody_joins_while_another_one_is_not_well(cluster: Masters) -> None:
    begin(cluster, A, B, C)
    cluster.machine(A)
    cluster.stop_etcd(B)
    cluster.hosts[A].wait = "2"
    ran = cluster.activate(A, A, B, C)
    assert ran.status == 1
    assert "the other masters' etcd is not healthy" in ran.stderr or "no other master" in ran.stderr
    assert not cluster.hosts[A].path(f"{DATA}/member").exists(), "a second cluster was begun"
    assert not cluster.hosts[A].path(real_etcd.MANIFEST).exists()
    cluster.hosts[B].path("active/kubelet").touch()
    cluster.hosts[A].wait = "$1"
    for ran in cluster.up(A, B, C):
        assert ran.status == 0, ran.stderr
    assert cluster.voters(B) == ALL
    assert kept(cluster, A)
