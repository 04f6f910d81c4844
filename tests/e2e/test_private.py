"""A cluster whose hosts have no public address, on one simulated cloud: NAT out, a bastion in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.battery import CHECKS
from tests.e2e.clouds import CloudCluster, cluster_in_a_cloud
from tests.e2e.test_pods import Pair

pytestmark = [pytest.mark.e2e, pytest.mark.long]

PLATFORM = "aws"


@pytest.fixture(scope="module")
def private(
    variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudCluster]:
    """One master and two nodes, up."""
    folder, access = tmp_path_factory.mktemp("private"), {"private": True}
    with cluster_in_a_cloud(folder, variables, PLATFORM, access=access) as made:
        made.up()
        Pair(made).make()
        yield made


def test_only_the_bastion_has_a_public_address(private: CloudCluster) -> None:
    for name in private.hosts:
        assert not private.instance(name)["publicIp"], name
        assert private.public_address(name) == private.address(name), "SSH goes there directly"
    bastion = private.instance(f"{private.name}-bastion")
    assert private.connection(private.masters[0])["proxy"]["host"] == bastion["publicIp"]


@pytest.mark.parametrize("check", CHECKS)
def test_everything_works(private: CloudCluster, check: str) -> None:
    CHECKS[check](private)


def test_destroy_leaves_an_empty_account(private: CloudCluster) -> None:
    private.destroy_all()
    assert private.account.things == {}
    assert private.pulumi.resources() == []
