"""Hosts with fixed names and addresses, for tests of what they are sent."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import yaml

from bootstrap import render
from bootstrap.view import HostView
from components.local.platform import TRAITS
from model import Role
from tests.conftest import cluster

if TYPE_CHECKING:
    from interface import Traits

VALID_FROM = "2020-01-01T00:00:00Z"
MIRROR = "http://172.30.0.3"
MASTERS = {"test-master-0": "172.30.0.10"}
KEYS = {
    "/etc/kubernetes/kubelet/kubelet.key": "PRIVATE KEY\n",
    "/etc/kubernetes/kubelet/kubelet.crt": "CERTIFICATE\n",
}
ADDONS = {"/etc/kubernetes/addons/example.yaml": "kind: ConfigMap\n"}


POD_IMAGES = ("registry.k8s.io/coredns/coredns:v1", "registry.k8s.io/kube-proxy:v1")


def view(
    role: Role,
    *,
    mirror: bool = False,
    masters: int = 1,
    traits: Traits = TRAITS,
    **keys: Any,
) -> HostView:
    """The first host of a role."""
    config = cluster(masters=masters, **keys)
    return HostView(
        config=config,
        spec=next(spec for spec in config.hosts if spec.role is role),
        address="172.30.0.10" if role is Role.MASTER else "172.30.0.100",
        identity="",
        labels={},
        masters={f"test-master-{index}": f"172.30.0.{10 + index}" for index in range(masters)},
        founder=True,
        traits=traits,
        mirror_url=MIRROR if mirror else None,
        archive_sums={"runc.amd64": "5" * 64} if mirror else {},
        pod_images=POD_IMAGES,
    )


def on(found: HostView, **changes: Any) -> HostView:
    """The same host with something changed."""
    return dataclasses.replace(found, **changes)


def files(found: HostView) -> dict[str, str]:
    """Every file of a host that is no key, by its path."""
    return {file.path: file.content for file in render.host_files(found, ADDONS)}


def pod(found: HostView, name: str) -> dict[str, Any]:
    """A static pod's manifest."""
    document: dict[str, Any] = yaml.safe_load(
        files(found)[f"/etc/kubernetes/manifests/{name}.yaml"]
    )
    return document


def command(found: HostView, name: str) -> list[str]:
    """A static pod's command line."""
    words: list[str] = pod(found, name)["spec"]["containers"][0]["command"]
    return words


def flags(words: list[str]) -> dict[str, str]:
    """Flags and values; a flag that is there twice is an error."""
    pairs = [word.removeprefix("--").partition("=")[::2] for word in words if word.startswith("--")]
    assert len(dict(pairs)) == len(pairs), f"a flag is given twice in {words}"
    return dict(pairs)
