"""Rules for the graph of a cluster that hold on every platform, in an update and in a preview."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import pytest

from config import ClusterConfig
from tests.clouds.aws import tokens as aws
from tests.clouds.azure import ids as azure
from tests.clouds.gcp import links as gce
from tests.clouds.mocked import deploy
from tests.components.metal.cases import host, private_key
from tests.conftest import (
    LOCAL_COMMAND,
    REMOTE_COMMAND,
    UNKNOWN,
    Graph,
    Registered,
    record,
    recorded,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

PLATFORMS: tuple[str, ...] = get_args(ClusterConfig.model_fields["platform"].annotation)
CASES = [(platform, preview) for platform in PLATFORMS for preview in (False, True)]
MACHINES: Mapping[str, str] = {
    "local": LOCAL_COMMAND,
    "aws": aws.INSTANCE,
    "gce": gce.INSTANCE,
    "azure": azure.MACHINE,
}
NOT_A_VALUE = re.compile(r"Output object at 0x|Calling __str__|Calling \[toString\]")


def on_metal(home: pytest.TempPathFactory, *, preview: bool) -> Graph:
    """A cluster on hosts that exist already, for a person with a key."""
    folder = home.mktemp("home") / ".ssh"
    folder.mkdir()
    (folder / "id_ed25519").write_text(private_key())
    section = {"hosts": [host("m1", "master"), host("n1"), host("n2")]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder.parent))
        return record(whole(platform="metal", metal=section), preview=preview)


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, Graph]:
    """A platform, and the graph of a cluster on it."""
    platform, preview = request.param
    if platform == "local":
        return platform, recorded(1 if preview else 3, preview=preview)
    if platform == "metal":
        return platform, on_metal(tmp_path_factory, preview=preview)
    return platform, deploy(platform, preview=preview, **({} if preview else {"masters": 3})).graph


def steps(graph: Graph) -> list[Registered]:
    """What runs on hosts."""
    found = list(graph.of_type(REMOTE_COMMAND).values())
    assert len(found) >= 12
    return found


def test_no_command_can_be_replaced_and_no_step_undone(case: tuple[str, Graph]) -> None:
    """A01: `triggers` would replace it, and the old one's `delete` run after the new `create`."""
    _, graph = case
    commands = [*steps(graph), *graph.of_type(LOCAL_COMMAND).values()]
    assert [item.urn for item in commands if "triggers" in item.inputs] == []
    assert [item.urn for item in steps(graph) if {"create", "delete"} <= item.inputs.keys()] == []


def test_no_command_has_an_environment(case: tuple[str, Graph]) -> None:
    """A04: sshd would drop it without a word, or refuse it."""
    _, graph = case
    commands = [*steps(graph), *graph.of_type(LOCAL_COMMAND).values()]
    assert [item.urn for item in commands if "environment" in item.inputs] == []


def test_every_step_of_a_host_has_the_same_connection(case: tuple[str, Graph]) -> None:
    """A02: one whose shape or secrecy differs between steps or runs shows as a change."""
    _, graph = case
    ways = {
        item.name: item.inputs["connection"]
        for item in steps(graph)
        if not item.name.endswith("-takeoff")  # has less patience
    }
    assert all("connection" in item.secrets for item in steps(graph)), "the SDK hides all of it"
    for name, way in ways.items():
        assert way == ways[f"{name.rpartition('-')[0]}-reachable"], name
        if way != UNKNOWN:  # as it is until there is a machine
            assert way.keys() - {"proxy"} == {
                *("host", "port", "user", "privateKey", "hostKey", "dialErrorLimit"),
                "perDialTimeout",
            }


def test_a_step_dies_with_the_machine_that_it_ran_on(case: tuple[str, Graph]) -> None:
    """A08: a machine that is gone blocks neither `up` nor `destroy`. One that is not ours stays."""
    platform, graph = case
    for item in steps(graph):
        if platform not in MACHINES:
            assert item.deleted_with == "", item.urn
            continue
        machine = graph.resources[item.deleted_with]
        assert machine.type == MACHINES[platform], item.urn
        assert machine.name == item.name.rpartition("-")[0], item.urn


def test_no_text_is_an_unresolved_output(case: tuple[str, Graph]) -> None:
    """D01: an Output that was formatted as text, or a value that was none."""
    _, graph = case
    assert [item.urn for item in graph if NOT_A_VALUE.search(item.text)] == []
    for item in steps(graph):
        assert not re.search(r"\bNone\b", str(item.inputs["stdin"])), item.urn


def test_the_check_for_outputs_finds_one() -> None:
    assert NOT_A_VALUE.search("--node-ip=<pulumi.output.Output object at 0x7f>")
