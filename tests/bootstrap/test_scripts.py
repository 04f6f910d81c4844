"""The shell programs as text: they parse, and a linter has nothing to say."""

from __future__ import annotations

import re
import shutil
import subprocess
from importlib.resources import files

import pytest

from bootstrap import preflight, render
from bootstrap.step import read
from components.userdata import cloud_config
from interface import Traits
from model import Role
from tests.bootstrap.views import ADDONS, KEYS, VALID_FROM, on, view

SCRIPTS = {
    path.name.removesuffix(".sh")
    for path in files("bootstrap").joinpath("files").iterdir()
    if path.name.endswith(".sh")
}
# Functions that only the statements of a step call, names that only another file reads, and a file
# that only the host has.
ACCEPTED = "SC2034,SC2317,SC1091"


def bash(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", *options], input=text, capture_output=True, text=True, check=False, timeout=60
    )


def steps(role: Role) -> dict[str, str]:
    """Every step of a host, and a second form of one."""
    found = view(role, mirror=True)
    clearing = on(found, traits=Traits(remove_leftovers=True))
    return {
        "reachable": preflight.reachable(found, VALID_FROM),
        "prepare": render.prepare(found),
        "prepare-clearing": render.prepare(clearing),
        "identity": render.identity(found, KEYS),
        "activate": render.activate(found, ADDONS),
        "takeoff": render.takeoff(found.config),
    }


STEPS = steps(Role.MASTER)


@pytest.mark.parametrize("role", Role)
def test_every_step_parses(role: Role) -> None:
    for text in steps(role).values():
        assert bash(text, "-n").stderr == ""


@pytest.mark.parametrize("step", STEPS)
def test_a_step_that_was_cut_off_on_its_way_does_nothing(step: str) -> None:
    """A connection that breaks while bash still reads must not leave half of a step done."""
    text = STEPS[step]
    for length in (len(text) // 3, len(text) // 2, len(text) - 2):
        assert bash(text[:length], "-n").returncode != 0, "bash would run what it has got"


def test_every_script_is_a_part_of_a_step() -> None:
    everything = "".join(STEPS.values())
    assert [name for name in SCRIPTS if read(f"{name}.sh") not in everything] == []


PACKAGES = re.compile(r"\b(apt|apt-get|aptitude|dpkg|dnf|yum|zypper|apk|snap)\s")


def test_nothing_on_a_host_waits_for_the_lock_of_a_package_manager() -> None:
    """A15: no step and no user data installs a package, which unattended upgrades could be at."""
    user_data = cloud_config("PRIVATE", "PUBLIC", "/dev/disk/by-id/etcd")
    for text in (*STEPS.values(), *steps(Role.NODE).values(), user_data):
        assert not PACKAGES.search(text)
        assert not re.search(r"^(packages|package_upgrade):", text, re.MULTILINE)


def test_the_check_for_packages_sees_them() -> None:
    assert PACKAGES.search("  DEBIAN_FRONTEND=noninteractive apt-get install -y curl")


def lint(text: str) -> str:
    found = shutil.which("shellcheck")
    if found is None:
        pytest.skip("shellcheck is not installed: `apt-get install shellcheck`")
    command = [found, "--shell=bash", f"--exclude={ACCEPTED}", "--format=gcc", "-"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=120
    )
    return done.stdout


@pytest.mark.parametrize("step", STEPS)
def test_the_linter_has_nothing_to_say(step: str) -> None:
    assert lint(STEPS[step]) == ""


def test_the_linter_can_complain() -> None:
    assert "SC2086" in lint("rm $1\n")
