"""Masters come, go and are replaced on a running cluster, under a load of writes.

Every write that was acknowledged is there at the end. The short form grows one master to three and
back; the long one goes to five, and replaces each member in turn, the first included.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from tests.e2e import machine
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import clusters
from tests.e2e.test_interruptions import assert_well
from tests.engine.cli import Config

pytestmark = pytest.mark.e2e

CONFIG: Config = {
    "name": "members",
    "masters": {"count": 1},
    "pools": [{"name": "node", "count": 2}],
    "network": {"hostCidr": "172.31.81.0/24"},
}
PAUSE_SECONDS = 0.2  # between two writes
PKI = "/etc/kubernetes/pki"
ETCDCTL = (
    *("etcdctl", "--endpoints=https://127.0.0.1:2379", f"--cacert={PKI}/etcd-ca.crt"),
    *(f"--cert={PKI}/etcd.crt", f"--key={PKI}/etcd.key"),
)


@dataclass
class Writer:
    """Writes objects through the endpoint, one after another, and keeps what was acknowledged."""

    cluster: Cluster
    acknowledged: list[str] = field(default_factory=list)
    longest: float = 0  # seconds without an acknowledgement
    count: int = 0

    def write(self, stop: threading.Event) -> None:
        last = time.monotonic()
        while not stop.wait(PAUSE_SECONDS):
            self.count += 1
            name = f"write-{self.count}"
            create = ("create", "configmap", name, "-n", "default", "--request-timeout=5s")
            done = self.cluster.kubectl_as(self.cluster.kubeconfig, *create)
            now = time.monotonic()
            self.longest = max(self.longest, now - last)
            if done.code == 0:
                self.acknowledged.append(name)
                last = now

    def lost(self) -> set[str]:
        """What was acknowledged and is not there."""
        found = self.cluster.items("configmaps", "-n", "default")
        return {*self.acknowledged} - {item["metadata"]["name"] for item in found}


@contextmanager
def writing(cluster: Cluster) -> Iterator[Writer]:
    """A load of writes; at its end none of them is lost."""
    writer, stop = Writer(cluster), threading.Event()
    old = cluster.items("configmaps", "-n", "default")
    for name in (item["metadata"]["name"] for item in old):
        if name.startswith("write-"):
            cluster.kubectl("delete", "configmap", "-n", "default", name)
    thread = threading.Thread(target=writer.write, args=(stop,))
    thread.start()
    try:
        yield writer
    finally:
        stop.set()
        thread.join()
    done = len(writer.acknowledged)
    print(f"{done} of {writer.count} writes, {writer.longest:.1f} s apart", file=sys.stderr)
    assert writer.acknowledged
    assert writer.lost() == set()


@pytest.fixture(scope="module")
def made(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    yield from clusters(CONFIG, variables, tmp_path_factory)


@pytest.fixture
def cluster(made: Cluster) -> Cluster:
    """Masters, as many as the test before has left, and a node; up."""
    made.ensure_up()
    return made


def set_masters(cluster: Cluster, count: int) -> None:
    """`pulumi up` with another number of masters, and a look whether it came true."""
    kept = {name: etcd_of(cluster, name) for name in cluster.masters[:count]}
    cluster.wanted = {**cluster.wanted, "masters": {"count": count}}
    cluster.up()
    assert members(cluster) == dict.fromkeys(cluster.masters, "false")
    assert {name: etcd_of(cluster, name) for name in kept} == kept, "an etcd was restarted"
    assert {node["metadata"]["name"] for node in cluster.items("nodes")} == set(cluster.hosts)
    assert cluster.pulumi.preview().changed() == set()


def etcd_of(cluster: Cluster, master: str) -> str:
    """The process that etcd is on a master."""
    return cluster.host(master, "pgrep -x etcd").strip()


def etcdctl(cluster: Cluster, *arguments: str) -> str:
    """What etcdctl says on the first master, once the kubelet there has told of etcd's pod."""
    pod = ("exec", "-n", "kube-system", f"etcd-{cluster.masters[0]}", "--")
    return cluster.wait("etcdctl", lambda: cluster.kubectl(*pod, *ETCDCTL, *arguments), 60)


def members(cluster: Cluster) -> dict[str, str]:
    """{member: whether it only learns}, of healthy ones."""
    etcdctl(cluster, "endpoint", "status", "--cluster")
    rows = etcdctl(cluster, "member", "list").splitlines()
    return {name: learner for _, _, name, _, _, learner in (row.split(", ") for row in rows)}


def test_one_master_becomes_three_and_one_again(cluster: Cluster) -> None:
    with writing(cluster):
        set_masters(cluster, 3)
        set_masters(cluster, 1)
    assert_well(cluster)


@pytest.mark.long
def test_masters_become_five_and_one_again(cluster: Cluster) -> None:
    with writing(cluster):
        for count in (1, 3, 5, 3, 1):
            set_masters(cluster, count)
    assert_well(cluster)


def urn_of(cluster: Cluster, name: str) -> str:
    """The URN of a machine."""
    state = cluster.pulumi.secrets()["deployment"]["resources"]
    (found,) = [
        item["urn"]
        for item in state
        if item["urn"].endswith(f"::{name}") and item["type"] == "command:local:Command"
    ]
    return str(found)


@pytest.mark.long
@pytest.mark.parametrize("gone", [False, True], ids=["there", "gone"])
def test_each_of_three_members_is_replaced(cluster: Cluster, *, gone: bool) -> None:
    """Its machine is made anew, while it still works or after it was lost."""
    if len(cluster.masters) != 3:
        set_masters(cluster, 3)
    with writing(cluster):
        for name in cluster.masters:
            others = {other: etcd_of(cluster, other) for other in cluster.masters if other != name}
            if gone:
                machine.run("docker", "rm", "--force", "--volumes", name)
            urn = urn_of(cluster, name)
            done = cluster.pulumi.call("up", "--yes", "--skip-preview", "--replace", urn)
            assert done.code == 0, done.explained()
            assert members(cluster) == dict.fromkeys(cluster.masters, "false")
            assert {other: etcd_of(cluster, other) for other in others} == others
            assert cluster.pulumi.preview().changed() == set()
    assert_well(cluster)


@pytest.mark.long
def test_no_member_is_replaced_while_another_is_down(cluster: Cluster) -> None:
    if len(cluster.masters) != 3:
        set_masters(cluster, 3)
    first, _, last = cluster.masters
    machine.run("docker", "pause", last)
    try:
        done = cluster.pulumi.call(
            "up", "--yes", "--skip-preview", "--replace", urn_of(cluster, first), check=False
        )
    finally:
        machine.run("docker", "unpause", last)
    assert done.code != 0
    assert "etcd" in done.output
    cluster.up()
    assert members(cluster) == dict.fromkeys(cluster.masters, "false")
    assert_well(cluster)
