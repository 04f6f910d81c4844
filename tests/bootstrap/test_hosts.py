"""The steps of machines that were there before the cluster, as resources."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from bootstrap.hosts import Bootstrap, BootstrapArgs
from bootstrap.remote import BY_SUDO, FIRST_BY_SUDO, SHELL
from interface import API_PORT, Connection, Host, Machines, Traits
from tests.bootstrap.views import KEYS, VALID_FROM
from tests.conftest import REMOTE_COMMAND, Graph, cluster, record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pulumi import Resource

CONFIG = cluster()
NAMES = [spec.name for spec in CONFIG.hosts]


def existing(user: str, lifetimes: list[Resource | None] | None = None) -> Callable[[], None]:
    """A program that puts the cluster on machines that it did not make."""

    def program() -> None:
        hosts = tuple(
            Host(
                spec=spec,
                address=f"192.0.2.{index}",
                connection=Connection(
                    host=f"192.0.2.{index}", user=user, private_key="key", host_key="key"
                ),
            )
            for index, spec in enumerate(CONFIG.hosts)
        )
        machines = Machines(
            hosts=hosts,
            api_host="192.0.2.0",
            operator_api_host="192.0.2.0",
            operator_api_port=API_PORT,
            mirror_url=None,
            traits=Traits(),
        )
        made = Bootstrap(
            "test",
            BootstrapArgs(
                config=CONFIG,
                machines=machines,
                keys=dict.fromkeys(NAMES, KEYS),
                valid_from=dict.fromkeys(NAMES, VALID_FROM),
                addons={},
                archive_sums={},
                pod_images=(),
            ),
        )
        if lifetimes is not None:
            lifetimes.append(made.lifetime)

    return program


@pytest.fixture(scope="module")
def graph() -> Graph:
    return record(existing("admin"))


def test_each_host_has_a_step_that_only_deletes(graph: Graph) -> None:
    """A01: nothing but the end of the host runs it; without `create` no host is dialled before."""
    for name in NAMES:
        takeoff = graph.step(f"{name}-takeoff")
        assert not takeoff.inputs.keys() & {"create", "update", "triggers", "environment"}
        assert takeoff.inputs["delete"] == BY_SUDO
        assert takeoff.inputs["stdin"].endswith("takeoff\n}\n")
        assert takeoff.deleted_with == ""


def test_it_is_deleted_after_every_other_step_of_its_host(graph: Graph) -> None:
    for name in NAMES:
        takeoff = graph.step(f"{name}-takeoff")
        assert graph.before(takeoff) == set()
        for step in ("reachable", "prepare", "identity", "activate"):
            assert takeoff.urn in graph.ancestors(graph.step(f"{name}-{step}"))


def test_hosts_are_taken_off_side_by_side(graph: Graph) -> None:
    for name in NAMES:
        before = graph.before(graph.step(f"{name}-reachable"))
        assert before == {f"{name}-takeoff"}


def seconds(connection: Mapping[str, Any]) -> tuple[float, float]:
    """How long a host is dialled whose port refuses, and one that does not answer at all."""
    limit = int(connection["dialErrorLimit"])
    waits = sum(min(0.1 * 1.5**count, 5) for count in range(limit))
    return waits, waits + (limit + 1) * connection["perDialTimeout"]


def test_a_host_that_is_gone_is_given_up_within_a_minute(graph: Graph) -> None:
    """A08: it blocks neither `destroy` nor an `up` that no longer has it for longer than that."""
    for name in NAMES:
        step = graph.step(f"{name}-takeoff")
        refused, silent = seconds(step.inputs["connection"])
        assert 5 < refused < silent < 60
        assert step.timeouts["delete"] == "2m"


def test_a_wrong_address_or_key_is_told_in_a_minute_or_two(graph: Graph) -> None:
    """A03: nothing boots here, so what does not let us in now will not do so later."""
    for name in NAMES:
        for step in ("reachable", "prepare", "identity", "activate"):
            refused, silent = seconds(graph.step(f"{name}-{step}").inputs["connection"])
            assert 20 < refused < 60
            assert silent < 120


def test_root_needs_no_sudo() -> None:
    steps = record(existing("root")).of_type(REMOTE_COMMAND).values()
    assert {step.inputs.get("create", step.inputs.get("delete")) for step in steps} == {SHELL}


def test_only_the_first_step_asks_whether_sudo_works(graph: Graph) -> None:
    """An error shows the whole command: it should be a short one."""
    for name in NAMES:
        assert graph.step(f"{name}-reachable").inputs["create"] == FIRST_BY_SUDO
        for step in ("prepare", "identity", "activate"):
            assert graph.step(f"{name}-{step}").inputs["create"] == BY_SUDO


@pytest.mark.parametrize(
    ("sudo", "status", "output", "words"),
    [
        ('shift; exec "$@"', 0, "it runs\n", ""),
        ('echo "sudo: a password is required" >&2; exit 1', 1, "", "sudo: a password is required"),
        (None, 1, "", "sudo: not found"),
    ],
)
def test_a_user_who_may_not_use_sudo_is_told_what_to_do(
    tmp_path: Path, sudo: str | None, status: int, output: str, words: str
) -> None:
    for name, body in {"uname": "echo test-node-0", "id": "echo admin", "sudo": sudo}.items():
        if body:
            (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
            (tmp_path / name).chmod(0o755)
    for program in ("bash", "sh", "true"):
        (tmp_path / program).symlink_to(f"/bin/{program}")
    done = subprocess.run(
        ["/bin/sh", "-c", FIRST_BY_SUDO],
        input="echo it runs\n",
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (status, output)
    assert words in done.stderr
    advice = "test-node-0: admin may not use sudo without a password; allow it in /etc/sudoers.d"
    assert (advice in done.stderr) is bool(status)


def test_the_cluster_dies_with_its_first_host() -> None:
    """What only the cluster knows need not be deleted from a cluster that is being taken off."""
    lifetimes: list[Resource | None] = []
    record(existing("root", lifetimes))
    (lifetime,) = lifetimes
    assert lifetime is not None
    assert lifetime.pulumi_resource_name == f"{NAMES[0]}-takeoff"
