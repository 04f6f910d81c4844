"""What the API server, or the first start of a pod, would find wrong: found without a cluster."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from addons.objects import config_maps, name_of, namespace_of, ordered, pod_spec
from tests.addons.cases import CASES, everything

if TYPE_CHECKING:
    from addons.objects import Manifest

API_VERSIONS = {
    "APIService": "apiregistration.k8s.io/v1",
    "ClusterRole": "rbac.authorization.k8s.io/v1",
    "ClusterRoleBinding": "rbac.authorization.k8s.io/v1",
    "ConfigMap": "v1",
    "DaemonSet": "apps/v1",
    "Deployment": "apps/v1",
    "Namespace": "v1",
    "PodDisruptionBudget": "policy/v1",
    "RoleBinding": "rbac.authorization.k8s.io/v1",
    "Service": "v1",
    "ServiceAccount": "v1",
}
CLUSTER_WIDE = {"APIService", "ClusterRole", "ClusterRoleBinding", "Namespace"}
LABELS = {
    "app",
    "k8s-app",
    "kubernetes.io/name",
    "pod-security.kubernetes.io/enforce",
    "rbac.authorization.k8s.io/aggregate-to-admin",
    "rbac.authorization.k8s.io/aggregate-to-edit",
    "rbac.authorization.k8s.io/aggregate-to-view",
}
BUILT_IN_ROLES = {
    "extension-apiserver-authentication-reader",
    "system:auth-delegator",
    "system:heapster",
    "system:kubelet-api-admin",
    "system:node-proxier",
}
NAMESPACES = {"kube-system", "kube-flannel", "kube-logging"}

pytestmark = pytest.mark.parametrize(
    "objects", [everything(raw) for raw in CASES.values()], ids=CASES
)


def workloads(objects: list[Manifest]) -> list[Manifest]:
    return [o for o in objects if pod_spec(o)]


def containers(spec: Manifest) -> list[Manifest]:
    return [*spec.get("initContainers", []), *spec["containers"]]


def labels(manifest: Manifest) -> dict[str, str]:
    found: dict[str, str] = manifest["metadata"].get("labels", {})
    return found


def pod_labels(manifest: Manifest) -> dict[str, str]:
    return labels(manifest["spec"]["template"])


def port_names(manifest: Manifest) -> set[str]:
    ports = chain.from_iterable(c.get("ports", []) for c in containers(pod_spec(manifest)))
    return {port["name"] for port in ports}


def probes(container: Manifest) -> Iterator[Mapping[str, Any]]:
    for kind in ("readinessProbe", "livenessProbe", "startupProbe"):
        probe = container.get(kind, {})
        yield from (probe[how] for how in ("httpGet", "tcpSocket") if how in probe)


def test_each_has_its_kinds_version_and_a_name_and_a_namespace_if_it_may(
    objects: list[Manifest],
) -> None:
    for o in objects:
        assert o["apiVersion"] == API_VERSIONS[o["kind"]]
        assert re.fullmatch(r"[a-z0-9]([a-z0-9:.-]*[a-z0-9])?", o["metadata"]["name"])
        assert (namespace_of(o) in NAMESPACES) is (o["kind"] not in CLUSTER_WIDE), name_of(o)


def test_none_is_there_twice(objects: list[Manifest]) -> None:
    assert max(Counter((o["kind"], name_of(o)) for o in objects).values()) == 1


def test_labels_are_known_ones(objects: list[Manifest]) -> None:
    assert set(chain.from_iterable(labels(o) for o in objects)) <= LABELS


def test_namespaces_are_made_here_or_built_in(objects: list[Manifest]) -> None:
    made = {name_of(o) for o in objects if o["kind"] == "Namespace"}
    assert {namespace_of(o) for o in objects} - {""} <= made | {"kube-system"}


def test_nothing_is_left_to_fill_in(objects: list[Manifest]) -> None:
    for o in workloads(objects):
        for container in containers(pod_spec(o)):
            assert re.fullmatch(r"[a-z0-9.-]+/[a-z0-9./-]+:v[0-9a-z.-]+", container["image"])
            assert container["imagePullPolicy"] == "IfNotPresent"
    # `$(NAME)` is the kubelet's to fill in.
    assert not re.search(r"\$(?!\()", str(objects))


def test_selectors_match_the_pods_that_are_made(objects: list[Manifest]) -> None:
    for o in workloads(objects):
        wanted = o["spec"]["selector"]["matchLabels"]
        assert wanted
        assert wanted.items() <= pod_labels(o).items()


def test_services_and_budgets_select_exactly_one_workload(objects: list[Manifest]) -> None:
    for o in objects:
        if o["kind"] == "Service":
            selector, ports = o["spec"]["selector"], {p["targetPort"] for p in o["spec"]["ports"]}
        elif o["kind"] == "PodDisruptionBudget":
            selector, ports = o["spec"]["selector"]["matchLabels"], set()
        else:
            continue
        (target,) = [
            w
            for w in workloads(objects)
            if selector.items() <= pod_labels(w).items() and namespace_of(w) == namespace_of(o)
        ]
        assert ports <= port_names(target)


def test_mounted_volumes_exist_and_none_is_idle(objects: list[Manifest]) -> None:
    for o in workloads(objects):
        spec = pod_spec(o)
        defined = [volume["name"] for volume in spec.get("volumes", [])]
        used = [m["name"] for c in containers(spec) for m in c.get("volumeMounts", [])]
        assert set(used) == set(defined), name_of(o)
        assert len(defined) == len(set(defined))


def test_config_maps_and_accounts_exist_in_the_same_namespace(objects: list[Manifest]) -> None:
    there = {(o["kind"], name_of(o)) for o in objects}
    for o in workloads(objects):
        namespace, spec = namespace_of(o), pod_spec(o)
        assert ("ServiceAccount", f"{namespace}/{spec['serviceAccountName']}") in there
        for config_map in config_maps(o):
            assert ("ConfigMap", f"{namespace}/{config_map}") in there


def test_probes_ask_ports_that_the_container_names(objects: list[Manifest]) -> None:
    for o in workloads(objects):
        for container in pod_spec(o)["containers"]:
            asked = {probe["port"] for probe in probes(container)}
            assert asked, f"nothing says when {name_of(o)} is well"
            assert asked <= {port["name"] for port in container["ports"]}


def test_on_the_hosts_network_probes_ask_this_host_alone(objects: list[Manifest]) -> None:
    for o in workloads(objects):
        if pod_spec(o).get("hostNetwork"):
            hosts = {p.get("host") for c in pod_spec(o)["containers"] for p in probes(c)}
            assert hosts == {"127.0.0.1"}


def test_roles_that_are_bound_exist_and_accounts_too(objects: list[Manifest]) -> None:
    there = {(o["kind"], name_of(o)) for o in objects}
    for o in objects:
        if not o["kind"].endswith("Binding"):
            continue
        role = o["roleRef"]
        assert role["name"] in BUILT_IN_ROLES or (role["kind"], role["name"]) in there
        for subject in o["subjects"]:
            account = f"{subject.get('namespace')}/{subject['name']}"
            assert subject["kind"] == "User" or ("ServiceAccount", account) in there


def test_every_role_is_bound_and_every_account_used(objects: list[Manifest]) -> None:
    bound = {o["roleRef"]["name"] for o in objects if o["kind"].endswith("Binding")}
    used = {f"{namespace_of(o)}/{pod_spec(o)['serviceAccountName']}" for o in workloads(objects)}
    for o in objects:
        if o["kind"] == "ClusterRole":
            assert name_of(o) in bound or any("aggregate" in label for label in labels(o))
        if o["kind"] == "ServiceAccount":
            assert name_of(o) in used


def test_order_is_namespaces_then_what_they_hold_then_what_runs(objects: list[Manifest]) -> None:
    kinds = [o["kind"] for o in ordered(objects)]
    running = {"DaemonSet", "Deployment", "Service", "PodDisruptionBudget", "APIService"}
    first = min(i for i, kind in enumerate(kinds) if kind in running | {"ConfigMap", "RoleBinding"})
    assert "Namespace" not in kinds[first:]
    started = [kind in running for kind in kinds]
    assert started == sorted(started)
