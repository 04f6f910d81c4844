"""The add-ons as the engine sees them: one by one, through the cluster's own provider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from addons.deploy import Addons, AddonsArgs, marked
from tests.addons.cases import CASES, context, delivered
from tests.addons.test_delivery import MANAGED, UNAVAILABLE
from tests.conftest import Graph, Registered, record

if TYPE_CHECKING:
    from addons import Delivery

COMPONENT = "kubernetes-anywhere:addons:Addons"
PROVIDER = "pulumi:providers:kubernetes"
THING = "test:index:Thing"
KUBECONFIG = "apiVersion: v1\nkind: Config\n"


class Thing(pulumi.CustomResource):
    """A resource of an earlier phase."""

    def __init__(self, name: str) -> None:
        super().__init__(THING, name, {})


def graph(delivery: Delivery, *, preview: bool = False) -> Graph:
    def program() -> None:
        source = Thing("source").id.apply(lambda _: KUBECONFIG)  # in a preview: not known yet
        Addons(
            "test",
            AddonsArgs(
                delivery=delivery,
                kubeconfig=source,
                cluster_identifier="test",
                after=[Thing("gate")],
                deleted_with=Thing("machines"),
            ),
        )

    return record(program, preview=preview)


def objects_of(found: Graph) -> list[Registered]:
    return [item for item in found if item.type.startswith("kubernetes:")]


@pytest.fixture(scope="module")
def update() -> Graph:
    return graph(delivered())


@pytest.mark.parametrize("run", [{"preview": False}, {"preview": True}], ids=str)
def test_every_object_is_registered_even_if_nothing_is_known_yet(run: dict[str, bool]) -> None:
    delivery = delivered()
    found = objects_of(graph(delivery, **run))
    inputs = [item.inputs for item in found]
    assert len(inputs) == len(delivery.objects) > 30
    assert all(marked(manifest) in inputs for manifest in delivery.objects)


def annotated(found: Graph, key: str) -> set[tuple[str, str]]:
    """(kind, name) of the objects for which the annotation says yes."""
    return {
        (item.type.rsplit(":", 1)[1], item.name)
        for item in objects_of(found)
        if item.inputs["metadata"].get("annotations", {}).get(key) == "true"
    }


def test_what_a_killed_run_made_is_taken_over(update: Graph) -> None:
    every = {(item.type.rsplit(":", 1)[1], item.name) for item in objects_of(update)}
    assert annotated(update, "pulumi.com/patchForce") == every


def test_the_provider_waits_for_nothing(update: Graph) -> None:
    """The last gate does, for all pods at once."""
    pods = {(pods.kind, f"{pods.namespace}/{pods.name}") for pods in delivered().workloads}
    assert ("DaemonSet", "kube-system/kube-proxy") in pods
    services = {
        ("Service", name) for name in ("kube-system/kube-dns", "kube-system/metrics-server")
    }
    assert annotated(update, "pulumi.com/skipAwait") == pods | services


def test_fields_keep_their_names(update: Graph) -> None:
    (proxy,) = [
        i
        for i in objects_of(update)
        if i.type == "kubernetes:apps/v1:DaemonSet" and "proxy" in i.name
    ]
    template: dict[str, Any] = proxy.inputs["spec"]["template"]
    assert template["spec"]["serviceAccountName"] == "kube-proxy"
    assert "kubernetes-anywhere/config-sha256" in template["metadata"]["annotations"]


def test_types_are_the_sdks(update: Graph) -> None:
    assert {item.type for item in objects_of(update)} == {
        "kubernetes:apiregistration.k8s.io/v1:APIService",
        "kubernetes:apps/v1:DaemonSet",
        "kubernetes:apps/v1:Deployment",
        "kubernetes:core/v1:ConfigMap",
        "kubernetes:core/v1:Namespace",
        "kubernetes:core/v1:Service",
        "kubernetes:core/v1:ServiceAccount",
        "kubernetes:policy/v1:PodDisruptionBudget",
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
        "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
        "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
    }


def test_names_say_where_the_object_is(update: Graph) -> None:
    assert set(update.of_type("kubernetes:apps/v1:Deployment")) == {
        "kube-system/coredns",
        "kube-system/metrics-server",
    }
    assert set(update.of_type("kubernetes:core/v1:Namespace")) == {"kube-flannel", "kube-logging"}


def test_every_object_hangs_on_the_component_and_goes_through_its_provider(update: Graph) -> None:
    (component,) = update.of_type(COMPONENT).values()
    (provider,) = update.of_type(PROVIDER).values()
    assert provider.parent == component.urn
    for item in objects_of(update):
        assert item.parent == component.urn
        assert item.provider.startswith(provider.urn)


def test_every_object_dies_with_the_machines(update: Graph) -> None:
    """C04: none is deleted from a cluster that is gone."""
    machines = update.named(THING, "machines")
    assert {item.deleted_with for item in objects_of(update)} == {machines.urn}


def test_the_provider_waits_for_the_api(update: Graph) -> None:
    (provider,) = update.of_type(PROVIDER).values()
    assert update.named(THING, "gate").urn in provider.dependencies


def test_the_provider_keeps_its_kubeconfig_secret_and_knows_the_cluster_by_name(
    update: Graph,
) -> None:
    """C03: by its name. C04: one that is gone is not waited for. C11: a secret."""
    (provider,) = update.of_type(PROVIDER).values()
    assert "kubeconfig" in provider.secrets
    assert provider.inputs["kubeconfig"] == KUBECONFIG
    assert provider.inputs["clusterIdentifier"] == "test"
    assert provider.inputs["deleteUnreachable"] == "true"
    assert provider.inputs["enableServerSideApply"] == "true"


def test_nothing_of_the_kubeconfig_is_in_an_object(update: Graph) -> None:
    assert all(KUBECONFIG not in item.text and not item.secrets for item in objects_of(update))


def named(found: Graph, item: Registered) -> set[str]:
    return {
        found.resources[urn].type.rsplit(":")[-1] + " " + found.resources[urn].name
        for urn in item.dependencies
    }


def test_pods_wait_for_their_account_rights_and_configuration(update: Graph) -> None:
    flannel = update.named("kubernetes:apps/v1:DaemonSet", "kube-flannel/kube-flannel-ds")
    assert named(update, flannel) >= {
        "Namespace kube-flannel",
        "ServiceAccount kube-flannel/flannel",
        "ClusterRoleBinding flannel",
        "ConfigMap kube-flannel/kube-flannel-cfg",
    }
    assert "ServiceAccount kube-system/coredns" not in named(update, flannel)


def test_whatever_is_in_a_new_namespace_waits_for_it(update: Graph) -> None:
    for item in objects_of(update):
        namespace = item.name.partition("/")[0]
        if "/" in item.name and namespace != "kube-system":
            assert f"Namespace {namespace}" in named(update, item)


def test_nothing_waits_for_a_service_which_itself_waits_for_pods(update: Graph) -> None:
    waited_for = {update.resources[urn].type for item in update for urn in item.dependencies}
    assert "kubernetes:core/v1:Service" not in waited_for
    assert "kubernetes:apps/v1:Deployment" not in waited_for


def test_what_the_addon_manager_owns_is_not_registered_and_needs_no_provider() -> None:
    found = graph(delivered(MANAGED))
    assert objects_of(found) == []
    assert found.of_type(PROVIDER) == {}
    assert list(found.of_type(COMPONENT)) == ["test"]


def test_what_is_left_out_is_said_once(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    warnings: list[str] = []
    monkeypatch.setattr(
        pulumi.log, "warn", lambda message, resource: warnings.append(message) if resource else None
    )
    what = context(CASES["default"])
    graph(delivered(CASES["default"], {what.images["fluentd"]: UNAVAILABLE}))
    assert warnings == [
        f"fluentd is left out: the mirror has no {what.images['fluentd']} ({UNAVAILABLE})"
    ]
    assert capfd.readouterr().out == ""
