"""Rules for the files that a host gets, whatever the config says."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from bootstrap import kubelet, preflight, render
from interface import Traits
from model import Role
from tests.bootstrap.views import ADDONS, KEYS, MIRROR, command, files, flags, pod, view
from tests.conftest import ROOT
from validation.flags import FLAGS, Tables
from versions import RELEASES

UNIT = "/etc/systemd/system/kubelet.service"
CONFIG = "/etc/kubernetes/kubelet.yaml"
CONTAINERD = "/etc/containerd/config.toml"
MANIFESTS = "/etc/kubernetes/manifests"
UNFINISHED = re.compile(r"TODO|FIXME|XXX|<no value>|\bNone\b|\bNaN\b|\bundefined\b|Output object")
PLACEHOLDER = re.compile(r"(?<!\$)\$\{?[a-z_]+")
CASES = [
    (role, mirror, traits)
    for role in Role
    for mirror in (False, True)
    for traits in (Traits(), view(Role.MASTER).traits)
]


@pytest.mark.parametrize(("role", "mirror", "traits"), CASES)
def test_every_file_is_finished(role: Role, *, mirror: bool, traits: Traits) -> None:
    """D01, H03: no placeholder, no note to ourselves, no value that is none."""
    for path, content in files(view(role, mirror=mirror, traits=traits)).items():
        assert not UNFINISHED.search(content), path
        assert path == UNIT or not PLACEHOLDER.search(content), path
        assert content.endswith("\n"), path


@pytest.mark.parametrize(("role", "mirror", "traits"), CASES)
def test_every_file_parses_as_what_it_is(role: Role, *, mirror: bool, traits: Traits) -> None:
    for path, content in files(view(role, mirror=mirror, traits=traits)).items():
        if path.endswith(".yaml"):
            assert isinstance(yaml.safe_load(content), dict), path
        elif path.endswith(".toml"):
            tomllib.loads(content)
        else:
            assert content.startswith("[Unit]\n"), path


def test_a_node_has_nothing_of_a_master() -> None:
    names = {path.rsplit("/", 1)[1] for path in files(view(Role.NODE))}
    assert names == {
        *("containerd-anywhere.service", "config.toml", "kubelet.yaml", "kubelet.service"),
    }


def test_a_master_has_its_five_static_pods() -> None:
    found = [path for path in files(view(Role.MASTER)) if path.startswith(MANIFESTS)]
    assert found == [f"{MANIFESTS}/{name}.yaml" for name in render.STATIC_PODS]
    assert len(found) == 5


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    "name", ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"]
)
def test_every_flag_of_a_static_pod_exists_in_its_version(version: str, name: str) -> None:
    """H05: a flag that a version does not know is a crash loop, and a node that is waited for."""
    found = view(Role.MASTER, kubernetesVersion=version)
    known = Tables(FLAGS, found.config.release).flags(name)
    assert not flags(command(found, name)).keys() - set(known)


@pytest.mark.parametrize("mirror", [False, True])
def test_the_runtime_s_pause_image_is_the_release_s(*, mirror: bool) -> None:
    """H10: where containerd 2 reads it; a version 2 path is silently ignored."""
    found = view(Role.NODE, mirror=mirror)
    config = tomllib.loads(files(found)[CONTAINERD])
    images = config["plugins"]["io.containerd.cri.v1.images"]
    assert config["version"] == 3
    assert images["pinned_images"]["sandbox"] == found.config.release.images["pause"]
    assert images["registry"]["config_path"] == "/etc/containerd/certs.d"
    assert not [name for name in config["plugins"] if "grpc.v1.cri" in name]


@pytest.mark.parametrize("systemd", [False, True])
def test_runtime_and_kubelet_agree_on_the_cgroup_driver(*, systemd: bool) -> None:
    """H10: SystemdCgroup, too, where containerd 2 reads it."""
    found = view(Role.NODE, traits=Traits(systemd_cgroup=systemd))
    runtime = tomllib.loads(files(found)[CONTAINERD])["plugins"]["io.containerd.cri.v1.runtime"]
    assert runtime["containerd"]["runtimes"]["runc"]["options"]["SystemdCgroup"] is systemd
    assert yaml.safe_load(files(found)[CONFIG])["cgroupDriver"] == (
        "systemd" if systemd else "cgroupfs"
    )


def test_with_a_mirror_nothing_is_asked_upstream() -> None:
    text = files(view(Role.NODE, mirror=True))["/etc/containerd/certs.d/_default/hosts.toml"]
    hosts = tomllib.loads(text)
    assert hosts["server"] == MIRROR
    assert hosts["host"].keys() == {MIRROR}
    assert {d.url.rpartition("/")[0] for d in render.downloads(view(Role.NODE, mirror=True))} == {
        f"{MIRROR}/archives"
    }


def test_a_mirror_s_own_checksum_wins_over_upstream_s() -> None:
    sums = {d.file: d.sha256 for d in render.downloads(view(Role.NODE, mirror=True))}
    assert sums["runc.amd64"] == "5" * 64
    assert sums["containerd-2.3.4-linux-amd64.tar.gz"].startswith("9d68")


@pytest.mark.parametrize("arch", ["amd64", "arm64"])
def test_archives_are_those_of_the_architecture(arch: str) -> None:
    other = {"amd64": "arm64", "arm64": "amd64"}[arch]
    for download in render.downloads(view(Role.NODE, arch=arch)):
        assert arch in download.url
        assert other not in download.url


@pytest.mark.parametrize(
    "name", ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"]
)
def test_a_user_s_flag_replaces_ours_or_is_added(name: str) -> None:
    key = {
        "kube-apiserver": "apiserver",
        "kube-controller-manager": "controllerManager",
        "kube-scheduler": "scheduler",
        "etcd": "etcd",
    }[name]
    ours = command(view(Role.MASTER), name)
    replaced = next(word for word in ours if word.startswith("--")).removeprefix("--").split("=")[0]
    extra = {replaced: "mine", "v": "4"}
    settings: dict[str, Any] = {key: {"extraArgs": extra}}
    words = command(view(Role.MASTER, **settings), name)
    assert flags(words).items() >= extra.items()
    assert flags(words).keys() == flags(ours).keys() | {"v"}
    assert words[0] == name


def test_etcd_is_known_by_the_host_s_name() -> None:
    """F04: as everything else; who the others are is found out on the host."""
    found = view(Role.MASTER, masters=3)
    given = flags(command(found, "etcd"))
    assert given["name"] == "test-master-0"
    assert given["initial-advertise-peer-urls"] == "https://172.30.0.10:2380"
    masters = "".join(f"master test-master-{i} 172.30.0.{10 + i}\n" for i in range(3))
    assert f"\nmember test-master-0 172.30.0.10\n{masters}" in render.activate(found, {})


def test_a_master_more_changes_no_file_of_the_others() -> None:
    """Their static pods would restart, and etcd with them, for nothing."""
    assert files(view(Role.MASTER, masters=3)) == files(view(Role.MASTER))


def test_the_pod_network_is_the_same_everywhere() -> None:
    """H19: allocation is on, and in the config's range."""
    found = view(Role.MASTER, network={"podCidr": "10.10.0.0/16", "nodePrefix": 25})
    given = flags(command(found, "kube-controller-manager"))
    assert given["allocate-node-cidrs"] == "true"
    assert given["cluster-cidr"] == "10.10.0.0/16"
    assert given["node-cidr-mask-size"] == "25"


