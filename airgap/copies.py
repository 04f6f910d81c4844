"""Modules that are built from a changed copy of their source."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from airgap.progress import BuildError


@dataclass(frozen=True, kw_only=True, slots=True)
class Edit:
    """A change in a source file of a module."""

    file: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """A module that is built from a changed copy of its source."""

    module: str
    version: str
    keep: tuple[str, ...] = ()  # these files and folders only; none: all
    without: tuple[str, ...] = ()  # none of these files
    add: Mapping[str, str] = field(default_factory=dict)  # path: content
    edits: tuple[Edit, ...] = ()
    patch: str = ""  # what `git apply` takes, for more than a line or two
    # Run on the folder of the copy; part of the recipe by its name, which ends in a number.
    prepare: Callable[[Path], None] | None = None

    def make(self, source: Path, target: Path) -> None:
        """Copy the module's folder and change it. Raises BuildError."""
        for name in self.keep or ("",):
            _copy_writable(source / name, target / name)
        for name in self.without:
            (target / name).unlink()
        for name, content in self.add.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (target / name).write_text(content)
        for edit in self.edits:
            text = (target / edit.file).read_text()
            if edit.old not in text:
                raise BuildError(f"{self.module}@{self.version}: {edit.file} lacks {edit.old!r}")
            (target / edit.file).write_text(text.replace(edit.old, edit.new))
        if self.patch:
            self._apply_patch(target)
        if self.prepare:
            self.prepare(target)

    def _apply_patch(self, target: Path) -> None:
        done = subprocess.run(
            ["git", "apply", "-"],
            cwd=target,
            # The folder may lie below somebody's repository, which is none of git's business here.
            env=os.environ | {"GIT_CEILING_DIRECTORIES": str(target.parent)},
            input=self.patch,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise BuildError(f"{self.module}@{self.version}: {done.stderr.strip()}")


def _copy_writable(source: Path, target: Path) -> None:
    """Copy a file or folder out of Go's cache, where all is read-only."""
    if source.is_file():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        return
    for found in source.rglob("*"):
        if found.is_file() and "testdata" not in found.parts:
            _copy_writable(found, target / found.relative_to(source))
