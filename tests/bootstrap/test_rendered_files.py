"""Rules for the files that a host gets, whatever the config says."""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from bootstrap import render
from config import Role
from interface import Traits
from tests.bootstrap.views import ADDONS, KEYS, MIRROR, on, view
from validation.flags import FLAGS, Tables
from versions import RELEASES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bootstrap.render import HostView

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


def files(found: HostView) -> dict[str, str]:
    return {file.path: file.content for file in render.host_files(found, ADDONS)}


def pod(found: HostView, name: str) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(files(found)[f"{MANIFESTS}/{name}.yaml"])
    return document


def command(found: HostView, name: str) -> list[str]:
    words: list[str] = pod(found, name)["spec"]["containers"][0]["command"]
    return words


def flags(words: list[str]) -> dict[str, str]:
    """Flags and values; a flag that is there twice is an error."""
    pairs = [word.removeprefix("--").partition("=")[::2] for word in words if word.startswith("--")]
    assert len(dict(pairs)) == len(pairs), f"a flag is given twice in {words}"
    return dict(pairs)


def kubelet_words(found: HostView) -> list[str]:
    unit = files(found)[UNIT].replace("\\\n", " ")
    (line,) = (line for line in unit.splitlines() if line.startswith("ExecStart="))
    return shlex.split(line.removeprefix("ExecStart="))