def test_the_api_server_lets_nobody_in_unknown() -> None:
    given = flags(command(view(Role.MASTER), "kube-apiserver"))
    assert given["authorization-mode"] == "Node,RBAC"
    assert "NodeRestriction" in given["enable-admission-plugins"].split(",")
    assert "anonymous-auth" not in given  # would contradict the file
    anonymous = yaml.safe_load(files(view(Role.MASTER))["/etc/kubernetes/pki/authentication.yaml"])[
        "anonymous"
    ]
    assert {entry["path"] for entry in anonymous["conditions"]} == {"/livez", "/readyz", "/healthz"}


def test_the_api_server_verifies_kubelets_and_kubelets_their_callers() -> None:
    assert "kubelet-certificate-authority" in flags(command(view(Role.MASTER), "kube-apiserver"))
    config = kubelet.kubelet_config(view(Role.NODE))
    assert config["authentication"] == {
        "anonymous": {"enabled": False},
        "webhook": {"enabled": True},
        "x509": {"clientCAFile": "/etc/kubernetes/kubelet/ca.crt"},
    }
    assert config["authorization"] == {"mode": "Webhook"}
    assert config["readOnlyPort"] == 0


@pytest.mark.parametrize("name", render.STATIC_PODS)
def test_a_static_pod_says_which_keys_it_runs_with(name: str) -> None:
    annotations = pod(view(Role.MASTER), name)["metadata"]["annotations"]
    assert annotations == {"kubernetes-anywhere/pki-sha256": "@PKI_SHA256@"}


@pytest.mark.parametrize("name", render.STATIC_PODS)
def test_a_static_pod_mounts_every_file_that_it_names(name: str) -> None:
    spec = pod(view(Role.MASTER), name)["spec"]
    (container,) = spec["containers"]
    mounted = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    volumes = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"]}
    assert mounted.keys() == {path for path in mounted if volumes[mounted[path]] == path}
    named = set(re.findall(r"(?<![\w:/])/(?:etc|var)/[\w/.-]+", yaml.safe_dump(container)))
    for path in named:
        assert any(path == place or path.startswith(f"{place}/") for place in mounted), path


def test_every_port_that_a_host_s_own_pods_use_is_checked_to_be_free() -> None:
    found = view(Role.MASTER)
    free = {int(port.split("/")[0]) for port in preflight.ports(found)}
    assert int(flags(command(found, "kube-apiserver"))["secure-port"]) in free
    for name in render.STATIC_PODS:
        (container,) = pod(found, name)["spec"]["containers"]
        probes = (container[kind] for kind in container if kind.endswith("Probe"))
        assert {probe["httpGet"]["port"] for probe in probes} <= free, name
    listening = " ".join(word for word in command(found, "etcd") if "listen" in word)
    assert {int(port) for port in re.findall(r":(\d+)", listening)} <= free
    for name in ("kube-proxy", "flannel"):
        text = (ROOT / "addons" / "manifests" / f"{name}.yaml").read_text()
        ports = re.findall(r"(?:healthz-port=|BindAddress: [\d.]+:)(\d+)", text)
        assert ports
        assert {int(port) for port in ports} <= free, name


@pytest.mark.parametrize(
    ("network", "without"),
    [
        ({"plugin": "none"}, {"8081/tcp", "8472/udp"}),
        ({"backend": "host-gw"}, {"8472/udp"}),
        ({"proxyMode": "none"}, {"10249/tcp", "10256/tcp"}),
    ],
)
def test_a_port_that_nothing_will_use_may_be_in_use(
    network: dict[str, str], without: set[str]
) -> None:
    every = set(preflight.ports(view(Role.NODE)))
    assert every - set(preflight.ports(view(Role.NODE, network=network))) == without
    assert every < set(preflight.ports(view(Role.MASTER)))


def test_a_key_is_in_no_file_of_the_step_that_is_shown() -> None:
    text = render.activate(view(Role.MASTER), ADDONS)
    assert not [key for key in KEYS.values() if key.strip() in text]
