"""What `destroy` does first, against a simulated cluster."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bootstrap import policy
from bootstrap.step import read
from tests.bootstrap.api_server import Keys, serving
from tests.bootstrap.releasing import CONTROLLERS, DEFAULT, URN, deletions
from tests.bootstrap.simulated_cluster import (
    BINDING,
    CORE,
    INGRESSES,
    SimulatedCluster,
    claim,
    cloud_controller,
    ingress,
    kubelet,
    pod,
    service,
    stateful_set,
    volume,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_cluster_that_has_made_nothing_is_asked_four_times_and_left_alone(release: Any) -> None:
    cluster = SimulatedCluster(objects={**service("internal", "ClusterIP"), **ingress("inside")})
    ran = release(cluster)
    assert (ran.status, ran.stdout, ran.stderr) == (0, "", "")
    assert [method for method, _, _ in cluster.requests] == ["GET"] * 4


def test_load_balancers_go_and_what_is_served_inside_stays(release: Any) -> None:
    def ingress_controller(cluster: SimulatedCluster) -> None:
        if "deletionTimestamp" in cluster.objects[f"{INGRESSES}/outside"]["metadata"]:
            cluster.let_go(f"{INGRESSES}/outside", "ingress.k8s.aws/resources")
            cluster.controllers.remove(ingress_controller)

    inside = {**service("internal", "ClusterIP"), **ingress("inside")}
    outside = {**service("web"), **ingress("outside", "ingress.k8s.aws/resources")}
    cluster = SimulatedCluster(
        objects={**inside, **outside}, controllers=[cloud_controller, ingress_controller]
    )
    assert release(cluster).status == 0
    assert deletions(cluster) == [*outside]
    assert cluster.objects.keys() >= inside.keys()
    assert not cluster.objects.keys() & outside.keys()


def test_nothing_is_deleted_before_nothing_new_is_made(release: Any) -> None:
    cluster = SimulatedCluster(objects=service("web"), controllers=CONTROLLERS)
    release(cluster)
    changes = [f"{method} {path}" for method, path, _ in cluster.requests if method != "GET"]
    assert changes == [
        f"POST {policy.POLICIES}/validatingadmissionpolicies",
        f"POST {policy.POLICIES}/validatingadmissionpolicybindings",
        f"POST {DEFAULT}/services?dryRun=All",
        f"DELETE {DEFAULT}/services/web",
    ]
    assert BINDING in cluster.objects, "until the cluster is gone"


def test_pods_are_deleted_for_claims_that_are_on_their_way_out(release: Any) -> None:
    bystander = pod("bystander", "elsewhere")
    cluster = SimulatedCluster(
        objects={
            **claim("data", "pv-1"),
            **volume("pv-1"),
            **pod("user", "data"),
            **pod("waiting", "data", node=""),
            **bystander,
        },
        controllers=CONTROLLERS,
    )
    assert release(cluster).status == 0
    assert deletions(cluster) == [
        f"{DEFAULT}/persistentvolumeclaims/data",
        f"{DEFAULT}/pods/user?gracePeriodSeconds=1",
    ]
    assert cluster.named("persistentvolumes") == set()
    assert cluster.named("pods") == {"waiting", "bystander"}


def test_a_claim_of_a_pod_s_own_is_known_by_both_their_names(release: Any) -> None:
    user = pod("user", "")
    user[f"{DEFAULT}/pods/user"]["spec"]["volumes"] = [{"name": "scratch", "ephemeral": {}}]
    data = claim("user-scratch")

    def owner(cluster: SimulatedCluster) -> None:
        if f"{DEFAULT}/pods/user" not in cluster.objects:
            cluster.objects.pop(f"{DEFAULT}/persistentvolumeclaims/user-scratch", None)

    cluster = SimulatedCluster(objects={**data, **user}, controllers=[kubelet, owner])
    assert release(cluster).status == 0
    assert f"{DEFAULT}/pods/user?gracePeriodSeconds=1" in deletions(cluster)


def test_what_a_stateful_set_would_make_anew_is_not(release: Any) -> None:
    cluster = SimulatedCluster(controllers=[stateful_set, *CONTROLLERS])
    stateful_set(cluster)
    assert release(cluster).status == 0
    assert cluster.named("persistentvolumeclaims") == set()
    stateful_set(cluster)
    assert cluster.named("persistentvolumeclaims") == set()
    assert deletions(cluster) == [
        f"{DEFAULT}/persistentvolumeclaims/data-db-0",
        f"{DEFAULT}/pods/db-0?gracePeriodSeconds=1",
    ]


def test_an_api_server_without_policies_is_told_of_and_no_obstacle(release: Any) -> None:
    cluster = SimulatedCluster(objects=service("web"), controllers=CONTROLLERS, has_policies=False)
    ran = release(cluster)
    assert ran.status == 0
    assert "may come anew: a new load balancer is not refused yet" in ran.stderr
    assert cluster.named("services") == set()


def test_what_comes_anew_is_deleted_again(release: Any) -> None:
    def operator(cluster: SimulatedCluster) -> None:
        if cluster.named("services") == set():
            cluster.objects |= service("web")
            cluster.controllers.remove(operator)

    cluster = SimulatedCluster(
        objects=service("web"), controllers=[cloud_controller, operator], has_policies=False
    )
    assert release(cluster).status == 0
    assert deletions(cluster) == [f"{DEFAULT}/services/web"] * 2


@pytest.mark.parametrize(
    "stays",
    [
        volume("pv", policy="Retain"),
        volume("pv", provisioner=""),
        volume("pv", source="hostPath"),
        volume("pv", source="local"),
    ],
    ids=["kept by its policy", "made by hand", "a machine's folder", "a machine's disk"],
)
def test_a_volume_that_nobody_removes_stays_with_its_claim(
    release: Any, stays: dict[str, Any]
) -> None:
    objects = {**claim("data", "pv"), **stays, **pod("user", "data")}
    cluster = SimulatedCluster(objects=dict(objects), controllers=CONTROLLERS)
    assert release(cluster).status == 0
    assert cluster.objects == objects


def test_a_claim_without_a_volume_goes_before_it_gets_one(release: Any) -> None:
    cluster = SimulatedCluster(objects=claim("data"), controllers=CONTROLLERS)
    assert release(cluster).status == 0
    assert cluster.named("persistentvolumeclaims") == set()


def test_a_volume_whose_claim_is_gone_is_waited_for(release: Any) -> None:
    turns = iter(range(100))

    def driver(cluster: SimulatedCluster) -> None:
        if next(turns) == 3:
            del cluster.objects[f"{CORE}/persistentvolumes/pv"]

    cluster = SimulatedCluster(objects=volume("pv"), controllers=[driver])
    ran = release(cluster)
    assert (ran.status, deletions(cluster)) == (0, [])
    assert ran.stderr == "waiting until these are gone: PersistentVolume pv\n"


def test_what_goes_by_itself_meanwhile_is_no_error(release: Any) -> None:
    path = f"{DEFAULT}/services/web"

    def user(cluster: SimulatedCluster) -> None:
        if path in deletions(cluster):
            cluster.objects.pop(path, None)

    cluster = SimulatedCluster(
        objects=service("web"), answers={f"DELETE {path}": 404}, controllers=[user]
    )
    assert release(cluster).status == 0


def test_an_api_server_that_does_not_know_a_kind_has_none_of_it(release: Any) -> None:
    cluster = SimulatedCluster(
        objects=service("web"),
        answers={"/apis/networking.k8s.io/v1/ingresses": 404},
        controllers=CONTROLLERS,
    )
    assert release(cluster).status == 0
    assert cluster.named("services") == set()


def test_a_cluster_that_goes_on_may_make_things_again(release: Any) -> None:
    cluster = SimulatedCluster(objects=service("web"), controllers=CONTROLLERS)
    release(cluster)
    assert release(cluster, verb="keep").status == 0
    assert BINDING not in cluster.objects
    assert release(cluster, verb="keep").status == 0, "nor does it matter that there is nothing"


def test_the_policy_lets_every_change_of_what_exists_pass() -> None:
    """Or no controller could take its finalizer away."""
    wanted, binding = yaml.safe_load(read("nothing-new.yaml"))
    rules = wanted["spec"]["matchConstraints"]["resourceRules"]
    assert [rule["operations"] for rule in rules] == [["CREATE"]] * 2
    assert {name for rule in rules for name in rule["resources"]} == {
        "services",
        "persistentvolumeclaims",
        "ingresses",
    }
    names = {wanted["metadata"]["name"], binding["metadata"]["name"], binding["spec"]["policyName"]}
    assert names == {policy.NAME}
    assert [*policy.PLURALS] == [wanted["kind"], binding["kind"]]


def test_the_program_as_it_is_run(keys: Keys, tmp_path: Path) -> None:
    cluster = SimulatedCluster(objects=service("web"), controllers=CONTROLLERS)
    with serving(cluster, keys, tmp_path) as request:
        done = subprocess.run(
            [sys.executable, "-m", "bootstrap.owned", "release"],
            input=json.dumps({**request, "urn": URN}),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == "waiting until these are gone: Service default/web\n"
    assert cluster.named("services") == set()