def mounts(found: HostView) -> dict[str, dict[str, str]]:
    words = kubelet_words(found)
    values = [words[index + 1] for index, word in enumerate(words) if word == "--mount"]
    entries = [dict(part.split("=", 1) for part in value.split(",")) for value in values]
    assert len({entry["dst"] for entry in entries}) == len(entries)
    return {entry["dst"]: entry for entry in entries}


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
@pytest.mark.parametrize("name", ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"])
def test_every_flag_of_a_static_pod_exists_in_its_version(version: str, name: str) -> None:
    """H05: a flag that a version does not know is a crash loop, and a node that is waited for."""
    found = view(Role.MASTER, kubernetesVersion=version)
    known = Tables(FLAGS, found.config.release).flags(name)
    assert not flags(command(found, name)).keys() - set(known)


@pytest.mark.parametrize("version", RELEASES)
def test_every_flag_of_the_kubelet_exists_in_its_version(version: str) -> None:
    """H05: as of `kubelet --help`."""
    found = view(Role.NODE, kubernetesVersion=version, pools=LABELLED)
    known = Tables(FLAGS, found.config.release).flags("kubelet")
    words = shlex.split(render.kubelet_arguments(found))
    assert not flags(words).keys() - set(known)


@pytest.mark.parametrize("version", RELEASES)
def test_every_field_of_the_kubelet_configuration_exists_in_its_version(version: str) -> None:
    """H05: an unknown field is as fatal as an unknown flag."""
    for traits in (Traits(), view(Role.NODE).traits):
        found = view(Role.NODE, kubernetesVersion=version, traits=traits)
        known = Tables(FLAGS, found.config.release).kubelet_fields()
        assert not render.kubelet_config(found).keys() - {"apiVersion", "kind"} - known.keys()


LABELLED = [
    {
        "name": "node",
        "count": 1,
        "labels": {"example.com/disk": "ssd", "a": "b"},
        "taints": [{"key": "example.com/gpu", "effect": "NoSchedule"}],
    }
]


def test_the_kubelet_sees_what_it_manages() -> None:
    """H03: fixed once, lost in a rewrite: the mounts as a set."""
    found = mounts(view(Role.NODE))
    assert found.keys() == {
        *("/dev", "/etc/cni", "/etc/kubernetes", "/etc/machine-id", "/etc/os-release"),
        *("/lib/modules", "/opt", "/run", "/var/run", "/sys/fs/cgroup", "/usr/libexec/kubernetes"),
        *("/var/lib/cni", "/var/lib/containerd", "/var/lib/kubelet", "/var/log"),
    }
    assert {dst: entry["src"] for dst, entry in found.items() if entry["src"] != dst} == {
        "/var/run": "/run"
    }
    assert found["/var/log"]["options"].endswith(":rw")
    assert found["/etc/kubernetes"]["options"].endswith(":ro")


def test_what_the_kubelet_mounts_is_seen_by_host_and_pods() -> None:
    """H01: shared in the unit itself, so also after a reboot, and without stacking mounts."""
    assert mounts(view(Role.NODE))["/var/lib/kubelet"]["options"].split(":") == ["rbind", "rshared", "rw"]
    unit = files(view(Role.NODE))[UNIT]
    before = [line for line in unit.splitlines() if line.startswith("ExecStartPre=")]
    (share,) = (line for line in before if "--make-rshared /var/lib/kubelet" in line)
    assert "mountpoint -q /var/lib/kubelet || mount --bind" in share


def test_every_folder_that_is_mounted_exists_before() -> None:
    """H03: a bind mount of what is not there keeps the kubelet from starting."""
    unit = files(view(Role.NODE))[UNIT]
    (line,) = (line for line in unit.splitlines() if line.startswith("ExecStartPre=/bin/mkdir -p"))
    made = set(line.split()[2:])
    of_the_system = {"/dev", "/etc/machine-id", "/etc/os-release", "/opt", "/run", "/sys/fs/cgroup"}
    ours = {"/etc/kubernetes", "/var/lib/containerd"}  # by the step itself, and by containerd
    sources = {entry["src"] for entry in mounts(view(Role.NODE)).values()}
    missing = {
        source
        for source in sources - of_the_system - ours
        if not any(path == source or path.startswith(f"{source}/") for path in made)
    }
    assert missing == set()


def test_what_the_init_system_expands_reaches_the_shell_as_a_variable() -> None:
    """systemd turns `$$` into `$`: a shell would read `$$` as its own number."""
    unit = files(view(Role.NODE))[UNIT]
    assert "; $$CTR task rm" in unit
    assert "$$$" not in unit


@pytest.mark.parametrize("value", ["100%", "$HOME", "a b", "it's", 'say "x"', "back\\slash"])
def test_a_flag_s_value_survives_the_unit(value: str) -> None:
    """A04: `%` and `$` are the init system's own, and its quotes are not the shell's."""
    found = view(Role.NODE, kubelet={"extraArgs": {"event-labels": value}})
    unit = files(found)[UNIT]
    text = unit[unit.index("--hostname-override") :].split("\nRestart=", 1)[0]
    assert systemd_words(text)[-1] == f"--event-labels={value}"


ESCAPES = {"n": "\n", "t": "\t", "s": " ", "\\": "\\", '"': '"', "'": "'"}


def systemd_words(text: str) -> list[str]:
    """The words that systemd makes of a command line: man systemd.syntax, `Quoting`."""
    assert not re.search(r"(?<!%)(%%)*%(?!%)|(?<!\$)(\$\$)*\$(?!\$)", text), "systemd expands % and $"
    words: list[str] = []
    current: str | None = None  # None: between two words
    quote = ""
    stream = iter(text.replace("%%", "%").replace("$$", "$"))
    for char in stream:
        if char == "\\":
            current = (current or "") + ESCAPES[next(stream)]
        elif quote:
            current, quote = (current, "") if char == quote else ((current or "") + char, quote)
        elif char in "'\"":
            assert current is None, "systemd knows a quote at the begin of a word only"
            current, quote = "", char
        elif char.isspace():
            words += [] if current is None else [current]
            current = None
        else:
            current = (current or "") + char
    return [*words, *([] if current is None else [current])]


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
    assert yaml.safe_load(files(found)[CONFIG])["cgroupDriver"] == ("systemd" if systemd else "cgroupfs")


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


@pytest.mark.parametrize("name", ["kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"])
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
    words = command(view(Role.MASTER, **{key: {"extraArgs": extra}}), name)
    assert flags(words).items() >= extra.items()
    assert flags(words).keys() == flags(ours).keys() | {"v"}
    assert words[0] == name


def test_a_user_s_kubelet_flag_replaces_ours_or_is_added() -> None:
    found = view(Role.NODE, kubelet={"extraArgs": {"node-ip": "192.0.2.1", "v": "4"}})
    given = flags(shlex.split(render.kubelet_arguments(found)))
    assert (given["node-ip"], given["v"]) == ("192.0.2.1", "4")


@pytest.mark.parametrize(
    ("traits", "user", "expected"),
    [
        ({}, {}, 0),
        ({"readOnlyPort": 1}, {}, 1),
        ({}, {"readOnlyPort": 2}, 2),
        ({"readOnlyPort": 1}, {"readOnlyPort": 2}, 2),
    ],
)
def test_of_the_kubelet_s_settings_the_user_s_win_over_the_platform_s_over_ours(
    traits: Mapping[str, Any], user: Mapping[str, Any], expected: int
) -> None:
    found = view(Role.NODE, traits=Traits(kubelet=traits), kubelet={"config": user})
    assert render.kubelet_config(found)["readOnlyPort"] == expected


def test_a_pool_s_settings_win_over_the_cluster_s() -> None:
    pools = [{"name": "node", "count": 1, "kubelet": {"config": {"maxPods": 2}}}]
    found = view(Role.NODE, pools=pools, kubelet={"config": {"maxPods": 1, "podsPerCore": 1}})
    config = render.kubelet_config(found)
    assert (config["maxPods"], config["podsPerCore"]) == (2, 1)


def test_a_node_registers_under_its_name_with_its_labels_and_taints() -> None:
    """F04: one name, in the flag, the certificate and the kubeconfig."""
    found = view(Role.NODE, pools=LABELLED)
    given = flags(shlex.split(render.kubelet_arguments(found)))
    assert given["hostname-override"] == found.spec.name == "test-node-0"
    assert given["node-labels"] == "a=b,example.com/disk=ssd"
    taints = render.kubelet_config(found)["registerWithTaints"]
    assert taints == [{"key": "example.com/gpu", "effect": "NoSchedule"}]


def test_a_master_keeps_ordinary_pods_away() -> None:
    taints = render.kubelet_config(view(Role.MASTER))["registerWithTaints"]
    assert taints == [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]


def test_etcd_members_know_each_other() -> None:
    given = flags(command(view(Role.MASTER, masters=3), "etcd"))
    members = [f"test-master-{i}=https://172.30.0.{10 + i}:2380" for i in range(3)]
    assert given["initial-cluster"] == ",".join(members)
    assert given["initial-advertise-peer-urls"] == "https://172.30.0.10:2380"
    assert given["name"] == "test-master-0"


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
    anonymous = yaml.safe_load(files(view(Role.MASTER))["/etc/kubernetes/authentication.yaml"])["anonymous"]
    assert {entry["path"] for entry in anonymous["conditions"]} == {"/livez", "/readyz", "/healthz"}


def test_the_api_server_verifies_kubelets_and_kubelets_their_callers() -> None:
    assert "kubelet-certificate-authority" in flags(command(view(Role.MASTER), "kube-apiserver"))
    config = render.kubelet_config(view(Role.NODE))
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


def test_every_port_that_a_static_pod_uses_is_checked_to_be_free() -> None:
    given = flags(command(view(Role.MASTER), "kube-apiserver"))
    assert int(given["secure-port"]) in render.PORTS[Role.MASTER]
    assert set(render.PORTS[Role.NODE]) <= set(render.PORTS[Role.MASTER])


def test_a_key_is_in_no_file_of_the_step_that_is_shown() -> None:
    text = render.activate(view(Role.MASTER), ADDONS)
    assert not [key for key in KEYS.values() if key.strip() in text]
