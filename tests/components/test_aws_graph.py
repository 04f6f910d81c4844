"""What the program registers on AWS, against the simulated cloud's own tables."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi import RunError

from components.aws import facts
from components.firewall import Peer
from components.firewall import rules as firewall_rules
from components.naming import CLUSTER_TAG
from model import Role
from tests.clouds.aws import CLOUD, tokens
from tests.clouds.mocked import ACCESS, Deployed, deploy, refused

PRIVATE: dict[str, Any] = {"access": {**ACCESS, "private": True}}
NOT_TAGGED = {
    tokens.ROUTE,
    tokens.ASSOCIATION,
    tokens.RESERVATION,
    tokens.VOLUME_ATTACHMENT,
    tokens.TARGET,
}
NAMED = {tokens.KEY_PAIR, tokens.GROUP, tokens.BALANCER, tokens.TARGET_GROUP}
ROLES = {
    "test-api": Peer.BALANCER,
    "test-master": Peer.MASTER,
    "test-node": Peer.NODE,
    "test-bastion": Peer.BASTION,
}
IN_VPC = {"existing": "vpc-existing", "hostCidr": "10.20.4.0/24"}
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "three masters": {"masters": 3},
    "private": PRIVATE,
    "existing": {"network": IN_VPC},
    "spot and arm": {
        "tags": {"team": "platform"},
        "pools": [
            {"name": "node", "count": 2, "spot": True},
            {"name": "arm", "count": 1, "arch": "arm64", "diskGb": 50},
        ],
    },
}


@pytest.fixture(scope="module", params=CASES)
def deployed(request: pytest.FixtureRequest) -> Deployed:
    return deploy("aws", **CASES[request.param])


@pytest.fixture(scope="module")
def default() -> Deployed:
    return deploy("aws", masters=3)


@pytest.fixture(scope="module")
def private() -> Deployed:
    return deploy("aws", **PRIVATE)


def test_nothing_is_on_a_default_provider(deployed: Deployed) -> None:
    (provider,) = deployed.graph.of_type("pulumi:providers:aws").values()
    resources = deployed.cloud
    assert len(resources) > 30
    assert {item.provider.rpartition("::")[0] for item in resources} == {provider.urn}
    assert provider.inputs["region"] == "us-east-1"
    assert "123456789012" in str(provider.inputs["allowedAccountIds"])


def test_everything_hangs_on_a_component_of_aws(deployed: Deployed) -> None:
    for item in deployed.cloud:
        assert item.parent.split("::")[2].rsplit("$", 1)[-1] in {
            "kubernetes-anywhere:aws:Network",
            "kubernetes-anywhere:aws:Masters",
            "kubernetes-anywhere:aws:Nodes",
        }, item.urn


def test_everything_that_can_have_tags_has_them(deployed: Deployed) -> None:
    for item in deployed.cloud:
        if item.type in NOT_TAGGED:
            assert "tags" not in item.inputs
            continue
        tags = item.inputs["tags"]
        assert tags.items() >= {**deployed.config.tags, CLUSTER_TAG: "test"}.items(), item.urn
        assert tags[facts.NAME_TAG], item.urn
    for item in deployed.graph.of_type(tokens.INSTANCE).values():
        assert item.inputs["rootBlockDevice"]["tags"] == item.inputs["tags"]


def test_no_two_things_of_a_type_carry_the_same_name(deployed: Deployed) -> None:
    names = [(t.token, t["tags"]["Name"]) for t in deployed.account.things.values() if t["tags"]]
    assert len(names) == len(set(names))


def test_only_types_that_the_simulated_cloud_has(deployed: Deployed) -> None:
    assert {item.type for item in deployed.cloud} <= {kind.token for kind in CLOUD.kinds}


def test_every_type_of_the_simulated_cloud_is_in_use(private: Deployed) -> None:
    used = {item.type for item in private.cloud}
    assert used == {kind.token for kind in CLOUD.kinds}


def test_the_preview_of_an_empty_stack_lists_every_resource() -> None:
    preview, update = (deploy("aws", preview=early).cloud for early in (True, False))
    assert sorted(item.urn for item in preview) == sorted(item.urn for item in update)


def test_a_machine_is_known_encrypted_and_keeps_its_secrets(deployed: Deployed) -> None:
    for item in deployed.graph.of_type(tokens.INSTANCE).values():
        assert item.inputs["rootBlockDevice"]["encrypted"] is True
        assert item.inputs["metadataOptions"] == {
            "httpTokens": "required",
            "httpPutResponseHopLimit": 1,
        }
        assert "userData" in item.secrets
        assert "ssh_keys" in item.inputs["userData"]
        assert "iamInstanceProfile" not in item.inputs
    for item in deployed.graph.of_type(tokens.VOLUME).values():
        assert item.inputs["encrypted"] is True
        assert item.protect


def test_only_the_disks_of_etcd_are_protected(deployed: Deployed) -> None:
    assert {item.type for item in deployed.cloud if item.protect} == {tokens.VOLUME}


def test_an_image_a_key_or_user_data_never_replaces_a_machine(deployed: Deployed) -> None:
    """F01: a newer image is for the next machine."""
    for item in deployed.graph.of_type(tokens.INSTANCE).values():
        assert item.ignore_changes == ("ami", "keyName", "userData")


def test_what_cannot_be_there_twice_is_gone_before_its_replacement_comes(
    deployed: Deployed,
) -> None:
    first = [item for item in deployed.cloud if item.delete_before_replace]
    kinds = {item.type for item in first}
    assert kinds == NAMED | {tokens.VOLUME_ATTACHMENT, tokens.INSTANCE}
    machines = {item.name for item in first if item.type == tokens.INSTANCE}
    assert machines == {spec.name for spec in deployed.config.hosts if spec.role is Role.MASTER}


def test_machines_are_spread_over_zones_and_pools_have_what_they_ask_for() -> None:
    deployed = deploy("aws", **CASES["spot and arm"])
    machines = {t["tags"]["Name"]: t for t in deployed.account.of(tokens.INSTANCE)}
    assert {name: t["availabilityZone"] for name, t in machines.items()} == {
        "test-master-0": "us-east-1a",
        "test-node-0": "us-east-1a",
        "test-node-1": "us-east-1b",
        "test-arm-0": "us-east-1a",
    }
    spot = {name for name, thing in machines.items() if thing["instanceMarketOptions"]}
    assert spot == {"test-node-0", "test-node-1"}
    assert machines["test-arm-0"]["instanceType"] == "t4g.medium"
    assert machines["test-arm-0"]["rootBlockDevice"]["volumeSize"] == 50


def test_the_image_is_canonical_s_newest(default: Deployed) -> None:
    images = {thing["ami"] for thing in default.account.of(tokens.INSTANCE)}
    assert images == {"ami-0a11ce0000000002b"}


def test_a_master_finds_etcd_s_disk_and_a_node_looks_for_none(default: Deployed) -> None:
    volume = default.named(tokens.VOLUME, "test-master-1-etcd")
    master = default.named(tokens.INSTANCE, "test-master-1")
    assert facts.etcd_disk(volume.id) in master["userData"]
    assert volume["availabilityZone"] == master["availabilityZone"]
    assert "etcd" not in default.named(tokens.INSTANCE, "test-node-0")["userData"]


def test_machines_wait_for_their_way_out_and_are_gone_before_it(deployed: Deployed) -> None:
    graph = deployed.graph
    gateways = graph.of_type(tokens.GATEWAY).values()
    routes = graph.of_type(tokens.ROUTE)
    for item in graph.of_type(tokens.INSTANCE).values():
        before = graph.ancestors(item)
        assert {gateway.urn for gateway in gateways} <= before
        private = deployed.config.access.private and not item.name.endswith("-bastion")
        assert routes["test-private" if private else "test-public"].urn in before
    for kind in (tokens.BALANCER, tokens.NAT, tokens.EIP):
        for item in graph.of_type(kind).values():
            assert routes["test-public"].urn in graph.ancestors(item), item.urn


def test_no_machine_depends_on_the_login_key_by_an_input(default: Deployed) -> None:
    """An input that is another resource's output would be unknown while the key is replaced."""
    for item in default.graph.of_type(tokens.INSTANCE).values():
        assert item.inputs["keyName"] == "test"
        assert default.graph.of_type(tokens.KEY_PAIR)["test"].urn in item.dependencies


