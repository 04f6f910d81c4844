"""The simulated AWS: what comes of what one makes, what it answers, and what befalls it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clouds.aws import CLOUD, tokens
from tests.clouds.aws.sample import (
    UBUNTU,
    Small,
    attach,
    instance,
    rule,
    small_account,
    subnet,
)
from tests.clouds.aws.world import EXISTING_GATEWAY, EXISTING_VPC
from tests.clouds.bench import SETTINGS, change, kinds, make, remove
from tests.clouds.core import sdk
from tests.clouds.core.kind import CloudError


@pytest.fixture
def small() -> Small:
    return small_account()


def test_everything_goes_in_the_order_in_which_it_came(small: Small) -> None:
    for thing in reversed([*small.account.things.values()]):
        remove(small.account, thing)
    assert small.account.things == {}


def test_addresses_are_of_the_subnet_and_never_one_that_aws_keeps(small: Small) -> None:
    assert small.instance["privateIp"] == "10.0.0.4"
    assert small.balancer["subnetMappings"] == [
        {"subnetId": small.subnet.id, "privateIpv4Address": "10.0.0.5"}
    ]
    assert instance(small.account, small.subnet, small.group)["privateIp"] == "10.0.0.6"


def test_a_public_address_is_had_where_the_subnet_gives_them(small: Small) -> None:
    assert small.instance["publicIp"]
    assert instance(small.account, subnet(small), small.group)["publicIp"] == ""


def test_a_machine_of_another_type_has_another_public_address(small: Small) -> None:
    before = small.instance["publicIp"]
    change(small.account, small.instance, tags={"Name": "x"})
    assert small.instance["publicIp"] == before
    change(small.account, small.instance, instanceType="t3.large")
    assert small.instance["publicIp"] not in {before, ""}
    assert small.instance["privateIp"] == "10.0.0.4"


@pytest.mark.parametrize("kind", CLOUD.kinds, ids=lambda kind: kind.token)
def test_a_table_s_properties_are_the_sdk_s(kind: Any) -> None:
    names = sdk.names(kind.sdk)
    assert kind.supported <= names
    assert {path.split(".")[0] for path in kind.immutable} <= kind.supported
    assert kind.defaults.keys() <= kind.supported


def test_the_version_is_the_sdk_s() -> None:
    assert CLOUD.version == "7.51.1"


ASKED: dict[str, tuple[str, dict[str, Any], str, object]] = {
    "zones, without those somewhere else": (
        "aws:index/getAvailabilityZones:getAvailabilityZones",
        {"filters": [{"name": "opt-in-status", "values": ["opt-in-not-required"]}]},
        "names",
        [f"us-east-1{letter}" for letter in "abcdef"],
    ),
    "what old zones have": (
        "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings",
        {
            "locationType": "availability-zone",
            "filters": [{"name": "instance-type", "values": ["t3.medium"]}],
        },
        "locations",
        [f"us-east-1{letter}" for letter in "abcdf"],
    ),
    "the newest image of an owner": (
        "aws:ec2/getAmi:getAmi",
        {
            "owners": ["099720109477"],
            "mostRecent": True,
            "filters": [{"name": "name", "values": ["ubuntu/images/*noble*amd64*"]}],
        },
        "id",
        UBUNTU,
    ),
    "the newest image of anybody, which is nobody's friend": (
        "aws:ec2/getAmi:getAmi",
        {
            "mostRecent": True,
            "filters": [{"name": "name", "values": ["ubuntu/images/*noble*amd64*"]}],
        },
        "ownerId",
        "666666666666",
    ),
    "a network": ("aws:ec2/getVpc:getVpc", {"id": EXISTING_VPC}, "cidrBlock", "10.20.0.0/16"),
    "its gateway": (
        "aws:ec2/getInternetGateway:getInternetGateway",
        {"filters": [{"name": "attachment.vpc-id", "values": [EXISTING_VPC]}]},
        "internetGatewayId",
        EXISTING_GATEWAY,
    ),
}


@pytest.mark.parametrize("case", ASKED)
def test_aws_answers(case: str) -> None:
    token, arguments, name, answer = ASKED[case]
    assert CLOUD.functions[token](arguments, SETTINGS["aws"])[name] == answer


UNANSWERED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a deprecated image": (
        "aws:ec2/getAmi:getAmi",
        {"filters": [{"name": "image-id", "values": ["ami-0a11ce0000000005e"]}]},
        "no results",
    ),
    "one of many images": (
        "aws:ec2/getAmi:getAmi",
        {"filters": [{"name": "name", "values": ["ubuntu/*"]}]},
        "more than one result",
    ),
    "another filter": (
        "aws:ec2/getAmi:getAmi",
        {"filters": [{"name": "color", "values": ["red"]}]},
        "The filter 'color' is invalid",
    ),
    "no network": ("aws:ec2/getVpc:getVpc", {"id": "vpc-0"}, "no matching EC2 VPC"),
}


@pytest.mark.parametrize("case", UNANSWERED)
def test_aws_has_no_answer(case: str) -> None:
    token, arguments, words = UNANSWERED[case]
    with pytest.raises(CloudError, match=words):
        CLOUD.functions[token](arguments, SETTINGS["aws"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"region": "us-east-9"}, "invalid AWS Region: us-east-9"),
        ({"region": "us-east-1", "allowedAccountIds": '["210987654321"]'}, "not allowed"),
    ],
)
def test_a_provider_that_is_not_meant_for_this_account(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(CloudError, match=words):
        CLOUD.functions["aws:ec2/getVpc:getVpc"]({"id": EXISTING_VPC}, settings)


def test_mishaps_take_what_they_say_and_what_hangs_on_it(small: Small) -> None:
    account = small.account
    attach(small, small.instance)
    make(account, tokens.TARGET, targetGroupArn=small.targets.id, targetId=small.instance.id)
    with pytest.raises(CloudError, match="no spot instance"):
        CLOUD.mishaps["reclaim"](account, small.instance.id)
    CLOUD.mishaps["terminate"](account, small.instance.id)
    for token in (tokens.INSTANCE, tokens.VOLUME_ATTACHMENT, tokens.TARGET):
        assert account.of(token) == []
    assert account.of(tokens.VOLUME) == [small.volume]


def test_a_zone_fails_with_all_its_machines_and_no_others(small: Small) -> None:
    account = small.account
    other = instance(account, subnet(small), small.group)
    CLOUD.mishaps["fail-zone"](account, "us-east-1a")
    assert account.of(tokens.INSTANCE) == [other]
    with pytest.raises(CloudError, match="no instance in the zone"):
        CLOUD.mishaps["fail-zone"](account, "us-east-1a")


def test_a_spot_machine_is_taken_back_and_a_rule_taken_away(small: Small) -> None:
    account = small.account
    options = {"marketType": "spot", "spotOptions": {"spotInstanceType": "one-time"}}
    spot = instance(account, small.subnet, small.group, instanceMarketOptions=options)
    CLOUD.mishaps["reclaim"](account, spot.id)
    assert account.get(spot.id) is None
    ssh = rule(small)
    CLOUD.mishaps["revoke"](account, ssh.id)
    assert account.of(tokens.INGRESS) == []
    with pytest.raises(CloudError, match="there is no"):
        CLOUD.mishaps["revoke"](account, small.vpc.id)


def test_every_type_has_a_row_of_its_own() -> None:
    assert len(kinds("aws")) == len(CLOUD.kinds)
