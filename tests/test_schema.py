"""The JSON Schema and the reference: complete, and the same as what is checked in."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import configdoc
from config import ClusterConfig
from validation import CLUSTER_KEY, parse

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent


def _objects() -> Iterator[tuple[str, dict[str, Any]]]:
    schema = configdoc.schema()
    yield "ClusterConfig", schema
    yield from schema["$defs"].items()


KEYS = {
    f"{name}.{key}": (key, value, part)
    for name, part in _objects()
    for key, value in part.get("properties", {}).items()
}
REFERENCE = configdoc.docs()


def test_the_checked_in_schema_is_the_generated_one() -> None:
    text = (ROOT / "config.schema.json").read_text(encoding="utf-8")
    assert json.loads(text) == configdoc.schema(), (
        "run: python -m config schema > config.schema.json"
    )


def test_the_checked_in_reference_is_the_generated_one() -> None:
    text = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    assert text == configdoc.docs(), "run: python -m config docs > docs/config.md"


@pytest.mark.parametrize("name", KEYS)
def test_each_key_has_a_description_and_a_default_unless_required(name: str) -> None:
    key, value, part = KEYS[name]
    assert len(value["description"]) > 10
    assert ("default" in value) != (key in part.get("required", ()))
    assert "title" not in value


@pytest.mark.parametrize("name", KEYS)
def test_each_key_is_in_the_reference(name: str) -> None:
    key, value, _ = KEYS[name]
    head = name.partition(".")[0].replace("ClusterConfig", "Cluster")
    section = REFERENCE.split(f"\n## {head}\n")[1].split("\n## ")[0]
    (row,) = [line for line in section.splitlines() if line.startswith(f"| `{key}` |")]
    assert value["description"] in row
    assert row.count(" | ") == 3


def test_each_object_is_closed() -> None:
    """So that an editor underlines a misspelt key."""
    for name, part in _objects():
        assert part.get("additionalProperties", False) is False, name


def test_what_editors_need() -> None:
    schema = configdoc.schema()
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"].startswith("Kubernetes Anywhere")


def test_defaults_of_the_schema_are_those_of_the_model() -> None:
    schema = configdoc.schema()
    defaults = {key: value["default"] for key, value in schema["properties"].items()}
    assert parse(defaults) == ClusterConfig()


def test_the_example_of_the_reference_is_right() -> None:
    raw = yaml.safe_load(configdoc.EXAMPLE)["config"][CLUSTER_KEY]
    assert len(parse(raw).hosts) == 6


def test_the_command() -> None:
    """`python -m config` is the module itself, run twice under two names: once for all, really."""
    command = [sys.executable, "-m", "config", "schema"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == configdoc.schema()


def test_the_command_on_the_stack_of_this_computer() -> None:
    command = [sys.executable, "-m", "config", "show", "Pulumi.local.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert yaml.safe_load(done.stdout)["derived"]["hosts"][0]["role"] == "master"
