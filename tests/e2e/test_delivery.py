"""Who owns the add-ons: Pulumi, or the addon-manager, which puts back what is gone. Never both."""

from __future__ import annotations

from typing import Any

import pytest

from addons import AddonContext, render_all, select
from addons.objects import name_of
from components.local.platform import TRAITS
from tests.e2e.cluster import Cluster

pytestmark = pytest.mark.e2e

MODE = "addonmanager.kubernetes.io/mode"


def expected(cluster: Cluster) -> dict[tuple[str, str], dict[str, Any]]:
    """{(kind, name): object} of all that the config asks for and the mirror can supply."""
    config = cluster.config
    context = AddonContext(config=config, traits=TRAITS, images=config.release.images)
    unavailable = dict.fromkeys(cluster.unavailable, "")
    objects = render_all(context, select(config, unavailable).enabled)
    return {(o["kind"], name_of(o)): o for o in objects}


def found(cluster: Cluster, *selector: str) -> dict[tuple[str, str], dict[str, Any]]:
    """The objects in the cluster, of every kind that add-ons have."""
    kinds = {manifest["kind"] for manifest in expected(cluster).values()}
    objects = cluster.items(",".join(sorted(kinds)), "--all-namespaces", *selector)
    return {(o["kind"], name_of(o)): o for o in objects}


def all_available(cluster: Cluster) -> bool:
    """Whether every Deployment and DaemonSet has all its pods ready."""
    workloads = cluster.items("deployments,daemonsets", "--all-namespaces")
    lacking = {
        item["metadata"]["name"]: item["status"]
        for item in workloads
        if not is_complete(item["status"], item["spec"])
    }
    assert not lacking
    return bool(workloads)


def is_complete(status: dict[str, Any], spec: dict[str, Any]) -> bool:
    """Whether a workload has as many ready pods as it wants, and wants some."""
    wanted = status.get("desiredNumberScheduled", spec.get("replicas", 0))
    ready = status.get("numberReady", status.get("readyReplicas", 0))
    return bool(wanted) and bool(ready == wanted)


def test_pulumis_objects_are_all_there_and_bear_no_mark(cluster: Cluster) -> None:
    assert expected(cluster).keys() <= found(cluster).keys()
    assert found(cluster, "--selector", MODE) == {}
    assert cluster.host(cluster.masters[0], "ls -A /etc/kubernetes/addons").split() == []
    cluster.wait("the add-ons to run", lambda: all_available(cluster), 60)


def test_without_an_image_an_add_on_is_left_out_as_a_whole(cluster: Cluster) -> None:
    config = cluster.config
    if config.release.images["fluentd"] not in cluster.unavailable:
        pytest.skip("this computer's mirror has every image")
    assert ("DaemonSet", "kube-logging/fluentd") not in expected(cluster)
    first = next(done for done in cluster.pulumi.transcript if "up" in done.arguments)
    assert "fluentd is left out: the mirror has no docker.io/fluent/" in first.output
    assert "kube-logging" not in cluster.kubectl("get", "namespaces", "-o", "name")


def test_the_addon_managers_objects_come_up_and_bear_its_mark(healed: Cluster) -> None:
    cluster = healed
    wanted = expected(cluster).keys()
    assert wanted, "nothing was looked for"
    cluster.wait(
        "the addon-manager to make every object",
        lambda: found(cluster, "--selector", f"{MODE}=Reconcile").keys() == wanted,
        120,
    )
    cluster.wait("the add-ons to run", lambda: all_available(cluster), 120)
    assert found(cluster, "--selector", MODE).keys() == wanted
    owned = [r["urn"] for r in cluster.pulumi.resources() if r["type"].startswith("kubernetes:")]
    assert owned == [], "Pulumi owns them as well"


@pytest.mark.parametrize(("kind", "name"), [("DaemonSet", "kube-proxy"), ("Deployment", "coredns")])
def test_what_is_deleted_by_hand_comes_back(kind: str, name: str, healed: Cluster) -> None:
    cluster, where = healed, ("-n", "kube-system", name)

    def again() -> bool:
        now = cluster.get(kind, *where)
        return now["metadata"]["uid"] != old and is_complete(now["status"], now["spec"])

    cluster.wait("the add-ons to run", lambda: all_available(cluster), 180)
    old = cluster.get(kind, *where)["metadata"]["uid"]
    calls = len(cluster.pulumi.transcript)
    cluster.kubectl("delete", kind, *where)
    cluster.wait(f"{kind} {name} to come back", again, 120)
    assert len(cluster.pulumi.transcript) == calls, "Pulumi had nothing to do with it"
