"""Configs that AWS cannot do: each key is named before anything is made, and nothing else is."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from components.aws.rules import rules
from config import ClusterConfig
from tests.clouds.mocked import ACCESS, keys
from tests.conftest import keys as some_cluster
from validation.problems import as_problem


class Bad(NamedTuple):
    """A mistake, and the one finding that has to come of it."""

    more: dict[str, Any]
    path: str
    message: str  # a part of it
    remedy: str  # a part of it


def found(**more: Any) -> list[tuple[str, str, str]]:
    given = {**some_cluster(), **keys("aws", **more)}
    config = ClusterConfig.model_validate_json(json.dumps(given))
    problems = [as_problem(finding) for finding in rules(config)]
    return [(problem.path, problem.message, problem.remedy) for problem in problems]


def network(**more: Any) -> dict[str, Any]:
    return {"network": more}


def masters(**more: Any) -> dict[str, Any]:
    return {"masters": {"count": 1, **more}}


def pool(**more: Any) -> dict[str, Any]:
    return {"pools": [{"name": "node", **more}]}


BAD = {
    "no account": Bad({"account": "my-account"}, "account", "is no account", "123456789012"),
    "no region given": Bad({"region": None}, "region", "is missing", "us-east-1"),
    "a zone as the region": Bad({"region": "us-east-1a"}, "region", "is no region", "us-east-1"),
    "a zone elsewhere": Bad({"zones": ["eu-west-1a"]}, "zones[0]", "us-east-1", "us-east-1a"),
    "a local zone": Bad({"zones": ["us-east-1-bos-1a"]}, "zones[0]", "is no zone", "us-east-1a"),
    "a zone twice": Bad({"zones": ["us-east-1a"] * 2}, "zones[1]", "twice", "leave one"),
    "nobody": Bad(
        {"access": {"sshFrom": ["203.0.113.7/32"]}}, "access.apiFrom", "is missing", "apiFrom"
    ),
    "anybody": Bad(
        {"access": {**ACCESS, "sshFrom": ["0.0.0.0/0"]}},
        "access.sshFrom[0]",
        "whole internet",
        "ADDRESS/32",
    ),
    "another cloud's type": Bad(
        masters(machineType="Standard_B2s"), "masters.machineType", "no instance type", "t3.large"
    ),
    "a type of another arch": Bad(
        pool(machineType="t4g.medium"), "pools[0].machineType", "is for arm64", "arch: arm64"
    ),
    "a type without disk names": Bad(
        masters(machineType="t2.medium"), "masters.machineType", "no names", "t3.medium"
    ),
    "no image id": Bad(pool(image="ubuntu-24.04"), "pools[0].image", "is no image", "ami-"),
    "another user": Bad(
        {"access": {**ACCESS, "sshUser": "admin"}}, "access.sshUser", "gets no key", "ubuntu"
    ),
    "no network id": Bad(network(existing="default"), "network.existing", "no id", "vpc-"),
    "a range of Amazon's": Bad(
        network(hostCidr="198.19.0.0/24"), "network.hostCidr", "AWS keeps", "10.10.0.0/16"
    ),
    "too big a range": Bad(
        network(hostCidr="10.0.0.0/15"), "network.hostCidr", "no network", "from /16 to /28"
    ),
    "subnets that are too small": Bad(
        network(hostCidr="172.30.0.0/27"), "network.hostCidr", "subnets of /30", "4 times as big"
    ),
    "a full subnet": Bad(
        {**network(hostCidr="172.30.0.0/25"), **pool(count=30)},
        "network.hostCidr",
        "gives the machines of a subnet 11 addresses, but in one are needed 3 for",
        "write a range of /24 or bigger",
    ),
    "another backend": Bad(network(backend="host-gw"), "network.backend", "cannot work", "vxlan"),
    "more rules than a group has": Bad(
        pool(count=60), "access.private", "asks for 61 rules", "private: true"
    ),
    "a tag of Amazon's": Bad({"tags": {"aws:x": "y"}}, "tags", "Amazon's", "another tag"),
    "the tag of names": Bad({"tags": {"Name": "x"}}, "tags.Name", "own name", "another tag"),
    "too many tags": Bad(
        {"tags": {f"tag{number}": "x" for number in range(49)}}, "tags", "AWS has 50", "48 at most"
    ),
    "a load balancer's name": Bad({"name": "internal-x"}, "name", "begins with internal-", "name"),
    "a group's name": Bad({"name": "sg-x"}, "name", "begins with sg-", "another name"),
    "a mirror on this computer": Bad(
        {"mirror": {"directory": "/mirror"}}, "mirror.url", "is missing", "url"
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_a_mistake_is_found_at_its_key_and_nowhere_else(case: str) -> None:
    bad = BAD[case]
    problems = found(**bad.more)
    assert len(problems) == 1, problems
    path, message, remedy = problems[0]
    assert path.startswith(bad.path)
    assert bad.message in message
    assert bad.remedy in remedy


GOOD: dict[str, dict[str, Any]] = {
    "the defaults": {},
    "no account": {"account": None},
    "zones": {"zones": ["us-east-1b", "us-east-1f"]},
    "private": {"access": {**ACCESS, "private": True}},
    "private, with more nodes than a group has rules": {
        "access": {**ACCESS, "private": True},
        "network": {"hostCidr": "172.30.0.0/22"},
        **pool(count=60),
    },
    "arm nodes": pool(arch="arm64", machineType="t4g.medium"),
    "an image for everybody": {
        "access": {**ACCESS, "sshUser": "admin"},
        **masters(image="ami-0123456789abcdef0"),
        **pool(image="ami-01234567"),
    },
    "Xen for nodes, which have one disk": pool(machineType="t2.medium"),
    "a network that is there": network(existing="vpc-0123456789abcdef0"),
    "as many tags as AWS has": {"tags": {f"tag{number}": "x" for number in range(48)}},
    "the smallest range": network(hostCidr="172.30.0.0/25"),
}


@pytest.mark.parametrize("case", GOOD)
def test_what_aws_can_do_is_not_refused(case: str) -> None:
    assert found(**GOOD[case]) == []
