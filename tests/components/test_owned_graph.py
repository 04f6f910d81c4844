"""What `destroy` does first stands in the graph so that nothing it needs goes before or with it."""

from __future__ import annotations

import json

import pytest

from tests.clouds.mocked import PLATFORMS, record_cloud
from tests.conftest import LOCAL_COMMAND, Graph, Registered, record, whole

PROVIDERS = {"aws": "aws:", "gce": "gcp:", "azure": "azure-native:"}


@pytest.fixture(scope="module", params=PLATFORMS)
def platform(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def cloud(platform: str) -> Graph:
    return record_cloud(platform)


@pytest.fixture(scope="module")
def owned(cloud: Graph) -> Registered:
    return cloud.named(LOCAL_COMMAND, "test-owned")


def test_it_outlives_nothing_that_the_cluster_consists_of(
    platform: str, cloud: Graph, owned: Registered
) -> None:
    """Machines, and the ways between them: each firewall rule, listener and route."""
    kinds = (PROVIDERS[platform], "kubernetes:", "command:")
    parts = {
        item.urn
        for item in cloud
        if item.type.startswith(kinds) and item.name not in {"test-owned", "test-cluster-ready"}
    }
    assert len(parts) > 50
    assert parts - cloud.ancestors(owned) == set()


def test_nothing_comes_after_it(cloud: Graph, owned: Registered) -> None:
    assert [item.urn for item in cloud if owned.urn in item.dependencies] == []
    assert [item.urn for item in cloud if item.parent == owned.urn] == []


def test_it_runs_even_when_all_machines_go(owned: Registered) -> None:
    """What dies with something else is not deleted but forgotten."""
    assert owned.deleted_with == ""
    assert owned.inputs["delete"] == "release"
    assert owned.timeouts["delete"]


def test_no_change_has_it_replaced_or_do_harm(owned: Registered) -> None:
    assert owned.inputs["create"] == "keep"
    assert not owned.inputs.keys() & {"triggers", "update"}
    assert owned.protect


def test_it_is_asked_in_secret_and_knows_its_own_name(owned: Registered) -> None:
    assert "stdin" in owned.secrets
    request = json.loads(owned.inputs["stdin"])
    assert request["urn"] == owned.urn
    assert request.keys() == {"server", "ca", "certificate", "key", "urn"}


def test_this_computer_s_containers_need_none_of_it() -> None:
    assert "test-owned" not in record(whole()).of_type(LOCAL_COMMAND)
