"""Each rule of a cloud's firewall is needed: without it something fails, and with it again works.

Half an hour or more for each cloud, so not part of the usual tests: `make test-long`.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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
from tests.e2e.clouds import CloudCluster, cluster_in_a_cloud
from tests.e2e.cluster import Cluster
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
MANY = 15  # connections: so many find one dead master of three but twice in a thousand times
DEAD_SECONDS = 40.0  # until the balancer has noticed, at most
AGAIN_SECONDS = 180  # etcd may have to elect a leader, and pods to be probed


@dataclass(frozen=True, kw_only=True)
class Topology:
    """A cluster, and the rules that are needed only in one like it."""

    config: Mapping[str, Any]
    proves: Callable[[Rule], bool]
    checks: Mapping[str, Check] = field(default_factory=lambda: CHECKS)


def between_masters(rule: Rule) -> bool:
    return rule.source is rule.target is Peer.MASTER


def of_the_bastion(rule: Rule) -> bool:
    return Peer.BASTION in {rule.source, rule.target}


def of_the_balancer(rule: Rule) -> bool:
    return rule.source is Peer.BALANCER


def api_answers_without_a_master(cloud: Cluster) -> None:
    """The endpoint leaves out a master that does not answer.

    GCE's balancer that knows of no healthy master forwards to all, as the real one does: nobody
    notices while all of them are well.
    """
    dead = cloud.masters[-1]
    machine.run("docker", "pause", dead)
    try:
        cloud.wait(f"{MANY} answers without {dead}", partial(many_answers, cloud), DEAD_SECONDS)
    finally:
        machine.run("docker", "unpause", dead)


def masters_reach_each_others_etcd(cloud: Cluster) -> None:
    """As one does that joins, or that removes another."""
    pki = "/etc/kubernetes/pki"
    keys = f"--cacert {pki}/etcd-ca.crt --cert {pki}/etcd.crt --key {pki}/etcd.key"
    for name in cloud.masters:
        for other in cloud.masters:
            url = f"https://{cloud.address(other)}:2379/health"
            assert "true" in cloud.host(name, f"curl -fsS --max-time 5 {keys} {url}")


def many_answers(cloud: Cluster) -> bool:
    """Whether all of many new connections to the endpoint are answered."""
    ask = ("get", "--raw", "/readyz", "--request-timeout=4s")
    try:
        return all(cloud.kubectl(*ask).strip() == "ok" for _ in range(MANY))
    except FAILURES:
        return False


TOPOLOGIES: Mapping[str, Topology] = {
    "nodes": Topology(
        config={},
        proves=lambda rule: (
            not (between_masters(rule) or of_the_bastion(rule) or of_the_balancer(rule))
        ),
    ),
    "masters": Topology(
        config={"masters": {"count": 3}, "pools": []},
        proves=lambda rule: between_masters(rule) or of_the_balancer(rule),
        checks={
            **CHECKS,
            api_answers_without_a_master.__name__: api_answers_without_a_master,
            masters_reach_each_others_etcd.__name__: masters_reach_each_others_etcd,
        },
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
    with cluster_in_a_cloud(tmp_path, variables, request.param, **topology.config) as made:
        made.up()
        Pair(made).make()
        yield made


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


def ask_anew(cloud: CloudCluster, rule: Rule) -> None:
    """Have a rule's connections begin anew: it does not matter to those that are there.

    Those of other rules stay as they are, so that nothing fails for having been cut off. To be
    forgotten is not enough for those that are open for long: a packet of the server's may be the
    first one after it, and is let out. Their clients are restarted.
    """
    of_rule = ("-p", rule.protocol, "--reply-port-src", str(rule.port))
    for name in (*cloud.hosts, f"simulated-{cloud.plugin}-router"):
        machine.run("docker", "exec", name, "conntrack", "-D", *of_rule, check=False)  # 1: none
    if rule.source is Peer.OUTSIDE:
        for name in cloud.nodes:
            cloud.host(name, "systemctl restart kubelet")
    if rule.service == "kubelet":
        end("metrics-server", cloud.hosts)
    if rule.service == "etcd":
        end("etcd", cloud.masters[-1:])  # the others are enough, and let it in again


def end(program: str, hosts: Iterable[str]) -> None:
    """End a pod's program, which is then started anew, where it runs."""
    for name in hosts:
        machine.run("docker", "exec", name, "pkill", "-x", program, check=False)


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
                lines = (str(error).strip() or repr(error)).splitlines()
                # A wait that has failed says what for, and then shows the cluster; a command that
                # has failed says why at the end.
                return lines[0 if isinstance(error, pytest.fail.Exception) else -1][:200]
        else:
            return ""


def first_failure(cloud: CloudCluster, checks: Mapping[str, Check]) -> tuple[str, str]:
    """The first check that fails, and how; two empty strings when all is well."""
    failures = ((name, failure(check, cloud)) for name, check in checks.items())
    return next((found for found in failures if found[1]), ("", ""))


def test_without_any_one_rule_something_fails(cloud: CloudCluster, topology: Topology) -> None:
    if cloud.nodes:
        move_metrics_server(cloud)
    assert first_failure(cloud, topology.checks) == ("", "")
    harmless = []
    for rule in filter(topology.proves, firewall.rules(cloud.config)):
        whole = cloud.account_file.read_text()
        things = things_of(cloud, rule)
        assert things, f"{rule.name} is nowhere in the account"
        for identity in things:
            cloud.mishap("revoke", identity)
        ask_anew(cloud, rule)
        broken, words = first_failure(cloud, topology.checks)
        print(f"{cloud.platform}: without {rule.name} ({rule.why}): {broken or 'nothing'}: {words}")
        harmless += [] if broken else [rule.name]
        cloud.account_file.write_text(whole)
        cloud.realise()
        check = topology.checks.get(broken, CHECKS["api_answers"])
        cloud.wait(f"{rule.name} again", partial(passes, check, cloud), AGAIN_SECONDS)
    assert harmless == []
    assert first_failure(cloud, topology.checks) == ("", "")


def passes(check: Check, cloud: CloudCluster) -> bool:
    return not failure(check, cloud)
