"""Everything that a host is sent, whole, as files to read; UPDATE_GOLDEN=1 writes them anew.

A step's golden file has what varies: its statements without the files, and without the functions,
which `bootstrap/files/*.sh` has. Each file has a golden file of its own, by its path on the host.
"""

from __future__ import annotations

import os
import re
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bootstrap import preflight, render
from model import Role
from tests.bootstrap.views import ADDONS, KEYS, VALID_FROM, view

if TYPE_CHECKING:
    from bootstrap.view import HostView

GOLDEN = Path(__file__).parent / "golden"
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"
CASES = {
    "master": (Role.MASTER, False),
    "master-mirror": (Role.MASTER, True),
    "node": (Role.NODE, False),
    "node-mirror": (Role.NODE, True),
}
HERE_DOCUMENT = re.compile(r"(<<'(\S+)'\n).*?\n\2\n", re.DOTALL)


def statements(text: str) -> str:
    """A step's text without the functions and without the content of files."""
    for path in sorted(files("bootstrap").joinpath("files").iterdir(), key=lambda path: path.name):
        if path.name.endswith(".sh"):
            text = text.replace(f"{path.read_text()}\n", "")
    return HERE_DOCUMENT.sub(r"\1...\n\2\n", text).removeprefix("{\n").removesuffix("}\n")


def steps(host: HostView) -> dict[str, str]:
    """Every step of a host, as its golden file shows it."""
    texts = {
        "reachable": preflight.reachable(host, VALID_FROM),
        "prepare": render.prepare(host),
        "identity": render.identity(host, KEYS),
        "activate": render.activate(host, ADDONS),
        "takeoff": render.takeoff(host.config),
    }
    return {f"{step}.sh": statements(text) for step, text in texts.items()}


def rendered(host: HostView) -> dict[str, str]:
    """Golden path: content, for a host."""
    placed = {file.path.lstrip("/"): file.content for file in render.host_files(host, ADDONS)}
    return {**steps(host), **placed}


def golden(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_text() for path in paths}


def write(folder: Path, found: dict[str, str]) -> None:
    for path in golden(folder):
        (folder / path).unlink()
    for path, content in found.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)


@pytest.mark.parametrize("case", CASES)
def test_a_host_is_sent_what_the_golden_files_show(case: str) -> None:
    role, mirror = CASES[case]
    found = rendered(view(role, mirror=mirror))
    if UPDATE:
        write(GOLDEN / case, found)
    expected = golden(GOLDEN / case)
    assert found.keys() == expected.keys(), "UPDATE_GOLDEN=1 writes the golden files anew"
    for path, content in found.items():
        assert content == expected[path], f"{case}/{path}: UPDATE_GOLDEN=1 writes it anew"


def test_there_is_no_golden_file_of_nothing() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(CASES)
