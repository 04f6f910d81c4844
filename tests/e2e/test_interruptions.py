"""What a cluster survives: `up` killed at any moment, a power cut, a registry that is away.

Forty minutes or so, most of them for the killed runs, so not part of the usual tests: `make
test-long`. The moments are other ones in each run; the seed that is printed brings them back.
"""

from __future__ import annotations

import copy
import os
import random
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from airgap.killed import go_on, lock_files
from tests.e2e import machine
from tests.e2e.battery import CHECKS
from tests.e2e.cluster import Cluster
from tests.e2e.conftest import clusters
from tests.e2e.test_pods import Pair
from tests.engine.cli import Config

pytestmark = [pytest.mark.e2e, pytest.mark.long]

NAME = "interrupted"
CONFIG: Config = {
    "name": NAME,
    "masters": {"count": 1},
    "pools": [{"name": "node", "count": 2}],
    "network": {"hostCidr": "172.31.79.0/24"},
}
SEED = "KUBERNETES_ANYWHERE_SEED"
FIRST_UPS, CHANGES = 12, 8  # moments of an `up` from nothing, and of one that changes a cluster
AWAY_SECONDS = 60
HEALTHY_SECONDS = 120
WELL_SECONDS = 60  # a pod that was restarted may still be on its way when `up` ends
KEPT = ("-n", "default", "configmap", "kept")