def test_with_private_hosts_only_the_bastion_has_a_public_address(private: Deployed) -> None:
    public = {t["tags"]["Name"] for t in private.account.of(tokens.INSTANCE) if t["publicIp"]}
    assert public == {"test-bastion"}
    bastion = private.named(tokens.INSTANCE, "test-bastion")
    step = private.graph.step("test-node-0-reachable")
    assert step.inputs["connection"]["proxy"]["host"] == bastion["publicIp"]
    assert (
        step.inputs["connection"]["host"]
        == private.named(tokens.INSTANCE, "test-node-0")["privateIp"]
    )


def test_physical_names_fit_their_limits_at_the_longest_cluster_name() -> None:
    """Their own tables refuse what does not fit; the names stay apart and say whose they are."""
    name = "a" * 40
    deployed = deploy("aws", name=name)
    names = {t.token: t["name"] for t in deployed.account.things.values() if t["name"]}
    assert len(names[tokens.BALANCER]) == facts.LOAD_BALANCER_NAME
    assert names[tokens.BALANCER].startswith("a" * 20)
    assert deployed.named(tokens.GROUP, f"{name}-master")["name"] == f"{name}-master"


def test_an_existing_network_gets_subnets_and_nothing_of_its_own_is_touched() -> None:
    deployed = deploy("aws", **CASES["existing"])
    kinds = {item.type for item in deployed.cloud}
    assert not kinds & {tokens.VPC, tokens.GATEWAY}
    (route,) = deployed.account.of(tokens.ROUTE)
    assert route["gatewayId"] == "igw-existing"
    assert {t["cidrBlock"] for t in deployed.account.of(tokens.SUBNET)} == {
        "10.20.4.0/27",
        "10.20.4.64/27",
        "10.20.4.128/27",
    }


