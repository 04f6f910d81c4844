"""A pod network that others wrote: read before anything is made, and delivered like our own."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, get_args

import pytest

from addons import ADDONS, EssentialImageError, podnetwork
from addons.fetch import FetchError, kept
from addons.objects import name_of, needs, ordered, stamped
from interface import ADDONS_DIRECTORY
from model import Network
from tests.addons.cases import config_of, context, delivered, selection
from tests.addons.test_delivery import MANAGED, in_files, keys
from tests.addons.test_deploy import graph, objects_of
from tests.conftest import ROOT
from validation import ConfigError
from versions import POD_NETWORKS

if TYPE_CHECKING:
    from pathlib import Path

    from addons.objects import Manifest
    from validation import Problem

ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: net, namespace: net}\n"
NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: net}\n"
SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata: {name: net, namespace: net}\n"
    "stringData: {password: opensesame}\n"
)
TYPE = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.example.com}
spec: {group: example.com, names: {kind: Pool, plural: pools}, scope: Cluster, versions: []}
"""
POOL = "apiVersion: example.com/v1\nkind: Pool\nmetadata: {name: default}\nspec: 7\n"
DAEMONS = """\
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: net, namespace: net}
spec: {template: {spec: {serviceAccountName: net, volumes: [{configMap: {name: theirs}}]}}}
"""


