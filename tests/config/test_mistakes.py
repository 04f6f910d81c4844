"""What is said of bad input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi
import pytest

from tests.config.cases import NAME_WORDS, Bad, Raw, network, problems
from tests.config.mistakes import hosts, networks, settings, shapes, values
from validation import ConfigError, parse
from validation.problems import render, show

if TYPE_CHECKING:
    from pathlib import Path

MISTAKES = [
    pytest.param(case, id=name)
    for part in (shapes, values, networks, hosts, settings)
    for name, case in part.BAD.items()
]


@pytest.mark.parametrize("case", MISTAKES)
def test_bad_input(case: Bad, flags: Path) -> None:
    """E04, G04: names. H05: versions, flags. H19, H20: ranges. H13: even counts of masters."""
    (problem,) = problems(case.raw, flags)
    assert (problem.path, problem.value) == (case.path, case.value)
    assert case.message in problem.message
    assert problem.remedy == case.remedy


def test_all_problems_at_once(flags: Path) -> None:
    """Keys that are wrong do not hide what is wrong between the others."""
    raw = {
        "nam": "x",
        "masters": {"count": 2},
        "pools": [{"name": "a", "count": "2"}, {"name": "a", "labels": {"k8s.io/x": "y"}}],
        "network": {"podCidr": "10.96.0.0/16", "hostCidr": "172.17.0.0/24", "plugin": "x"},
        "etcd": {"extraArgs": {"data-dir": "/x", "nonsense": "1"}},
        "kubelet": {"config": {"staticPodPath": "/x"}},
    }
    assert [problem.path for problem in problems(raw, flags)] == [
        "etcd.extraArgs.data-dir",
        "etcd.extraArgs.nonsense",
        "kubelet.config.staticPodPath",
        "masters.count",
        "nam",
        "network.hostCidr",
        "network.plugin",
        "network.podCidr",
        "pools[0].count",
        'pools[1].labels["k8s.io/x"]',
        "pools[1].name",
    ]


DROPPED: dict[str, tuple[Raw, list[str]]] = {
    # The default podCidr would collide with these services, but nobody asked for the default.
    "faulty-key": (network(podCidr="ten", serviceCidr="10.244.0.0/16"), ["network.podCidr"]),
    "misspelt-key": (
        network(podCidrs="10.0.0.0/16", serviceCidr="10.244.0.0/16"),
        ["network.podCidrs"],
    ),
    "faulty-object": ({"network": 3, "name": "Lab"}, ["name", "network"]),
    # The two default nodes would not fit, but how many the user wants is unknown.
    "faulty-list": (
        {"network": {"podCidr": "10.0.0.0/23"}, "pools": ["node"]},
        ["pools[0]"],
    ),
    # Which flags exist depends on a version that is unknown; which are ours does not.
    "faulty-version": (
        {
            "kubernetesVersion": "v0",
            "kubelet": {"extraArgs": {"nonsense": "1"}, "config": {"nonsense": 1, "port": 1}},
        },
        ["kubelet.config.port", "kubernetesVersion"],
    ),
}


@pytest.mark.parametrize(("raw", "paths"), DROPPED.values(), ids=DROPPED)
def test_no_default_is_blamed(raw: Raw, paths: list[str], flags: Path) -> None:
    assert [problem.path for problem in problems(raw, flags)] == paths


def test_text_of_the_error(flags: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"name": "Lab", "masters": {"count": 2}}, flags)
    assert str(caught.value) == (
        "the cluster config has 2 problems:\n\n"
        "masters.count: 2\n"
        "    is even, and an even number of etcd members survives no more losses than one fewer\n"
        "    write 1 or 3\n\n"
        "name: Lab\n"
        f"    is not made of {NAME_WORDS}\n"
        "    write one like kubernetes or big-nodes\n"
    )


def test_pulumi_prints_the_error_without_a_traceback() -> None:
    """Its Python host prints only the message of a RunError, of anything else the stack too."""
    assert issubclass(ConfigError, pulumi.RunError)


SHOWN: dict[str, tuple[Any, str, str]] = {
    "text": ("flanel", "plugin", "flanel"),
    "text-of-a-number": ("2", "count", '"2"'),
    "range": ("10.0.0.0/16", "podCidr", "10.0.0.0/16"),
    "empty": ("", "name", '""'),
    "text-of-true": ("true", "x", '"true"'),
    "control-characters": ("a\x1b[31m\n", "name", '"a\\u001b[31m\\n"'),
    "long": ("x" * 100, "name", "x" * 67 + "..."),
    "object": ({"a": [1]}, "x", '{"a": [1]}'),
    "secret": ("hunter2", "dbPassword", "(hidden)"),
    "secret-within": ({"user": "me", "token": "t"}, "x", '{"user": "me", "token": "(hidden)"}'),
    "secret-in-list": ([{"clientSecret": "t"}], "x", '[{"clientSecret": "(hidden)"}]'),
}


@pytest.mark.parametrize(("value", "path", "text"), SHOWN.values(), ids=SHOWN)
def test_values_on_one_line_without_secrets(value: Any, path: str, text: str) -> None:
    assert show(value, path) == text


def test_secrets_in_unknown_keys_are_not_printed(flags: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        parse({"registry": {"password": "hunter2"}, "apiToken": "hunter2"}, flags)
    assert "hunter2" not in str(caught.value)
    assert "apiToken: (hidden)" in str(caught.value)


def test_paths_as_a_user_writes_them() -> None:
    assert render(("pools", 1, "labels", "example.com/disk")) == (
        'pools[1].labels["example.com/disk"]'
    )
