"""The kubelet on a host: its unit, its command line and its configuration."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from bootstrap import kubelet
from interface import Traits
from model import Role
from tests.bootstrap import namespace
from tests.bootstrap.views import files, flags, view
from validation.flags import FLAGS, Tables
from versions import RELEASES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from bootstrap.view import HostView

UNIT = "/etc/systemd/system/kubelet.service"


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


@pytest.mark.parametrize("version", RELEASES)
def test_every_flag_of_the_kubelet_exists_in_its_version(version: str) -> None:
    """H05: as of `kubelet --help`."""
    found = view(Role.NODE, kubernetesVersion=version, pools=LABELLED)
    known = Tables(FLAGS, found.config.release).flags("kubelet")
    words = shlex.split(kubelet.kubelet_arguments(found))
    assert not flags(words).keys() - set(known)


@pytest.mark.parametrize("version", RELEASES)
def test_every_field_of_the_kubelet_configuration_exists_in_its_version(version: str) -> None:
    """H05: an unknown field is as fatal as an unknown flag."""
    for traits in (Traits(), view(Role.NODE).traits):
        found = view(Role.NODE, kubernetesVersion=version, traits=traits)
        known = Tables(FLAGS, found.config.release).kubelet_fields()
        assert not kubelet.kubelet_config(found).keys() - {"apiVersion", "kind"} - known.keys()


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
    assert mounts(view(Role.NODE))["/var/lib/kubelet"]["options"].split(":") == [
        "rbind",
        "rshared",
        "rw",
    ]
    unit = files(view(Role.NODE))[UNIT]
    before = [line for line in unit.splitlines() if line.startswith("ExecStartPre=")]
    (share,) = (line for line in before if "--make-rshared /var/lib/kubelet" in line)
    assert "mountpoint -q /var/lib/kubelet || mount --bind" in share


def test_it_is_seen_once_however_often_the_unit_starts(tmp_path: Path) -> None:
    """H01: by the unit's own line, on a host where `/` is private."""
    unit = files(view(Role.NODE))[UNIT]
    (share,) = (line for line in unit.splitlines() if "--make-rshared" in line)
    start = shlex.join(systemd_words(share.removeprefix("ExecStartPre=")))
    ran = namespace.run(
        tmp_path,
        "mkdir /var/lib/kubelet",
        "findmnt --noheadings --output PROPAGATION --target /var/lib/kubelet",
        f"for times in 1 2 3; do {start}; done",
        "findmnt --noheadings --output PROPAGATION /var/lib/kubelet",
    )
    assert (ran.stderr, ran.stdout.split()) == ("", ["private", "shared"])


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
    assert not re.search(r"(?<!%)(%%)*%(?!%)|(?<!\$)(\$\$)*\$(?!\$)", text), (
        "systemd expands % and $"
    )
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


def test_a_user_s_kubelet_flag_replaces_ours_or_is_added() -> None:
    found = view(Role.NODE, kubelet={"extraArgs": {"node-ip": "192.0.2.1", "v": "4"}})
    given = flags(shlex.split(kubelet.kubelet_arguments(found)))
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
    assert kubelet.kubelet_config(found)["readOnlyPort"] == expected


def test_a_pool_s_settings_win_over_the_cluster_s() -> None:
    pools = [{"name": "node", "count": 1, "kubelet": {"config": {"maxPods": 2}}}]
    found = view(Role.NODE, pools=pools, kubelet={"config": {"maxPods": 1, "podsPerCore": 1}})
    config = kubelet.kubelet_config(found)
    assert (config["maxPods"], config["podsPerCore"]) == (2, 1)


def test_a_node_registers_under_its_name_with_its_labels_and_taints() -> None:
    """F04: one name, in the flag, the certificate and the kubeconfig."""
    found = view(Role.NODE, pools=LABELLED)
    given = flags(shlex.split(kubelet.kubelet_arguments(found)))
    assert given["hostname-override"] == found.spec.name == "test-node-0"
    assert given["node-labels"] == "a=b,example.com/disk=ssd,kubernetes-anywhere/cluster=test"
    taints = kubelet.kubelet_config(found)["registerWithTaints"]
    assert taints == [{"key": "example.com/gpu", "effect": "NoSchedule"}]


def test_a_master_keeps_ordinary_pods_away() -> None:
    taints = kubelet.kubelet_config(view(Role.MASTER))["registerWithTaints"]
    assert taints == [{"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"}]
