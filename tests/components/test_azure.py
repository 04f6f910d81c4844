"""What Azure is like, as the program has it: facts, and the configs that it refuses. No SDK yet."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from components.azure import facts
from components.azure.rules import rules
from components.naming import physical
from config import ClusterConfig
from tests.conftest import ROOT
from versions import Arch

if TYPE_CHECKING:
    from findings import Finding

ACCOUNT = "00000000-0000-0000-0000-000000000001"
ACCESS = {"sshFrom": ["203.0.113.7/32"], "apiFrom": ["203.0.113.0/24"]}
VNET = f"subscriptions/{ACCOUNT}/resourceGroups/rg/providers/Microsoft.Network/virtualNetworks/net"
IMAGE = "Canonical:ubuntu-24_04-lts:server"


def config(**keys: Any) -> ClusterConfig:
    place = {"platform": "azure", "account": ACCOUNT, "region": "eastus", "access": ACCESS}
    return ClusterConfig.model_validate_json(json.dumps({"arch": "amd64", **place, **keys}))


def findings(**keys: Any) -> list[Finding]:
    return list(rules(config(**keys)))


def pool(**keys: object) -> dict[str, object]:
    return {"pools": [{"name": "node", "count": 1, **keys}]}


def masters(**keys: object) -> dict[str, object]:
    return {"masters": {"count": 1, **keys}}


class Bad(NamedTuple):
    """Keys, where the one finding stands, and a part of what it says."""

    keys: dict[str, Any]
    at: tuple[str | int, ...]
    words: str


BAD: dict[str, Bad] = {
    "no-account": Bad({"account": None}, ("account",), "needs to know the subscription"),
    "account": Bad({"account": "mine"}, ("account",), "is no subscription of Azure"),
    "no-region": Bad({"region": None}, ("region",), "needs to know where"),
    "region": Bad({"region": "us-east-1"}, ("region",), "is no region of Azure"),
    "zone": Bad({"zones": ["eastus-1"]}, ("zones", 0), "is no zone of the region"),
    "zone-twice": Bad({"zones": ["1", "1"]}, ("zones", 1), "is there twice"),
    "region-without-zones": Bad(
        {"region": "westus", "zones": ["1"]}, ("zones",), "the region westus has no zones"
    ),
    "user": Bad({"access": {**ACCESS, "sshUser": "admin"}}, ("access", "sshUser"), "to nobody"),
    "tiny-network": Bad(
        {"network": {"hostCidr": "10.0.0.0/30"}}, ("network", "hostCidr"), "of a size"
    ),
    "platform-address": Bad(
        {"network": {"hostCidr": "168.63.129.0/24"}}, ("network", "hostCidr"), "its own DNS"
    ),
    "size": Bad(
        pool(machineType="t3.medium"), ("pools", 0, "machineType"), "is no VM size of Azure"
    ),
    "arm-size": Bad(
        pool(machineType="Standard_D2ps_v5"), ("pools", 0, "machineType"), "is for arm64"
    ),
    "amd-size": Bad(
        {**pool(machineType="Standard_D2s_v5"), "arch": "arm64"},
        ("pools", 0, "machineType"),
        "is for amd64",
    ),
    "no-premium": Bad(
        masters(machineType="Standard_D2_v5"), ("masters", "machineType"), "no Premium SSD"
    ),
    "small-disk": Bad(pool(diskGb=20), ("pools", 0, "diskGb"), "smaller than the image"),
    "image": Bad(pool(image="ami-0123456789abcdef0"), ("pools", 0, "image"), "is no image"),
    "arm-image": Bad(
        pool(image="Canonical:ubuntu-24_04-lts:server-arm64"), ("pools", 0, "image"), "is for arm64"
    ),
    "tag-with-a-slash": Bad({"tags": {"a/b": "c"}}, ("tags", "a/b"), "cannot be a tag's name"),
    "tag-of-azure-s": Bad({"tags": {"Azure": "c"}}, ("tags", "Azure"), "begin those of Azure"),
    "tag-twice": Bad({"tags": {"team": "a", "Team": "b"}}, ("tags", "Team"), "the same tag as"),
    "many-tags": Bad({"tags": {f"t{n}": "" for n in range(50)}}, ("tags",), "more tags than"),
    "network": Bad({"network": {"existing": "vpc-1"}}, ("network", "existing"), "is no virtual"),
    "other-account-s-network": Bad(
        {"network": {"existing": VNET.replace(ACCOUNT, ACCOUNT.replace("1", "2"))}},
        ("network", "existing"),
        "another subscription",
    ),
}

GOOD: dict[str, dict[str, Any]] = {
    "least": {},
    "zones": {"zones": ["2", "3"]},
    "region-without-zones": {"region": "westus"},
    "existing": {"network": {"existing": VNET}},
    "existing-in-capitals": {"network": {"existing": VNET.upper()}, "account": ACCOUNT},
    "image-with-a-version": pool(image=f"{IMAGE}:24.04.202604010"),
    "small-disk-for-an-image-of-one-s-own": pool(image="me:mine:small", diskGb=20),
    "most-tags": {"tags": {f"t{n}": "" for n in range(49)}},
    "no-nodes": {"pools": []},
    "nodes-without-premium-disks": pool(machineType="Standard_D2_v5"),
    "arm": {"arch": "arm64", **pool(machineType="Standard_D2pds_v6")},
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_a_config_that_azure_cannot_do(case: Bad) -> None:
    found = [finding for finding in findings(**case.keys) if finding.at == case.at]
    assert len(found) == 1
    assert case.words in found[0].message
    assert found[0].remedy


@pytest.mark.parametrize("keys", GOOD.values(), ids=GOOD)
def test_a_config_that_azure_can_do(keys: dict[str, Any]) -> None:
    assert findings(**keys) == []


@pytest.mark.parametrize(
    ("size", "arch", "premium", "path"),
    [
        ("Standard_B2als_v2", "amd64", True, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_B2pls_v2", "arm64", True, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_D2_v5", "amd64", False, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_D2ps_v5", "arm64", True, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_D2ds_v6", "amd64", True, "/dev/disk/azure/data/by-lun/0"),
        ("Standard_D2pds_v6", "arm64", True, "/dev/disk/azure/data/by-lun/0"),
        ("Standard_DS2_v2", "amd64", True, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_M64-32ms", "amd64", True, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_NC24ads_A100_v4", "amd64", True, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_NP10s", "amd64", True, "/dev/disk/azure/scsi1/lun0"),
    ],
)
def test_a_size_says_in_its_name_what_it_is(
    size: str, arch: str, path: str, *, premium: bool
) -> None:
    assert facts.architecture(size) == arch
    assert facts.takes_premium_disks(size) is premium
    assert facts.etcd_disk(size) == path


def test_the_default_sizes_and_images_fit_their_architecture() -> None:
    for arch in Arch:
        for sizes in (facts.MACHINE_TYPES, facts.BASTION_TYPES):
            assert facts.architecture(sizes[arch]) is arch
            assert facts.takes_premium_disks(sizes[arch])
            assert facts.disk_controller(sizes[arch]) is None
        assert facts.image_architecture(facts.IMAGES[arch]) in {None, arch}
    assert facts.image_architecture(facts.IMAGES[Arch.ARM64]) is Arch.ARM64


def test_an_image_is_of_the_newest_version_unless_it_says_another() -> None:
    assert facts.image(IMAGE) == facts.Image("Canonical", "ubuntu-24_04-lts", "server", "latest")
    assert facts.image(f"{IMAGE}:24.04.1").version == "24.04.1"


def test_ranges_that_overlap_become_one() -> None:
    assert facts.apart(["10.0.0.0/16", "10.0.1.0/24", "10.1.0.0/16"]) == ["10.0.0.0/15"]
    assert facts.apart(["0.0.0.0/0", "203.0.113.7/32"]) == ["0.0.0.0/0"]


def test_a_network_s_id_is_read_with_and_without_its_first_slash() -> None:
    assert facts.network_names(VNET) == facts.network_names(f"/{VNET}") == ("rg", "net")
    assert facts.NETWORK.fullmatch(f"/{VNET}")


@pytest.mark.parametrize(
    ("ending", "limit"),
    [
        ("", facts.GROUP_NAME),
        ("-network", facts.NETWORK_NAME),
        ("-node-0", facts.MACHINE_NAME),
        ("-node-0-interface", facts.NAME),
    ],
)
def test_a_name_that_is_too_long_is_cut_and_stays_unique(ending: str, limit: int) -> None:
    longest = "n" * (limit - len(ending))
    assert physical(f"{longest}{ending}", limit) == f"{longest}{ending}"
    names = {physical(f"{longest}{more}{ending}", limit) for more in ("x", "y")}
    assert len(names) == 2
    assert {len(name) for name in names} == {limit}


def test_the_rules_load_no_sdk() -> None:
    script = "import components.azure.rules, sys\nprint('pulumi' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["False"]
