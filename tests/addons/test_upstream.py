"""The pod networks of others as they are really published, and just what is changed in them.

Their files are not in this repository. These tests look where the program keeps what it fetched,
and fetch nothing: they are skipped where no cluster with that plugin has been planned yet.
"""

from __future__ import annotations

import shutil
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from addons import ADDONS, podnetwork, render
from addons.amend import containers
from addons.fetch import kept
from addons.objects import needs, ordered, pod_spec
from interface import VXLAN_PORT
from tests.addons.cases import config_of, context, delivered
from tests.addons.test_delivery import MANAGED, in_files, keys
from tests.addons.test_deploy import graph, objects_of
from versions import POD_NETWORKS

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

    from addons.objects import Manifest

POD_CIDR = "10.128.0.0/14"
CHART = "cilium"


def raw_of(plugin: str) -> dict[str, Any]:
    return {"network": {"plugin": plugin, "podCidr": POD_CIDR}}


def lacking(name: str) -> str:
    """Why the plugin cannot be looked at here; empty if it can."""
    if not kept(POD_NETWORKS[name].sha256).is_file():
        return f"{POD_NETWORKS[name].url} has not been fetched"
    return "there is no helm" if name == CHART and not shutil.which("helm") else ""


def case(name: str) -> ParameterSet:
    reason = lacking(name)
    return pytest.param(name, marks=[pytest.mark.skip(reason)] if reason else [])


@pytest.fixture(params=map(case, POD_NETWORKS), ids=[*POD_NETWORKS])
def plugin(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def published(plugin: str) -> tuple[Manifest, ...]:
    return podnetwork.load(config_of(raw_of(plugin)))


@pytest.fixture
def rendered(plugin: str, published: tuple[Manifest, ...]) -> list[Manifest]:
    (addon,) = [addon for addon in ADDONS if addon.name == plugin]
    return render(addon, context(raw_of(plugin), network=published))


def test_objects_are_the_published_ones_each_once(
    published: tuple[Manifest, ...], rendered: list[Manifest]
) -> None:
    assert keys(rendered) == keys(list(published))
    assert max(Counter(keys(rendered)).values()) == 1
    assert {"DaemonSet", "ClusterRole", "ServiceAccount"} <= {o["kind"] for o in rendered}


def test_images_are_the_version_table_s(plugin: str, rendered: list[Manifest]) -> None:
    (addon,) = [addon for addon in ADDONS if addon.name == plugin]
    used = {one["image"] for o in rendered for one in containers(o)}
    assert used == {context().images[name] for name in addon.images}
    tag = POD_NETWORKS[plugin].version
    assert all(image.endswith(f":{tag}") for image in used)


def without_ours(found: Manifest) -> Manifest:
    """The object without what this program may change: images, variables, checksums."""
    copy: Manifest = {**found}
    if pod_spec(found):
        template = {**found["spec"]["template"]}
        template["metadata"] = {**template["metadata"], "annotations": None}
        spec = {**template["spec"]}
        for kind in ("containers", "initContainers"):
            spec[kind] = [
                {**one, "image": None, "imagePullPolicy": None, "env": None}
                for one in spec.get(kind, ())
            ]
        copy["spec"] = {**found["spec"], "template": {**template, "spec": spec}}
    return copy


def test_nothing_else_is_changed(published: tuple[Manifest, ...], rendered: list[Manifest]) -> None:
    theirs = [without_ours(found) for found in ordered(published)]
    assert [without_ours(found) for found in rendered] == theirs


def test_the_pods_range_is_known_to_whoever_gives_out_addresses(
    plugin: str, rendered: list[Manifest]
) -> None:
    asks_kubernetes = plugin == CHART  # which has given each host a piece of the range
    assert (POD_CIDR in str(rendered)) is not asks_kubernetes
    assert ("'ipam': 'kubernetes'" in str(rendered)) is asks_kubernetes


def test_the_ports_are_those_that_firewalls_let_through(
    plugin: str, rendered: list[Manifest]
) -> None:
    if plugin == CHART:
        (settings,) = [o for o in rendered if o["metadata"]["name"] == "cilium-config"]
        assert settings["data"]["tunnel-port"] == str(VXLAN_PORT)
        assert settings["data"]["tunnel-protocol"] == "vxlan"
        assert settings["data"]["kube-proxy-replacement"] == "false"
    assert "bird-live" not in str(rendered), "BGP would need another port"


def test_whatever_pods_need_is_made_before_them(rendered: list[Manifest]) -> None:
    for at, found in enumerate(rendered):
        if pod_spec(found):
            needed = [other for other in rendered if needs(found, other)]
            assert {"ServiceAccount", "ClusterRoleBinding"} <= {other["kind"] for other in needed}
            assert all(rendered.index(other) < at for other in needed)


def test_both_deliveries_have_them(plugin: str, published: tuple[Manifest, ...]) -> None:
    raw = raw_of(plugin)
    delivery = delivered(raw, network=published)
    assert keys(in_files({**raw, **MANAGED}, published)) == keys(list(delivery.objects))
    registered = [item.inputs for item in objects_of(graph(delivery))]
    assert len(registered) == len(delivery.objects)


def test_making_them_again_gives_the_same(plugin: str, published: tuple[Manifest, ...]) -> None:
    assert podnetwork.load(config_of(raw_of(plugin))) == published
