"""The first preview of the real program by the real engine: all shows, nothing is touched."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from addons import ADDONS, AddonContext, render_all
from addons.deploy import type_token
from addons.objects import name_of
from components.local.platform import TRAITS
from tests.addons import test_podnetwork as podnetworks
from tests.engine.cli import Plan, Pulumi
from tests.engine.conftest import CLUSTER, Listener, Stacks
from validation import parse
from versions import DEFAULT_RELEASE, RELEASES

pytestmark = pytest.mark.engine

HOSTS = (f"{CLUSTER}-master-0", f"{CLUSTER}-node-0", f"{CLUSTER}-node-1")
STEPS = ("reachable", "prepare", "identity", "activate")
KUBERNETES = "kubernetes:"
COMMAND = "command:"
# These two have nothing to be configured with; every other package has a provider of this cluster.
MAY_BE_DEFAULT = {"tls", "command"}


def kubernetes_objects(without: tuple[str, ...] = ()) -> set[tuple[str, str]]:
    """(type, name) of every object of the add-ons that the defaults enable."""
    config = parse({"name": CLUSTER, "mirror": None})
    context = AddonContext(config=config, traits=TRAITS, images=config.release.images)
    enabled = [a for a in ADDONS if a.enabled(config) and a.name not in without]
    return {(type_token(o), name_of(o)) for o in render_all(context, enabled)}


def containers() -> str:
    """Containers and networks of this test's cluster on the Docker engine, if there is one."""
    if not shutil.which("docker"):
        return ""
    label = f"label=io.kubernetes-anywhere.cluster={CLUSTER}"
    commands = (["ps", "--all"], ["network", "ls"], ["volume", "ls"])
    return "".join(
        subprocess.run(
            ["docker", *command, "--quiet", "--filter", label],
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        for command in commands
    )


@pytest.fixture(scope="module")
def stack(stacks: Stacks) -> Pulumi:
    return stacks("first", {"mirror": None})


@pytest.fixture(scope="module")
def first(stack: Pulumi) -> Plan:
    """The first preview, on a computer without a kubeconfig."""
    return stack.preview()


def test_everything_would_be_created(first: Plan) -> None:
    """C01: without a kubeconfig anywhere."""
    assert {step.op for step in first} == {"create"}
    assert first.changes == {"create": len(list(first))}


def test_every_step_of_every_host_shows(first: Plan) -> None:
    expected = {f"{host}-{step}" for host in HOSTS for step in STEPS}
    assert first.names("create", "command:remote:Command") == expected
    assert first.names("create", "command:local:Command") >= {
        *HOSTS,
        *(f"{CLUSTER}-{name}" for name in ("network", "api", "api-ready", "cluster-ready")),
    }


def test_every_kubernetes_object_shows(first: Plan) -> None:
    found = {(step.type, step.name) for step in first if step.type.startswith(KUBERNETES)}
    assert found == kubernetes_objects()
    assert found >= {
        ("kubernetes:apps/v1:DaemonSet", "kube-system/kube-proxy"),
        ("kubernetes:apps/v1:DaemonSet", "kube-flannel/kube-flannel-ds"),
        ("kubernetes:apps/v1:DaemonSet", "kube-logging/fluentd"),
        ("kubernetes:apps/v1:Deployment", "kube-system/coredns"),
        ("kubernetes:apps/v1:Deployment", "kube-system/metrics-server"),
    }


def test_a_kubernetes_object_shows_whole(first: Plan) -> None:
    (corefile,) = [
        step.inputs["data"]["Corefile"]
        for step in first
        if (step.type, step.name) == ("kubernetes:core/v1:ConfigMap", "kube-system/coredns")
    ]
    assert "kubernetes cluster.local in-addr.arpa" in corefile


def test_every_host_has_its_own_kubelet_certificate(first: Plan) -> None:
    certificates = first.names("create", "tls:index/locallySignedCert")
    assert {f"{host}-kubelet" for host in HOSTS} <= certificates


def test_no_package_that_acts_on_a_cluster_has_a_default_provider(first: Plan) -> None:
    providers = {step.provider for step in first if step.provider}
    names = {p.split("pulumi:providers:", 1)[1].rsplit("::", 1)[0] for p in providers}
    defaults = {name.split("::")[0] for name in names if name.split("::")[1].startswith("default")}
    assert defaults <= MAY_BE_DEFAULT
    assert f"kubernetes::{CLUSTER}" in names


@pytest.mark.usefixtures("first")
def test_a_preview_creates_nothing(stack: Pulumi) -> None:
    assert stack.resources() == []
    assert containers() == ""


def test_the_programs_folder_stays_as_it_is(first: Plan, stack: Pulumi) -> None:
    assert first.changes
    assert not (stack._program / "Pulumi.first.yaml").exists()


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """A mirror that could not get fluentd."""
    images = dict(RELEASES[DEFAULT_RELEASE].images)
    missing = {images.pop("fluentd"): "no recipe builds it"}
    catalogue = {
        "release": DEFAULT_RELEASE,
        "images": dict.fromkeys(images.values(), "sha256:0"),
        "archives": {},
        "unavailable": missing,
    }
    folder = tmp_path / "mirror"
    folder.mkdir()
    (folder / "catalog.json").write_text(json.dumps(catalogue))
    return folder


def test_a_diff_by_a_person_who_has_another_cluster_and_a_poor_mirror(
    stacks: Stacks, mirror: Path, somebodys_cluster: Listener, somebodys_kubeconfig: Path
) -> None:
    """C01, C02: that one is not asked once."""
    stack = stacks("diff", {"mirror": {"directory": str(mirror)}})
    home = Path(stack.environment["HOME"]) / "with-kubeconfig"
    (home / ".kube").mkdir(parents=True)
    (home / ".kube" / "config").write_text(somebodys_kubeconfig.read_text())
    stack.environment |= {"KUBECONFIG": str(somebodys_kubeconfig), "HOME": str(home)}
    text = stack.diff()
    assert somebodys_cluster.connections == 0, "the preview asked somebody else's cluster"
    for kind, name in kubernetes_objects(without=("fluentd",)):
        assert f"+ {kind}: (create)" in text, kind
        assert f"::{name}]" in text, name
    assert "kube-logging/fluentd" not in text
    assert "fluentd is left out: the mirror has no docker.io/fluent/" in text
    for host in HOSTS:
        assert f"::{host}-activate]" in text
    assert yaml.safe_load(somebodys_kubeconfig.read_text())["current-context"] == "theirs"


def test_a_pod_network_of_files_is_shown_and_what_its_secret_holds_is_not(
    stacks: Stacks, tmp_path: Path
) -> None:
    path = tmp_path / "net.yaml"
    path.write_text(f"{podnetworks.TYPE}---\n{podnetworks.POOL}---\n{podnetworks.SECRET}")
    stack = stacks("files", {"mirror": None, "network": podnetworks.raw_of(str(path))["network"]})
    text = stack.diff()
    for kind in ("core/v1:Secret", "example.com/v1:Pool"):
        assert f"+ {KUBERNETES}{kind}: (create)" in text
    assert f"{KUBERNETES}apiextensions.k8s.io/v1:CustomResourceDefinition" in text
    assert "opensesame" not in text
    assert "flannel" not in text
