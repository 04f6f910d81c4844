"""Each rule of a cloud's firewall is needed: without it something fails, and with it again works.

Ten minutes or more for each cloud, so not part of the usual tests: `make test-long`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from components import firewall
from tests.clouds.core.account import Thing
from tests.clouds.environment import PLATFORMS
from tests.e2e import machine
from tests.e2e.battery import CHECKS
from tests.e2e.clouds import CloudCluster, config
from tests.e2e.test_pods import Pair

pytestmark = [pytest.mark.e2e, pytest.mark.long]


@pytest.fixture(scope="module", params=sorted(PLATFORMS))
def cloud(
    request: pytest.FixtureRequest,
    variables: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[CloudCluster]:
    """A cluster, up, on each cloud in turn."""
    folder = tmp_path_factory.mktemp(f"rules-{request.param}")
    made = CloudCluster(folder, variables, request.param, config(request.param))
    made.sweep()
    made.up()
    Pair(made).make()
    yield made
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


def failures(cloud: CloudCluster) -> dict[str, str]:
    """{check that fails: how}."""
    found = {}
    for name, check in CHECKS.items():
        try:
            check(cloud)
        except (AssertionError, OSError, pytest.fail.Exception) as error:
            found[name] = str(error).strip().splitlines()[0][:200]
    return found


def test_without_any_one_rule_something_fails(cloud: CloudCluster) -> None:
    assert failures(cloud) == {}
    harmless = []
    for rule in firewall.rules(cloud.config):
        whole = cloud.account_file.read_text()
        things = things_of(cloud, rule)
        assert things, f"{rule.name} is nowhere in the account"
        for identity in things:
            cloud.mishap("revoke", identity)
        forget_connections(cloud)
        broken = failures(cloud)
        print(f"{cloud.platform}: without {rule.name} ({rule.why}): {broken or 'nothing breaks'}")
        harmless += [] if broken else [rule.name]
        cloud.account_file.write_text(whole)
        cloud.realise()
        forget_connections(cloud)
        assert failures(cloud) == {}, f"{rule.name} is back"
    assert harmless == []
