"""Each rule of a cloud's firewall is needed: without it something fails, and with it again works.

Half an hour or more for each cloud, so not part of the usual tests: `make test-long`.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from components import firewall
from components.firewall import Peer, Rule
from tests.clouds.core.account import Thing
from tests.clouds.environment import PLATFORMS
from tests.e2e import machine
from tests.e2e.battery import CHECKS, Check
from tests.e2e.clouds import CloudCluster, config
from tests.e2e.test_pods import Pair

pytestmark = [pytest.mark.e2e, pytest.mark.long]


FAILURES = (
    AssertionError,
    OSError,
    asyncssh.Error,
    subprocess.SubprocessError,
    pytest.fail.Exception,
)
PERSISTS_SECONDS = 15.0  # so that what a busy computer fails is not taken for the rule's doing
AGAIN_SECONDS = 180  # etcd may have to elect a leader, and pods to be probed


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A cluster, and the rules that are needed only in one like it."""

    config: Mapping[str, Any]
    proves: Callable[[Rule], bool]


def between_masters(rule: Rule) -> bool:
    return rule.source is rule.target is Peer.MASTER


def of_the_bastion(rule: Rule) -> bool:
    return Peer.BASTION in {rule.source, rule.target}


TOPOLOGIES: Mapping[str, Topology] = {
    "nodes": Topology(
        config={}, proves=lambda rule: not between_masters(rule) and not of_the_bastion(rule)
    ),
    "masters": Topology(
        config={"masters": {"count": 3}, "pools": [{"name": "node", "count": 1}]},
        proves=between_masters,
    ),
    "private": Topology(config={"access": {"private": True}}, proves=of_the_bastion),
}


def test_the_topologies_prove_every_rule() -> None:
    for rule in firewall.TABLE:
        assert sum(topology.proves(rule) for topology in TOPOLOGIES.values()) == 1, rule.name


@pytest.fixture(params=sorted(TOPOLOGIES))
def topology(request: pytest.FixtureRequest) -> Topology:
    return TOPOLOGIES[request.param]


@pytest.fixture(params=sorted(PLATFORMS))
def cloud(
    request: pytest.FixtureRequest,
    topology: Topology,
    variables: dict[str, str],
    tmp_path: Path,
) -> Iterator[CloudCluster]:
    """A cluster, up, on each cloud in turn."""
    wanted = config(request.param, **topology.config)
    made = CloudCluster(tmp_path, variables, request.param, wanted)
    made.sweep()
    try:
        made.up()
        Pair(made).make()
        yield made
    finally:
        made.destroy_all(check=False)
        made.sweep()


def name_of(thing: Thing) -> str:
    """What a rule of any cloud is called."""
    return str(thing["securityRuleName"] or thing["name"] or (thing["tags"] or {}).get("Name", ""))


def things_of(cloud: CloudCluster, rule: firewall.Rule) -> list[str]:
    """The ids of what a row of the table became in the account."""
    whole = f"{cloud.name}-{rule.name}"
    return [
        thing.id
        for thing in cloud.account.things.values()
        if name_of(thing) in {whole, rule.name} or name_of(thing).startswith(f"{whole}-")
    ]


def forget_connections(cloud: CloudCluster) -> None:
    """Let every connection be judged anew: a rule only matters to those that begin."""
    for name in (*cloud.hosts, f"simulated-{cloud.plugin}-router"):
        machine.run("docker", "exec", name, "conntrack", "-F")


def restart_metrics_server(cloud: CloudCluster) -> None:
    """It keeps connections to each kubelet open, which the kubelets' own packets keep alive."""
    for name in cloud.hosts:
        machine.run("docker", "exec", name, "pkill", "-x", "metrics-server", check=False)


def move_metrics_server(cloud: CloudCluster) -> None:
    """To a node, in whose name rules let it reach kubelets; it may run on masters, too."""
    cloud.kubectl("cordon", *cloud.masters)
    deployment = ("-n", "kube-system", "deployment/metrics-server")
    cloud.kubectl("rollout", "restart", *deployment)
    cloud.kubectl("rollout", "status", *deployment, "--timeout=100s")
    cloud.kubectl("uncordon", *cloud.masters)


def failure(check: Check, cloud: CloudCluster) -> str:
    """How a check fails; empty when it passes, if not at once."""
    until = time.monotonic() + PERSISTS_SECONDS
    while True:
        try:
            check(cloud)
        except FAILURES as error:
            if time.monotonic() > until:
                return (str(error).strip() or repr(error)).splitlines()[-1][:200]
        else:
            return ""


def first_failure(cloud: CloudCluster) -> tuple[str, str]:
    """The first check that fails, and how; two empty strings when all is well."""
    failures = ((name, failure(check, cloud)) for name, check in CHECKS.items())
    return next((found for found in failures if found[1]), ("", ""))


def test_without_any_one_rule_something_fails(cloud: CloudCluster, topology: Topology) -> None:
    move_metrics_server(cloud)
    assert first_failure(cloud) == ("", "")
    harmless = []
    for rule in filter(topology.proves, firewall.rules(cloud.config)):
        whole = cloud.account_file.read_text()
        things = things_of(cloud, rule)
        assert things, f"{rule.name} is nowhere in the account"
        for identity in things:
            cloud.mishap("revoke", identity)
        forget_connections(cloud)
        if rule.service == "kubelet":
            restart_metrics_server(cloud)
        broken, words = first_failure(cloud)
        print(f"{cloud.platform}: without {rule.name} ({rule.why}): {broken or 'nothing'}: {words}")
        harmless += [] if broken else [rule.name]
        cloud.account_file.write_text(whole)
        cloud.realise()
        forget_connections(cloud)
        check = CHECKS.get(broken, CHECKS["api_answers"])
        cloud.wait(f"{rule.name} again", partial(passes, check, cloud), AGAIN_SECONDS)
    assert harmless == []
    assert first_failure(cloud) == ("", "")


def passes(check: Check, cloud: CloudCluster) -> bool:
    return not failure(check, cloud)
