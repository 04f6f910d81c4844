"""Compute Engine as data: what it refuses, and where its defaults' words are from."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from pulumi_gcp import compute

from components import firewall
from components.gce import facts, machine, platform
from components.gce.firewall import tag
from components.gce.rules import LIMITS, rules
from components.naming import CLUSTER_TAG, physical, tags
from components.userdata import cloud_config
from config import ClusterConfig
from tests.clouds.gcp.offers import IMAGES, MACHINE_TYPES
from tests.clouds.mocked import keys
from versions import Arch

if TYPE_CHECKING:
    from findings import Loc

LONGEST = "a" * 40  # what a cluster's name may be


def config(**more: Any) -> ClusterConfig:
    return ClusterConfig.model_validate_json(json.dumps(keys("gce", arch="amd64", **more)))


def faults(**more: Any) -> dict[Loc, str]:
    return {finding.at: f"{finding.message}; {finding.remedy}" for finding in rules(config(**more))}


def test_the_simplest_config_is_right() -> None:
    assert faults() == {}


ACCEPTED: list[dict[str, Any]] = [
    {"account": "example.com:my-project"},
    {"region": "northamerica-northeast1", "zones": ["northamerica-northeast1-a"]},
    {"zones": ["us-central1-a", "us-central1-ai1a"]},
    {"tags": {"team": "platform", "cost-center": "42"}},
    {"network": {"existing": "default"}},
    {"network": {"existing": "projects/simulated-project/global/networks/default"}},
    {"masters": {"etcdDiskGb": 10}},
    {"masters": {"machineType": "n2-custom-4-8192"}},
    {"masters": {"image": "projects/debian-cloud/global/images/family/debian-13"}},
    {"masters": {"image": "projects/my-project/global/images/mine-v1"}},
    {"pools": [{"name": "arm", "arch": "arm64", "machineType": "c4a-standard-2"}]},
]
REFUSED: list[tuple[dict[str, Any], Loc, str]] = [
    ({"account": None}, ("account",), "is missing: Google Cloud needs to know the project"),
    ({"account": "My-Project"}, ("account",), "is no project of Google Cloud"),
    ({"region": None}, ("region",), "add region: us-central1"),
    ({"region": "us-east-1"}, ("region",), "is no region of Google Cloud"),
    ({"zones": ["us-east1-b"]}, ("zones", 0), "write one like us-central1-a"),
    ({"tags": {"Team": "a"}}, ("tags", "Team"), "cannot be a label's key"),
    ({"tags": {"kubernetes.io/x": "a"}}, ("tags", "kubernetes.io/x"), "cannot be a label's key"),
    ({"tags": {"team": "A b"}}, ("tags", "team"), "cannot be a label's value"),
    ({"tags": {f"key{n}": "" for n in range(64)}}, ("tags",), "write at most 63"),
    ({"network": {"hostCidr": "169.254.0.0/24"}}, ("network", "hostCidr"), "metadata server"),
    ({"network": {"hostCidr": "10.0.0.0/30"}}, ("network", "hostCidr"), "from /4 to /29"),
    ({"network": {"backend": "host-gw"}}, ("network", "backend"), "write vxlan"),
    ({"network": {"existing": "vpc_1"}}, ("network", "existing"), "is no network of Google Cloud"),
    (
        {"network": {"existing": "projects/other-project/global/networks/default"}},
        ("network", "existing"),
        "is another project's",
    ),
    ({"masters": {"etcdDiskGb": 9}}, ("masters", "etcdDiskGb"), "write 10 or more"),
    (
        {"masters": {"machineType": "t3.large"}},
        ("masters", "machineType"),
        "is no machine type of Google Cloud; write one like e2-medium",
    ),
    (
        {"masters": {"machineType": "t2a-standard-2"}},
        ("masters", "machineType"),
        "is for arm64, but the machines' arch is amd64",
    ),
    (
        {"pools": [{"name": "arm", "arch": "arm64", "machineType": "e2-medium"}]},
        ("pools", 0, "machineType"),
        "is for amd64, but the machines' arch is arm64",
    ),
    (
        {"masters": {"image": "projects/p/global/images/ubuntu-2404-noble-arm64-v1"}},
        ("masters", "image"),
        "is for arm64",
    ),
    ({"masters": {"image": "ami-0123"}}, ("masters", "image"), "is no image of Google Cloud"),
    ({"access": {"apiFrom": ["203.0.113.7/32"]}}, ("access", "sshFrom"), "nobody could log in"),
]


@pytest.mark.parametrize("more", ACCEPTED, ids=str)
def test_what_is_right_is_taken(more: dict[str, Any]) -> None:
    assert faults(**more) == {}


@pytest.mark.parametrize(
    ("more", "at", "words"), REFUSED, ids=["-".join(map(str, at)) for _, at, _ in REFUSED]
)
def test_what_is_wrong_is_refused_before_anything_is_made(
    more: dict[str, Any], at: Loc, words: str
) -> None:
    found = faults(**more)
    assert list(found) == [at]
    assert words in found[at]


def test_limits_are_those_of_the_simulated_cloud() -> None:
    assert (LIMITS.largest_network, LIMITS.smallest_subnet) == (4, 29)


# --- names


@pytest.mark.parametrize("peer", firewall.Peer)
def test_a_network_tag_is_a_name_that_google_takes(peer: firewall.Peer) -> None:
    found = tag(config(name=LONGEST), peer)
    assert facts.NAME_FORM.fullmatch(found)
    assert found.startswith(LONGEST)


def test_firewall_rules_have_names_that_google_takes_and_no_two_the_same() -> None:
    found = [physical(f"{LONGEST}-{rule.name}", facts.NAME_LIMIT) for rule in firewall.TABLE]
    assert all(facts.NAME_FORM.fullmatch(name) for name in found)
    assert len(set(found)) == len(firewall.TABLE)
    assert max(map(len, found)) == facts.NAME_LIMIT


def test_the_cluster_s_own_label_is_one() -> None:
    made = tags(config(name=LONGEST, tags={"team": "a"}))
    assert made == {"team": "a", CLUSTER_TAG: LONGEST}
    assert all(facts.LABEL_KEY_FORM.fullmatch(key) for key in made)
    assert all(facts.LABEL_VALUE_FORM.fullmatch(value) for value in made.values())


# --- facts


# The SDK has no enums: what it takes stands in what its classes say of themselves.
WORDS: list[tuple[type, str, str]] = [
    (compute.RegionBackendServiceBackendArgs, "balancing_mode", "CONNECTION"),
    (compute.RegionBackendServiceArgs, "load_balancing_scheme", "EXTERNAL"),
    (compute.RegionBackendServiceArgs, "protocol", "TCP"),
    (compute.ForwardingRuleArgs, "load_balancing_scheme", "EXTERNAL"),
    (compute.ForwardingRuleArgs, "ip_protocol", "TCP"),
    (compute.FirewallAllowArgs, "protocol", "tcp"),
    (compute.FirewallAllowArgs, "protocol", "udp"),
    (compute.RouterNatArgs, "nat_ip_allocate_option", "MANUAL_ONLY"),
    (compute.RouterNatArgs, "source_subnetwork_ip_ranges_to_nat", "LIST_OF_SUBNETWORKS"),
    (compute.RouterNatSubnetworkArgs, "source_ip_ranges_to_nats", "PRIMARY_IP_RANGE"),
    (compute.InstanceSchedulingArgs, "provisioning_model", "SPOT"),
    (compute.InstanceBootDiskInitializeParamsArgs, "type", "pd-balanced"),
    (compute.InstanceAttachedDiskArgs, "device_name", "/dev/disk/by-id/google-"),
    (compute.NetworkArgs, "mtu", "1460"),
]


@pytest.mark.parametrize(("owner", "name", "word"), WORDS)
def test_the_sdk_knows_the_words_of_our_defaults(owner: type, name: str, word: str) -> None:
    documentation = str(vars(owner)["__init__"].__doc__)
    (text,) = re.findall(rf":param [^:]* {name}: (.*?)(?=\n *:param |\Z)", documentation, re.DOTALL)
    assert word in text


@pytest.mark.parametrize("arch", Arch)
def test_the_default_machine_starts_the_default_image_from_the_default_disk(arch: Arch) -> None:
    kind, image = facts.MACHINE_TYPES[arch], facts.IMAGES[arch]
    there = MACHINE_TYPES[kind]
    assert facts.architecture(kind) is arch
    assert facts.disk_type(kind) in there.disk_types
    families = {one.family: one.architecture for one in IMAGES if one.project == image.project}
    assert families[str(image.family)] == there.architecture


@pytest.mark.parametrize(
    ("kind", "arch"),
    [
        ("e2-medium", Arch.AMD64),
        ("custom-2-4096", Arch.AMD64),
        ("n2d-standard-2", Arch.AMD64),
        ("t2d-standard-1", Arch.AMD64),
        ("c4d-standard-2", Arch.AMD64),
        ("t2a-standard-1", Arch.ARM64),
        ("c4a-standard-1", Arch.ARM64),
        ("n4a-standard-1", Arch.ARM64),
        ("q9-standard-1", None),
    ],
)
def test_a_series_has_an_architecture(kind: str, arch: Arch | None) -> None:
    assert facts.architecture(kind) is arch


@pytest.mark.parametrize(
    ("kind", "disk"),
    [
        ("e2-medium", "pd-balanced"),
        ("t2a-standard-2", "pd-balanced"),
        ("c3-standard-4", "pd-balanced"),
        ("custom-2-4096", "pd-balanced"),
        ("c4-standard-2", "hyperdisk-balanced"),
        ("c4a-standard-2", "hyperdisk-balanced"),
        ("n4-standard-2", "hyperdisk-balanced"),
    ],
)
def test_the_newest_machines_take_hyperdisk_only(kind: str, disk: str) -> None:
    assert facts.disk_type(kind) == disk


def test_an_image_is_named_or_the_newest_of_a_family() -> None:
    named = facts.image("projects/p/global/images/mine", Arch.AMD64)
    assert named == facts.Image(project="p", name="mine")
    newest = facts.image("projects/p/global/images/family/mine", Arch.AMD64)
    assert newest == facts.Image(project="p", family="mine")
    assert facts.image(None, Arch.ARM64).family == "ubuntu-2404-lts-arm64"


def test_pods_packets_are_as_large_as_fits_into_the_network_s() -> None:
    assert platform.TRAITS.flannel == {"MTU": 1410}


def test_user_data_is_cloud_config_and_what_google_s_guest_needs() -> None:
    made = machine.user_data("PRIVATE", "ssh-ed25519 AAAA", "/dev/disk/by-id/google-etcd")
    document = yaml.safe_load(made)
    common = yaml.safe_load(cloud_config("PRIVATE", "ssh-ed25519 AAAA", facts.ETCD_PATH))
    assert made.startswith("#cloud-config\n")
    assert {key: document[key] for key in common} == common
    assert document.keys() - common.keys() == {"bootcmd", "write_files"}
    (guard,) = document["bootcmd"]
    assert " ".join(guard) == (
        "iptables -w -t mangle -I FORWARD -d 169.254.169.254 -p tcp ! --dport 53 -j DROP"
    )
    (agent,) = document["write_files"]
    assert agent["content"] == "[InstanceSetup]\nset_host_keys = false\n"
