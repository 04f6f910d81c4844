"""The mirror that a config names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalogue import Catalogue, CatalogueError, read_catalogue
from tests.config.cases import CATALOGUE, NEW, OLD, problems
from validation import parse, with_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_read_catalogue(mirror: Callable[[object], str]) -> None:
    assert read_catalogue(mirror(CATALOGUE)) == Catalogue(
        release=NEW,
        images={"registry.k8s.io/pause:3.10.2": "sha256:aa"},
        archives={"runc.amd64": "bb"},
        unavailable={"docker.io/fluent/x:1": "no source"},
    )


def test_a_mirror_says_what_it_lacks_and_why(mirror: Callable[[object], str]) -> None:
    found = read_catalogue(mirror(CATALOGUE))
    there, named, unknown = "registry.k8s.io/pause:3.10.2", "docker.io/fluent/x:1", "quay.io/a/b:1"
    assert found.missing([there, named, unknown]) == {
        named: "no source",
        unknown: "it was made before that was asked for",
    }


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "has a broken catalog.json: Invalid JSON"),
        ({**CATALOGUE, "images": []}, "has a broken catalog.json: images: "),
        ({"release": NEW}, "has a broken catalog.json: images: "),
    ],
)
def test_broken_catalogue(
    document: object, message: str, mirror: Callable[[object], str], flags: Path
) -> None:
    directory = mirror(document)
    with pytest.raises(CatalogueError, match=message):
        read_catalogue(directory)
    (problem,) = problems({"mirror": {"directory": directory}}, flags)
    assert problem.path == "mirror.directory"
    assert message in problem.message


def test_no_mirror_there(tmp_path: Path, flags: Path) -> None:
    (problem,) = problems({"mirror": {"directory": str(tmp_path)}}, flags)
    assert (problem.path, problem.value) == ("mirror.directory", str(tmp_path))
    assert problem.message == "holds no catalog.json, so it is no mirror"
    assert problem.remedy == (
        "write a folder that `python -m airgap mirror` made, or leave out mirror (and unset "
        "KUBERNETES_ANYWHERE_MIRROR)"
    )


def test_mirror_of_another_release(mirror: Callable[[object], str], flags: Path) -> None:
    directory = mirror({**CATALOGUE, "release": OLD})
    (problem,) = problems({"mirror": {"directory": directory}}, flags)
    assert problem.message == f"was made for {OLD}, but kubernetesVersion is {NEW}"
    assert problem.remedy == f"write a mirror made for {NEW}, or kubernetesVersion: {OLD}"
    parse({"mirror": {"directory": directory}, "kubernetesVersion": OLD}, flags)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (None, {"mirror": {"directory": "/m"}}),
        ({"name": "a"}, {"name": "a", "mirror": {"directory": "/m"}}),
        ({"mirror": {"directory": "/own"}}, {"mirror": {"directory": "/own"}}),
        ({"mirror": None}, {"mirror": None}),
        ("nonsense", "nonsense"),
    ],
)
def test_mirror_from_the_environment(raw: Any, expected: Any) -> None:
    """Only where the config says nothing of one: a null is a word too."""
    assert with_environment(raw, {"KUBERNETES_ANYWHERE_MIRROR": "/m"}) == expected
    assert with_environment(raw, {"KUBERNETES_ANYWHERE_MIRROR": ""}) == raw
    assert with_environment(raw, {}) == raw