def raw_of(*sources: str, **more: Any) -> dict[str, Any]:
    return {"network": {"plugin": "manifests", "manifests": [*sources]}, **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "net.yaml"
    path.write_text(f"{DAEMONS}---\n{POOL}---\n{ACCOUNT}---\n{TYPE}---\n{NAMESPACE}")
    return path


def load(*sources: str, **more: Any) -> tuple[Manifest, ...]:
    return podnetwork.load(config_of(raw_of(*sources, **more)))


def problems(raw: dict[str, Any]) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as raised:
        podnetwork.load(config_of(raw))
    error: ConfigError = raised.value
    return error.problems


@pytest.mark.parametrize("plugin", ["flannel", "none"])
def test_our_own_plugin_and_none_read_nothing(plugin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(podnetwork, "fetch", lambda *_: pytest.fail("fetched"))
    assert podnetwork.load(config_of({"network": {"plugin": plugin}})) == ()


def test_files_are_read_in_their_order(file: Path, tmp_path: Path) -> None:
    first = tmp_path / "first.yaml"
    first.write_text(SECRET)
    kinds = [found["kind"] for found in load(str(first), str(file))]
    assert kinds == [
        "Secret",
        "DaemonSet",
        "Pool",
        "ServiceAccount",
        "CustomResourceDefinition",
        "Namespace",
    ]


def test_addresses_are_fetched_and_paths_are_read_from_the_home_folder_too(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []

    def answer(*words: str) -> bytes:
        asked.append(words)
        return SECRET.encode()

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(podnetwork, "fetch", answer)
    found = load("https://example.com/a.yaml", f"~/{file.name}")
    assert [item["kind"] for item in found][:2] == ["Secret", "DaemonSet"]
    load(f"http://example.com/b.yaml#sha256={'5' * 64}")
    assert asked == [("https://example.com/a.yaml", ""), ("http://example.com/b.yaml", "5" * 64)]


def test_all_that_is_wrong_is_told_at_once_with_file_document_and_remedy(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: str) -> bytes:
        raise FetchError("cannot be fetched: no route to host")

    monkeypatch.setattr(podnetwork, "fetch", refuse)
    broken = tmp_path / "broken.yaml"
    broken.write_text(f"kind: Pod\n---\n{ACCOUNT}")
    url, absent = "https://example.com/a.yaml", str(tmp_path / "absent.yaml")
    found = problems(raw_of(str(file), str(broken), absent, url, str(tmp_path)))
    assert [(item.path, item.value) for item in found] == [
        ("network.manifests[1]", str(broken)),
        ("network.manifests[1]", str(broken)),
        ("network.manifests[2]", absent),
        ("network.manifests[3]", url),
        ("network.manifests[4]", str(tmp_path)),
    ]
    assert [item.message for item in found] == [
        "document 1 has no apiVersion",
        "ServiceAccount net/net is there twice",
        "cannot be read: No such file or directory",
        "cannot be fetched: no route to host",
        "cannot be read: Is a directory",
    ]
    assert all(item.remedy for item in found)


def test_an_object_that_is_there_three_times_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text("---\n".join([ACCOUNT] * 3))
    (found,) = problems(raw_of(str(path)))
    assert found.message == "ServiceAccount net/net is there twice"


def test_what_needs_what_is_made_in_that_order(file: Path) -> None:
    objects = {found["kind"]: found for found in load(str(file))}
    assert [found["kind"] for found in ordered(objects.values())] == [
        "Namespace",
        "CustomResourceDefinition",
        "ServiceAccount",
        "DaemonSet",
        "Pool",
    ]
    needed = {
        kind: {other["kind"] for other in objects.values() if needs(found, other)}
        for kind, found in objects.items()
    }
    assert needed["Pool"] == {"CustomResourceDefinition"}
    assert needed["DaemonSet"] == {"Namespace", "ServiceAccount"}
    assert needed["ServiceAccount"] == {"Namespace"}
    assert needed["Namespace"] == needed["CustomResourceDefinition"] == set()


def test_pods_without_an_account_and_with_configuration_of_others_are_left_as_they_are() -> None:
    pods = {"kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": "a"}}
    pods["spec"] = {"template": {"spec": {"volumes": [{"configMap": {"name": "theirs"}}]}}}
    binding = {"kind": "RoleBinding", "metadata": {"name": "a"}, "subjects": None}
    assert stamped([pods]) == [pods]
    assert not needs(pods, binding)


def test_both_deliveries_have_the_same_objects(file: Path) -> None:
    network = load(str(file))
    by_pulumi = delivered(raw_of(str(file)), network=network)
    managed = raw_of(str(file), **MANAGED)
    by_manager = delivered(managed, network=network)
    assert {name_of(o) for o in by_pulumi.objects} >= {"net/net", "default", "pools.example.com"}
    path = f"{ADDONS_DIRECTORY}/pod-network.yaml"
    assert "kind: Pool" in by_manager.files[path]
    assert by_manager.objects == ()
    assert keys(list(by_pulumi.objects)) == keys(in_files(managed, network))


def test_a_secret_is_one_in_the_state_and_the_addon_manager_gets_none(tmp_path: Path) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(f"{NAMESPACE}---\n{SECRET}")
    found = graph(delivered(raw_of(str(path)), network=load(str(path))))
    (secret,) = [item for item in objects_of(found) if item.type.endswith(":Secret")]
    assert secret.secrets == {"stringData"}
    assert secret.inputs["stringData"] == {"password": "opensesame"}
    (problem,) = problems(raw_of(str(path), **MANAGED))
    assert problem.message.startswith("Secret net/net would lie in plain text")
    assert "opensesame" not in str(problem)


@pytest.mark.parametrize("plugin", POD_NETWORKS)
def test_what_upstream_publishes_is_fetched_by_its_checksum_or_the_way_is_told(
    plugin: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(address: str, checksum: str) -> bytes:
        assert (address, checksum) == (POD_NETWORKS[plugin].url, POD_NETWORKS[plugin].sha256)
        raise FetchError("cannot be fetched: timed out")

    monkeypatch.setattr(podnetwork, "fetch", refuse)
    (found,) = problems({"network": {"plugin": plugin}})
    assert (found.path, found.value) == ("network.plugin", plugin)
    assert found.message == (
        f"is made from {POD_NETWORKS[plugin].url}, which cannot be fetched: timed out"
    )
    assert str(kept(POD_NETWORKS[plugin].sha256)) in found.remedy


@pytest.mark.parametrize("plugin", POD_NETWORKS)
def test_a_mirror_without_the_images_is_told_before_anything_is_fetched(plugin: str) -> None:
    raw = {"network": {"plugin": plugin}}
    (addon,) = [addon for addon in selection(raw).enabled if addon.name == plugin]
    references = [context(raw).images[image] for image in addon.images]
    with pytest.raises(EssentialImageError) as raised:
        selection(raw, dict.fromkeys(references, "no source"))
    assert all(
        f"{plugin}: {reference} (no source)" in str(raised.value) for reference in references
    )


def test_the_documentation_tells_of_each_plugin() -> None:
    document = (ROOT / "docs" / "networking.md").read_text()
    plugins = get_args(Network.model_fields["plugin"].annotation)
    assert re.findall(r"^\| `([a-z]+)` \|", document, re.MULTILINE) == list(plugins)
    assert {addon.name for addon in ADDONS} >= set(plugins) - {"manifests", "none"}


def test_pins_are_complete() -> None:
    for upstream in POD_NETWORKS.values():
        assert len(upstream.sha256) == len(bytes.fromhex(upstream.sha256)) * 2 == 64
        assert upstream.version.removeprefix("v") in upstream.url
        assert upstream.url.startswith("https://")


def helm(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helm on PATH that does no more than the script."""
    program = folder / "helm"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setattr(podnetwork, "fetch", lambda *_: b"a chart")


def test_a_chart_is_made_by_helm_with_our_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = f'echo "$@" >{tmp_path}/words; cat "$3" >{tmp_path}/chart; cat >{tmp_path}/values'
    helm(tmp_path, f"{script}; cat <<'E'\n{NAMESPACE}E", monkeypatch)
    (found,) = podnetwork.load(config_of({"network": {"plugin": "cilium"}}))
    assert name_of(found) == "net"
    words = (tmp_path / "words").read_text().split()
    assert words[:2] == ["template", "cilium"]
    assert " ".join(words[3:]) == "--namespace kube-system --kube-version v1.37.2 --values -"
    assert (tmp_path / "chart").read_bytes() == b"a chart"
    assert json.loads((tmp_path / "values").read_text())["ipam"] == {"mode": "kubernetes"}


def test_without_helm_or_when_it_fails_the_way_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    raw = {"network": {"plugin": "cilium"}}
    helm(tmp_path, "echo 'Error: chart requires kubeVersion: >=9' >&2; exit 1", monkeypatch)
    (failed,) = problems(raw)
    assert "Error: chart requires kubeVersion: >=9" in failed.message
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    (absent,) = problems(raw)
    assert absent.message == "is made from a Helm chart, and there is no helm on PATH"
    assert "install Helm 3" in absent.remedy
