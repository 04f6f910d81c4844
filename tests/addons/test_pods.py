"""Where the add-ons' pods run, and what they may do on a host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from addons.objects import name_of, namespace_of, pod_spec
from tests.addons.cases import CASES, everything
from tests.addons.test_objects import containers, labels, workloads

if TYPE_CHECKING:
    from addons.objects import Manifest

pytestmark = pytest.mark.parametrize(
    "objects", [everything(raw) for raw in CASES.values()], ids=CASES
)


def test_pods_are_critical_and_go_to_linux_hosts(objects: list[Manifest]) -> None:
    classes = {"DaemonSet": "system-node-critical", "Deployment": "system-cluster-critical"}
    for o in workloads(objects):
        assert pod_spec(o)["priorityClassName"] == classes[o["kind"]]
        assert pod_spec(o)["nodeSelector"] == {"kubernetes.io/os": "linux"}


def test_daemons_are_on_every_host_and_the_rest_may_be_on_masters(objects: list[Manifest]) -> None:
    for o in workloads(objects):
        tolerations = pod_spec(o)["tolerations"]
        if o["kind"] == "DaemonSet":
            assert tolerations == [{"operator": "Exists"}]
            assert o["spec"]["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": "10%"}
        else:
            taint = {"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}
            assert taint in tolerations


def test_what_runs_on_is_not_privileged_and_keeps_few_capabilities(objects: list[Manifest]) -> None:
    allowed = {
        "kube-system/coredns": ["NET_BIND_SERVICE"],
        "kube-system/kube-proxy": ["NET_ADMIN", "NET_RAW"],
        "kube-flannel/kube-flannel-ds": ["NET_ADMIN", "NET_RAW"],
    }
    for o in workloads(objects):
        assert pod_spec(o)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in pod_spec(o)["containers"]:
            context = container["securityContext"]
            assert context["allowPrivilegeEscalation"] is False
            assert "privileged" not in context
            assert context["capabilities"]["drop"] == ["ALL"]
            assert context["capabilities"].get("add", []) == allowed.get(name_of(o), [])


def test_only_the_first_step_of_kube_proxy_is_privileged(objects: list[Manifest]) -> None:
    privileged = [
        (name_of(o), c["name"])
        for o in workloads(objects)
        for c in containers(pod_spec(o))
        if c["securityContext"].get("privileged")
    ]
    assert privileged in ([], [("kube-system/kube-proxy", "kernel-settings")])


def test_namespaces_with_folders_of_the_host_allow_them(objects: list[Manifest]) -> None:
    allowing = {
        name_of(o)
        for o in objects
        if labels(o).get("pod-security.kubernetes.io/enforce") == "privileged"
    }
    for o in workloads(objects):
        if any("hostPath" in volume for volume in pod_spec(o).get("volumes", [])):
            assert namespace_of(o) in allowing | {"kube-system"}


def test_a_hosts_worth_of_requests_leaves_room_for_others(objects: list[Manifest]) -> None:
    requests = [
        c["resources"]["requests"] for o in workloads(objects) for c in pod_spec(o)["containers"]
    ]
    assert all({"cpu", "memory"} <= set(request) for request in requests)
    assert sum(int(request["cpu"].removesuffix("m")) for request in requests) <= 300