@pytest.fixture(scope="module")
def stack(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One stack for all of these tests: what one leaves up, the next need not make."""
    yield from clusters(CONFIG, variables, tmp_path_factory)


@pytest.fixture
def cluster(stack: Cluster) -> Cluster:
    """One master and two nodes, up or not, with the config above; after a failure all anew."""
    stack.wanted = copy.deepcopy(CONFIG)
    if stack.has_failed:
        make_away(stack)
    return stack


def make_away(cluster: Cluster) -> None:
    """Remove the cluster, in whatever state it is, so that the next `up` is a first one."""
    for line in go_on(NAME, cluster.pulumi.folder, cluster.pulumi.environment):
        print(line, file=sys.stderr)
    cluster.destroy()
    cluster.has_failed = False


@pytest.fixture
def moments() -> random.Random:
    seed = os.environ.get(SEED) or secrets.token_hex(4)
    print(f"{SEED}={seed}", file=sys.stderr)
    return random.Random(seed)


def kill_up(cluster: Cluster, seconds: float) -> None:
    """`pulumi up`, killed after so long, and the look at its lock that `make up` begins with."""
    cluster.write_config(cluster.wanted)
    cluster.has_failed = True  # so that what it left is removed, whatever happens here
    until = time.monotonic() + seconds
    killed = cluster.pulumi.killed_up(lambda: time.monotonic() >= until)
    print(f"killed after {seconds:.1f} s" if killed else "it was faster", file=sys.stderr)
    environment = cluster.pulumi.environment
    project = (environment["PULUMI_BACKEND_URL"], "kubernetes-anywhere", NAME)
    # In its first second it has none yet.
    assert len(lock_files(*project)) <= killed
    for line in go_on(NAME, cluster.pulumi.folder, environment):
        print(line, file=sys.stderr)
    assert lock_files(*project) == []


def assert_well(cluster: Cluster) -> None:
    """Everything works soon, nothing is left to do, and nothing is there twice."""
    cluster.has_failed = True  # until all of it was seen: the next test is not to begin with less
    Pair(cluster).make()
    for name in CHECKS:
        if name != "top_of_every_host":  # the default has no metrics-server
            cluster.wait(name, partial(passes, cluster, name), WELL_SECONDS)
    assert cluster.pulumi.preview().changed() == set()
    state = cluster.pulumi.secrets()["deployment"]
    assert not state.get("pending_operations")
    name = cluster.config.name
    names = {f"{name}-api", f"{name}-mirror", *cluster.hosts}
    found = machine.inspected("container", machine.listed("container", name))
    assert {item["Name"].removeprefix("/") for item in found} == names
    cluster.has_failed = False


def test_an_up_that_was_killed_is_finished_by_the_next(
    cluster: Cluster, moments: random.Random
) -> None:
    began = time.monotonic()
    cluster.up()
    whole = time.monotonic() - began
    assert_well(cluster)
    for trial in range(FIRST_UPS):
        cluster.destroy()
        print(f"trial {trial}", file=sys.stderr)
        kill_up(cluster, moments.uniform(0, whole))
        cluster.up()
        assert_well(cluster)


def test_a_change_that_was_killed_is_finished_by_the_next(
    cluster: Cluster, moments: random.Random
) -> None:
    """Kubelets of all hosts restart, static pods are made anew, and a node goes and comes."""
    cluster.up()
    plain, pools = dict(cluster.wanted), cluster.wanted["pools"]
    changed = {
        **plain,
        "kubelet": {"config": {"maxPods": 77}},
        "apiserver": {"extraArgs": {"profiling": "false"}},
        "pools": [{**pools[0], "count": 3}],
    }
    began = time.monotonic()
    cluster.wanted = changed
    cluster.up()
    whole = time.monotonic() - began
    for trial in range(CHANGES):
        cluster.wanted = (plain, changed)[trial % 2]
        print(f"trial {trial}", file=sys.stderr)
        kill_up(cluster, moments.uniform(0, whole))
        cluster.up()
        assert_well(cluster)


def test_after_a_power_cut_the_cluster_comes_back_with_its_data(cluster: Cluster) -> None:
    """Every host of it at once, as it was, without a word of warning."""
    cluster.up()
    Pair(cluster).make()
    cluster.kubectl("create", "configmap", KEPT[-1], "--from-literal=key=value")
    cluster.has_failed = True  # until it is well again
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda name: machine.run("docker", "kill", name), cluster.hosts))
        list(pool.map(lambda name: machine.run("docker", "start", name), cluster.hosts))
    began = time.monotonic()
    for name in ("api_answers", "kubelets_report", "pods_reach_each_other", "pods_reach_the_api"):
        left = began + HEALTHY_SECONDS - time.monotonic()
        cluster.wait(name, partial(passes, cluster, name), left)
    print(f"healthy {time.monotonic() - began:.1f} s after the power was back", file=sys.stderr)
    assert cluster.get(*KEPT[:2], *KEPT[2:])["data"] == {"key": "value"}
    assert_well(cluster)


def passes(cluster: Cluster, name: str) -> bool:
    """Whether a check of the battery passes now; AssertionError says why not."""
    try:
        CHECKS[name](cluster)
    except LookupError as error:  # such as a pod that has no address yet
        raise AssertionError(f"{name}: there is no {error} yet") from error
    return True


@pytest.mark.parametrize("after", [2.0, 12.0])
def test_an_up_waits_for_a_registry_that_is_away(cluster: Cluster, after: float) -> None:
    """From so many seconds after it was first there: while hosts fetch, and while pods want images.

    A minute, in which nothing answers at its address.
    """
    if cluster.is_up:
        make_away(cluster)
    mirror = f"{NAME}-mirror"
    was_away = threading.Event()

    def take_away() -> None:
        cluster.wait("the registry", lambda: is_running(mirror), 120)
        time.sleep(after)  # the moment is the test's parameter, and not a condition
        machine.run("docker", "stop", "--time", "0", mirror)
        time.sleep(AWAY_SECONDS)
        machine.run("docker", "start", mirror)
        was_away.set()

    with ThreadPoolExecutor() as pool:
        away = pool.submit(take_away)
        done = cluster.up()
        away.result()
    assert was_away.is_set()
    assert done.seconds > AWAY_SECONDS
    assert_well(cluster)


def is_running(container: str) -> bool:
    state = ("docker", "inspect", "--format", "{{.State.Running}}", container)
    return machine.run(*state, check=False).strip() == "true"
