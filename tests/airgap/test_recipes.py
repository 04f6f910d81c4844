from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from airgap.copies import Copy, Edit
from airgap.gobuild import GoBuild, own_go_mod, program_of, versions_in
from airgap.progress import BuildError
from airgap.recipes import cluster as recipes
from airgap.recipes.engine import ENGINE
from versions import RELEASES, Release

EXAMPLE = GoBuild(
    name="example",
    module="example.org/x",
    version="v1.2.3",
    packages=("example.org/x/cmd/server", "example.org/x/tool/v3"),
    rename={"server": "x-server"},
)

CHANGES: dict[str, object] = {
    "version": "v1.2.4",
    "packages": ("example.org/x/cmd/server",),
    "siblings": "v0.1.0",
    "requires": {"example.org/y": "v1.0.0"},
    "replaces": {"example.org/y": "example.org/z v1.0.0"},
    "align": "example.org/z v1.0.0",
    "copies": (Copy(module="example.org/x", version="v1.2.3"),),
    "cgo": True,
    "tags": ("netgo",),
    "variables": {"main.version": "1"},
    "linker": "-extldflags -static",
}


@pytest.mark.parametrize("field", sorted(CHANGES))
def test_a_changed_recipe_is_another_build(field: str) -> None:
    changed = dataclasses.replace(EXAMPLE, **{field: CHANGES[field]})  # type: ignore[arg-type]
    assert changed.folder() != EXAMPLE.folder()


def test_a_changed_edit_or_file_is_another_build() -> None:
    def folder(copy: Copy) -> Path:
        return dataclasses.replace(EXAMPLE, copies=(copy,)).folder()

    copy = Copy(module="example.org/x", version="v1.2.3", add={"a.go": "package a"})
    other = dataclasses.replace(copy, add={"a.go": "package b"})
    edited = dataclasses.replace(copy, edits=(Edit(file="b.go", old="1", new="2"),))
    assert len({folder(copy), folder(other), folder(edited)}) == 3


def test_the_same_recipe_is_the_same_build() -> None:
    assert dataclasses.replace(EXAMPLE).recipe() == EXAMPLE.recipe()


def test_programs_are_named_as_the_compiler_names_them_unless_renamed() -> None:
    assert EXAMPLE.programs() == ("x-server", "tool")
    assert program_of("github.com/coredns/coredns") == "coredns"
    with pytest.raises(KeyError):
        EXAMPLE.program("server")


def test_folders_of_the_same_repository_become_versions_or_go() -> None:
    text = (
        "module k8s.io/kubernetes\n\nrequire a.org/b v1.0.0\n\nreplace (\n"
        "\tk8s.io/api => ./staging/src/k8s.io/api\n\ta.org/b => a.org/c v1.0.0\n)\n"
        "replace k8s.io/x => ../x\n"
    )
    resolved = own_go_mod(text, "v0.37.2")
    assert resolved.startswith("module build\n")
    assert "\tk8s.io/api => k8s.io/api v0.37.2\n" in resolved
    assert "replace k8s.io/x => k8s.io/x v0.37.2\n" in resolved
    assert "a.org/b => a.org/c v1.0.0" in resolved
    dropped = own_go_mod(text, "")
    assert "k8s.io/api" not in dropped
    assert "k8s.io/x" not in dropped


def test_versions_of_kubernetes_own_modules_follow_its_version() -> None:
    text = "require (\n\tk8s.io/api v0.0.0\n\tgolang.org/x/net v0.40.0 // indirect\n)\n"
    expected = [("k8s.io/api", "v0.37.2"), ("golang.org/x/net", "v0.40.0")]
    assert versions_in(text, "v1.37.2") == expected


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_names_of_builds_are_unique(release: Release) -> None:
    builds = (*ENGINE, *recipes.cluster(release))
    assert len({build.folder() for build in builds}) == len(builds)
    for build in builds:
        assert len(set(build.programs())) == len(build.packages)
        assert set(build.rename) <= {program_of(package) for package in build.packages}


def test_what_does_not_depend_on_the_release_is_built_once() -> None:
    folders = [{b.folder() for b in recipes.cluster(r)} for r in RELEASES.values()]
    shared = set.intersection(*folders)
    assert recipes.CONTAINERD.folder() in shared
    assert recipes.METRICS_SERVER.folder() in shared


A_PATCH = """--- a/a.go
+++ b/a.go
@@ -1 +1 @@
-package a
+package z
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A module's folder, below somebody's repository."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "source" / "testdata").mkdir(parents=True)
    for name in ("a.go", "b.go", "testdata/c"):
        (tmp_path / "source" / name).write_text("package a\n")
    return tmp_path / "source"


def test_a_copy_is_patched_and_lacks_what_is_left_out(source: Path) -> None:
    target = source.parent / "copy"
    target.mkdir()
    copy = Copy(module="example.org/x", version="v1.2.3", without=("b.go",), patch=A_PATCH)
    copy.make(source, target)
    assert {path.name: path.read_text() for path in target.rglob("*")} == {"a.go": "package z\n"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"edits": (Edit(file="a.go", old="package b", new="package c"),)}, "lacks 'package b'"),
        ({"patch": A_PATCH.replace("package a", "package b")}, "patch does not apply"),
    ],
)
def test_a_change_that_no_longer_fits_says_so(
    source: Path, change: dict[str, object], words: str
) -> None:
    copy = Copy(module="example.org/x", version="v1.2.3", **change)  # type: ignore[arg-type] # of each test its own
    (source.parent / "copy").mkdir()
    with pytest.raises(BuildError, match=words):
        copy.make(source, source.parent / "copy")