@pytest.mark.parametrize(
    ("more", "key", "words"),
    [
        ({"network": {"existing": "vpc-0bad"}}, "network.existing: vpc-0bad", "no matching"),
        (
            {"network": {"existing": "vpc-existing"}},
            "network.hostCidr: 172.30.0.0/24",
            "which has 10.20.0.0/16",
        ),
        (
            {"network": {**IN_VPC, "podCidr": "10.20.0.0/17", "hostCidr": "10.20.200.0/24"}},
            "network.podCidr: 10.20.0.0/17",
            "overlaps 10.20.0.0/16, which the network vpc-existing has",
        ),
        (
            {"network": {**IN_VPC, "serviceCidr": "10.20.64.0/20"}},
            "network.serviceCidr: 10.20.64.0/20",
            "overlaps 10.20.0.0/16, which the network vpc-existing has",
        ),
        ({"zones": ["us-east-1z"]}, "zones: us-east-1z", "us-east-1a"),
        (
            {"zones": ["us-east-1e", "us-east-1a"]},
            "machineType: t3.medium",
            "write zones: [us-east-1a, us-east-1b, us-east-1c]",
        ),
        (
            {"pools": [{"name": "node", "machineType": "t9.large"}]},
            "machineType: t9.large",
            "write another type",
        ),
        (
            {"pools": [{"name": "node", "image": "ami-0a11ce0000000003c"}]},
            "image: ami-0a11ce0000000003c",
            "is for arm64",
        ),
        (
            {"pools": [{"name": "node", "image": "ami-0123456789abcdef0"}]},
            "image: ami-0123456789abcdef0",
            "no results",
        ),
        ({"account": "210987654321"}, "", "not allowed: 123456789012"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_made(
    more: dict[str, Any], key: str, words: str
) -> None:
    """H20: among others, pods or Services in a range that the network has already."""
    error = refused("aws", **more)
    assert isinstance(error, RunError if key else Exception)
    assert str(error).startswith(key)
    assert words in str(error)


def test_an_image_that_amazon_deprecated_may_still_be_named() -> None:
    deployed = deploy("aws", pools=[{"name": "node", "image": "ami-0a11ce0000000005e"}])
    assert deployed.named(tokens.INSTANCE, "test-node-0")["ami"] == "ami-0a11ce0000000005e"


def opened(deployed: Deployed) -> set[tuple[str, int, Peer, Peer]]:
    """What the security groups let in, in the words of the firewall's table."""
    account, access = deployed.account, deployed.config.access
    groups = {group.id: ROLES[group["name"]] for group in account.of(tokens.GROUP)}
    nodes = [
        thing
        for thing in account.of(tokens.INSTANCE)
        if [groups[each] for each in thing["vpcSecurityGroupIds"]] == [Peer.NODE]
    ]
    outside = account.of(tokens.NAT) or nodes
    ranges = {
        **dict.fromkeys(access.ssh_from, Peer.ADMINISTRATOR),
        **dict.fromkeys(access.api_from, Peer.CLIENT),
        **{f"{thing['publicIp']}/32": Peer.OUTSIDE for thing in outside},
    }
    rules = account.of(tokens.INGRESS)
    assert ranges.keys() == {rule["cidrIpv4"] for rule in rules if rule["cidrIpv4"]}
    found = set()
    for rule in rules:
        cidr, target = rule["cidrIpv4"], groups[rule["securityGroupId"]]
        source = ranges[cidr] if cidr else groups[rule["referencedSecurityGroupId"]]
        by_the_endpoint = source in {Peer.CLIENT, Peer.OUTSIDE}
        assert by_the_endpoint == (target is Peer.BALANCER)
        assert rule["fromPort"] == rule["toPort"]
        port = int(rule["fromPort"])
        found.add((rule["ipProtocol"], port, source, Peer.MASTER if by_the_endpoint else target))
    return found


def test_the_groups_let_in_what_the_table_says_and_nothing_else(deployed: Deployed) -> None:
    table = {
        (rule.protocol, rule.port, rule.source, rule.target)
        for rule in firewall_rules(deployed.config)
    }
    assert opened(deployed) == table


def test_machines_may_send_anywhere_and_the_balancer_to_masters_only(private: Deployed) -> None:
    names = {group.id: group["name"] for group in private.account.of(tokens.GROUP)}
    found = {
        names[rule["securityGroupId"]]: (
            rule["cidrIpv4"] or names[rule["referencedSecurityGroupId"]],
            rule["ipProtocol"],
            rule["fromPort"],
        )
        for rule in private.account.of(tokens.EGRESS)
    }
    assert found == {
        "test-api": ("test-master", "tcp", 6443),
        "test-master": ("0.0.0.0/0", "-1", None),
        "test-node": ("0.0.0.0/0", "-1", None),
        "test-bastion": ("0.0.0.0/0", "-1", None),
    }
