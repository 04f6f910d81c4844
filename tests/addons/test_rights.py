"""What each add-on may do in the API: this and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.addons.cases import CASES, everything, one, rendered

if TYPE_CHECKING:
    from addons.objects import Manifest

READ = ["get", "list", "watch"]
RULES: dict[str, list[tuple[str, list[str], list[str]]]] = {
    "flannel": [("", ["nodes"], READ), ("", ["nodes/status"], ["patch"])],
    "system:coredns": [
        ("", ["services", "pods", "namespaces"], ["list", "watch"]),
        ("discovery.k8s.io", ["endpointslices"], ["list", "watch"]),
    ],
    "system:metrics-server": [("", ["nodes/metrics"], ["get"]), ("", ["pods", "nodes"], READ)],
    "system:aggregated-metrics-reader": [("metrics.k8s.io", ["pods", "nodes"], READ)],
    "kubernetes-anywhere:fluentd": [("", ["pods", "namespaces"], READ)],
    "kubernetes-anywhere:heapster-stats": [("", ["nodes/stats"], ["get"])],
}
BUILT_IN: dict[str, set[tuple[str, str]]] = {
    "access": {("User", "system:kubelet-api-admin")},
    "kube-proxy": {("ServiceAccount", "system:node-proxier")},
    "heapster": {("ServiceAccount", "system:heapster")},
    "metrics-server": {
        ("ServiceAccount", "system:auth-delegator"),
        ("ServiceAccount", "extension-apiserver-authentication-reader"),
    },
}
ALL = {**rendered(), **rendered(CASES["heapster"])}


def rules(role: Manifest) -> list[tuple[str, Any, Any]]:
    assert all(set(rule) == {"apiGroups", "resources", "verbs"} for rule in role["rules"])
    return [(*rule["apiGroups"], rule["resources"], rule["verbs"]) for rule in role["rules"]]


def test_roles_hold_these_rights_and_no_other() -> None:
    roles = [o for objects in ALL.values() for o in objects if o["kind"].endswith("Role")]
    assert {role["metadata"]["name"]: rules(role) for role in roles} == RULES


def test_built_in_roles_are_bound_to_these_add_ons_only() -> None:
    bound = {
        name: {
            (subject["kind"], o["roleRef"]["name"])
            for o in objects
            if o["kind"].endswith("Binding") and o["roleRef"]["name"] not in RULES
            for subject in o["subjects"]
        }
        for name, objects in ALL.items()
    }
    assert {name: found for name, found in bound.items() if found} == BUILT_IN


def test_the_api_server_may_call_kubelets() -> None:
    binding = one(everything(), "ClusterRoleBinding", "kubernetes-anywhere:kubelet-api")
    assert binding["subjects"] == [
        {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "User",
            "name": "kube-apiserver-kubelet-client",
        }
    ]


def test_no_add_on_reads_secrets() -> None:
    assert "secrets" not in str(RULES)
    assert not [o for o in everything() if o["kind"] == "Secret"]
