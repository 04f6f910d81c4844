"""What the program believes of AWS, against the installed SDK and against itself."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

import pytest
from pulumi_aws import Region, ebs, ec2, lb

from components.aws import facts
from components.aws.platform import TRAITS
from tests.clouds.aws import world
from versions import Arch

TYPES = {kind.value for kind in ec2.InstanceType}


@pytest.mark.parametrize("arch", Arch)
def test_the_default_types_exist_and_are_of_their_architecture(arch: Arch) -> None:
    for kind in (facts.MACHINE_TYPES[arch], facts.BASTION_TYPES[arch]):
        assert kind in TYPES
        assert facts.architecture(kind) is arch
        assert kind.partition(".")[0] not in facts.XEN


def test_every_region_and_type_of_the_sdk_has_the_form_that_the_rules_ask_for() -> None:
    assert [region.value for region in Region if not facts.REGION.fullmatch(region.value)] == []
    assert [kind for kind in TYPES if not facts.MACHINE_TYPE.fullmatch(kind)] == []


def test_every_generation_without_disk_names_is_one_that_the_sdk_knows() -> None:
    assert {kind.partition(".")[0] for kind in TYPES} >= facts.XEN


@pytest.mark.parametrize(
    ("kind", "arch"),
    [
        ("t3.medium", Arch.AMD64),
        ("t4g.medium", Arch.ARM64),
        ("m7gd.large", Arch.ARM64),
        ("c7gn.large", Arch.ARM64),
        ("im4gn.large", Arch.ARM64),
        ("a1.large", Arch.ARM64),
        ("p6e-gb200.36xlarge", Arch.ARM64),
        ("m7i-flex.large", Arch.AMD64),
        ("g5.xlarge", Arch.AMD64),  # g for graphics, not for Graviton
        ("g5g.xlarge", Arch.ARM64),
        ("gr6.4xlarge", Arch.AMD64),
        ("u-6tb1.112xlarge", None),
    ],
)
def test_a_type_s_name_says_what_it_computes_with(kind: str, arch: Arch | None) -> None:
    assert kind in TYPES
    assert facts.architecture(kind) is arch


def test_the_simulated_cloud_and_the_program_agree_on_what_types_compute_with() -> None:
    for word, kinds in world.TYPES.items():
        for kind in kinds:
            arch = facts.architecture(kind)
            assert kind in TYPES
            assert arch is not None
            assert facts.IMAGE_ARCHITECTURES[arch] == word


# Words that are no enums in the SDK: where its own text for the property has them.
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (ec2.InstanceRootBlockDeviceArgs, [facts.DISK_TYPE]),
        (ec2.InstanceMetadataOptionsArgs, ["`required`"]),
        (ec2.InstanceInstanceMarketOptionsArgs, ["`spot`"]),
        (ec2.InstanceInstanceMarketOptionsSpotOptionsArgs, ["`one-time`", "`terminate`"]),
        (ebs.VolumeArgs, [facts.DISK_TYPE]),
        (lb.LoadBalancerArgs, ["`network`"]),
        (lb.TargetGroupArgs, ["`TCP`", "`instance`"]),
        (lb.TargetGroupHealthCheckArgs, ["`HTTPS`", "`200` and `599`"]),
        (lb.ListenerArgs, ["`TCP`", str(facts.IDLE_SECONDS)]),
        (lb.ListenerDefaultActionArgs, ["`forward`"]),
    ],
)
def test_a_word_of_ours_is_one_of_the_sdk_s(arguments: Any, words: list[str]) -> None:
    text = arguments.__init__.__doc__
    assert [word for word in words if word not in text] == []


def test_flannel_s_packets_fit_into_the_network_s() -> None:
    assert TRAITS.flannel == {"MTU": 8951}


def test_the_disk_of_etcd_is_found_by_its_volume() -> None:
    path = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0123456789abcdef0"
    assert facts.etcd_disk("vol-0123456789abcdef0") == path


@pytest.mark.parametrize("zones", range(1, 9))
@pytest.mark.parametrize("prefix", [16, 20, 24])
def test_subnets_are_apart_and_within_the_range(prefix: int, zones: int) -> None:
    whole = f"172.30.0.0/{prefix}"
    found = facts.cut(whole, zones)
    assert len(found.public) == len(found.private) == zones
    pieces = [IPv4Network(cidr) for cidr in (*found.public, *found.private)]
    assert all(piece.subnet_of(IPv4Network(whole)) for piece in pieces)
    assert not any(one.overlaps(other) for one, other in combinations(pieces, 2))
    assert {piece.prefixlen for piece in pieces} == {facts.subnet_prefix(whole, zones)}


def test_no_subnet_moves_when_a_zone_is_added() -> None:
    for zones in range(1, 4):
        before, after = (facts.cut("172.30.0.0/24", count) for count in (zones, zones + 1))
        assert after.public[:zones] == before.public
        assert after.private[:zones] == before.private


def test_the_default_range_in_three_zones() -> None:
    assert facts.cut("172.30.0.0/24", 3) == facts.Subnets(
        public=("172.30.0.0/27", "172.30.0.64/27", "172.30.0.128/27"),
        private=("172.30.0.32/27", "172.30.0.96/27", "172.30.0.160/27"),
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("pods, by the Service `kubernetes`", "pods, by the Service kubernetes"),
        ("another's API server", "anothers API server"),
        ("ä — ok: 1/2 (x)", "  ok: 1/2 (x)"),
    ],
)
def test_a_description_has_only_what_aws_takes(text: str, left: str) -> None:
    assert facts.NOT_IN_DESCRIPTIONS.sub("", text) == left
