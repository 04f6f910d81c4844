"""The shell programs as text: they parse, and a linter has nothing to say."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import files

import pytest

from bootstrap import render
from bootstrap.step import program
from model import Role
from tests.bootstrap.views import ADDONS, KEYS, VALID_FROM, view

SCRIPTS = sorted(
    path.name.removesuffix(".sh")
    for path in files("bootstrap").joinpath("files").iterdir()
    if path.name.endswith(".sh")
)
# Functions that only the statements of a step call, names that only another file reads, and a file
# that only the host has.
ACCEPTED = "SC2034,SC2317,SC1091"


def bash(text: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", *options], input=text, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("role", Role)
def test_every_step_parses(role: Role) -> None:
    found = view(role, mirror=True)
    for text in (
        render.reachable(found, VALID_FROM),
        render.prepare(found),
        render.identity(found, KEYS),
        render.activate(found, ADDONS),
    ):
        assert bash(text, "-n").stderr == ""


def test_the_check_for_syntax_can_fail() -> None:
    assert bash("if true; then\n", "-n").returncode != 0


def lint(text: str) -> str:
    found = shutil.which("shellcheck")
    if found is None:
        pytest.skip("shellcheck is not installed: `apt-get install shellcheck`")
    command = [found, "--shell=bash", f"--exclude={ACCEPTED}", "--format=gcc", "-"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=120
    )
    return done.stdout


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name != "common"])
def test_the_linter_has_nothing_to_say(name: str) -> None:
    assert lint(program(name, ())) == ""


def test_the_linter_can_complain() -> None:
    assert "SC2086" in lint("rm $1\n")
