"""What this program changes in the pod networks of others, on samples with their names in them.

`test_upstream` does the same on the real files, where this computer has them.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from addons import ADDONS, calico, cilium, render, weave
from addons.amend import container, containers, repository, set_environment, with_images
from addons.documents import read
from addons.objects import find, pod_spec
from interface import ADDONS_DIRECTORY, IN_CLUSTER_KUBECONFIG
from tests.addons.cases import config_of, context, delivered
from tests.addons.test_delivery import MANAGED, in_files, keys

if TYPE_CHECKING:
    from addons.objects import Manifest

SAMPLES = Path(__file__).parent / "samples"
PLUGINS = tuple(sorted(path.stem for path in SAMPLES.iterdir()))
RANGES: dict[str, Any] = {"podCidr": "10.128.0.0/14", "nodePrefix": 25}


def sample(plugin: str) -> list[Manifest]:
    found = read((SAMPLES / f"{plugin}.yaml").read_bytes())
    assert found.faults == []
    return found.objects


def rendered(plugin: str, network: list[Manifest] | None = None, **keys: Any) -> list[Manifest]:
    (addon,) = [addon for addon in ADDONS if addon.name == plugin]
    raw = {"network": {"plugin": plugin, **keys}}
    return render(addon, context(raw, network=network or sample(plugin)))


def environment(found: Manifest) -> dict[str, Any]:
    return {variable["name"]: variable.get("value") for variable in found["env"]}


def test_each_plugin_of_others_has_a_sample() -> None:
    assert PLUGINS == ("calico", "cilium", "weave")


@pytest.mark.parametrize("plugin", PLUGINS)
def test_images_are_the_version_table_s_and_all_that_the_add_on_names(plugin: str) -> None:
    (addon,) = [addon for addon in ADDONS if addon.name == plugin]
    found = [one for o in rendered(plugin) for one in containers(o)]
    assert {one["image"] for one in found} == {context().images[name] for name in addon.images}
    assert {one["imagePullPolicy"] for one in found} == {"IfNotPresent"}


@pytest.mark.parametrize("plugin", PLUGINS)
def test_nothing_is_lost_or_added_and_the_source_stays_as_it_was(plugin: str) -> None:
    network = sample(plugin)
    assert keys(rendered(plugin, network)) == keys(network)
    assert network == sample(plugin)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_both_deliveries_have_the_same_objects(plugin: str) -> None:
    raw = {"network": {"plugin": plugin}}
    network = sample(plugin)
    by_pulumi = delivered(raw, network=network)
    managed = {**raw, **MANAGED}
    assert keys(in_files(managed, network)) == keys(list(by_pulumi.objects))
    assert f"{ADDONS_DIRECTORY}/{plugin}.yaml" in delivered(managed, network=network).files
    assert not [o for o in by_pulumi.objects if "flannel" in str(o["metadata"])]


def test_calico_gets_the_pods_range_and_encapsulates_always() -> None:
    daemons = find(rendered("calico", **RANGES), "DaemonSet", "calico-node")
    assert environment(container(daemons, "calico-node")) == {
        "DATASTORE_TYPE": "kubernetes",
        "NODENAME": None,
        "CALICO_IPV4POOL_CIDR": "10.128.0.0/14",
        "CALICO_IPV4POOL_BLOCK_SIZE": "25",
        "CALICO_IPV4POOL_IPIP": "Never",
        "CALICO_IPV4POOL_VXLAN": "Always",
        "IP_AUTODETECTION_METHOD": "kubernetes-internal-ip",
        "FELIX_NFTABLESMODE": "Enabled",
    }
    assert "env" not in container(daemons, "install-cni")


@pytest.mark.parametrize(("prefix", "block"), [(16, "20"), (20, "20"), (24, "24"), (28, "28")])
def test_calico_s_blocks_are_a_host_s_piece_as_far_as_it_can(prefix: int, block: str) -> None:
    network = config_of({"network": {"nodePrefix": prefix}}).network
    assert calico.environment(network)["CALICO_IPV4POOL_BLOCK_SIZE"] == block


@pytest.mark.parametrize(("mode", "rules"), [("nftables", "Enabled"), ("iptables", "Disabled")])
def test_calico_makes_the_rules_that_kube_proxy_makes(mode: str, rules: str) -> None:
    network = config_of({"network": {"proxyMode": mode}}).network
    assert calico.environment(network)["FELIX_NFTABLESMODE"] == rules


def test_weave_gets_the_pods_range_and_calls_nobody() -> None:
    daemons = find(rendered("weave", **RANGES), "DaemonSet", "weave-net")
    assert environment(container(daemons, "weave")) == {
        "INIT_CONTAINER": "true",
        "IPTABLES_BACKEND": "nft",
        "IPALLOC_RANGE": "10.128.0.0/14",
        "CHECKPOINT_DISABLE": "1",
    }
    assert environment(container(daemons, "weave-npc")) == weave.RULES
    assert container(daemons, "weave-init")["env"] is None


def test_cilium_s_values() -> None:
    assert cilium.values(config_of({"name": "lab"})) == {
        "kubeConfigPath": IN_CLUSTER_KUBECONFIG,
        "kubeProxyReplacement": "false",
        "ipam": {"mode": "kubernetes"},
        "routingMode": "tunnel",
        "tunnelProtocol": "vxlan",
        "tunnelPort": 8472,
        "cluster": {"name": "lab"},
        "envoy": {"enabled": False},
        "hubble": {"enabled": False},
        "operator": {"replicas": 1},
    }


def test_cilium_is_the_proxy_where_there_is_no_other() -> None:
    raw = {"network": {"plugin": "cilium", "proxyMode": "none"}}
    assert cilium.values(config_of(raw))["kubeProxyReplacement"] == "true"


def test_pods_are_replaced_when_a_file_that_they_mount_changes() -> None:
    changed = sample("cilium")
    find(changed, "ConfigMap", "cilium-config")["data"]["ipam"] = "cluster-pool"
    before, after = (
        pod_spec_annotations(rendered("cilium", network)) for network in (sample("cilium"), changed)
    )
    assert before != after


def pod_spec_annotations(objects: list[Manifest]) -> Any:
    daemons = find(objects, "DaemonSet", "cilium")
    assert pod_spec(daemons)
    return daemons["spec"]["template"]["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("quay.io/calico/node:v3.32.1", "quay.io/calico/node"),
        ("quay.io/cilium/cilium:v1@sha256:00", "quay.io/cilium/cilium"),
        ("quay.io/cilium/cilium@sha256:00", "quay.io/cilium/cilium"),
        ("docker.io/weaveworks/weave-kube:2.8.1", "weaveworks/weave-kube"),
        ("weaveworks/weave-kube", "weaveworks/weave-kube"),
        ("localhost:5000/a/b:c", "localhost:5000/a/b"),
    ],
)
def test_the_repository_of_an_image(reference: str, name: str) -> None:
    assert repository(reference) == name


def test_an_image_that_is_not_in_the_table_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"the version table has no image quay\.io/calico/cni:v0"):
        with_images(sample("calico"), ["quay.io/calico/node:v1"])
    with pytest.raises(LookupError, match="calico-node has no container typha"):
        container(find(sample("calico"), "DaemonSet", "calico-node"), "typha")


def test_a_variable_is_replaced_and_others_keep_their_order() -> None:
    found = {"env": [{"name": "a", "value": "1"}, {"name": "b", "valueFrom": {}}, {"name": "c"}]}
    set_environment(found, {"b": "2"})
    assert found["env"] == [{"name": "a", "value": "1"}, {"name": "c"}, {"name": "b", "value": "2"}]
    for without in ({}, {"env": None}):
        set_environment(without, {"b": "2"})
        assert without == {"env": [{"name": "b", "value": "2"}]}
