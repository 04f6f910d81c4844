"""Builds Go programs from the module proxy, once per version and recipe."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from airgap import paths
from airgap.copies import Copy
from airgap.progress import BuildError, Note, Step
from airgap.tools import check_c, check_go, tail

# -s -w and -dwarf=false: no debug information, a sixth less to compile and half to link. GOGC: the
# compiler collects less garbage, 5 % faster. No -trimpath: with it, what the compiler's cache goes
# by has the version in it that each go.mod asks for, and builds that use the same version in the
# end (`align`) share nothing: metrics-server takes ten times as long.
_FLAGS = ("-mod=mod", "-buildvcs=false", "-gcflags=all=-dwarf=false")
_STRIP = "-s -w"
_REVISION = 1  # of how this file makes a go.mod and calls the compiler
_GOGC = "400"
_PACKAGE = re.compile(r"[\w./~-]+")  # all that `go build -v` prints, but for problems


@dataclass(frozen=True, kw_only=True, slots=True)
class GoBuild:
    """Programs of one module, and what it takes to build them.

    The module's own go.mod is the base, so that dependencies are those that upstream tested.
    """

    name: str
    module: str
    version: str
    packages: tuple[str, ...]  # import paths; a program is called as the last part
    siblings: str = ""  # version for `replace X => ./folder`; empty: drop the replacement
    requires: Mapping[str, str] = field(default_factory=dict)  # module: at least this version
    replaces: Mapping[str, str] = field(default_factory=dict)  # module: "module version"
    # Another module, as "module version": what both need is taken at its version, so that the
    # compiler does it once. Tried for each build that says so.
    align: str = ""
    copies: tuple[Copy, ...] = ()
    cgo: bool = False
    tags: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)  # Go variable: text
    linker: str = ""
    headers: tuple[str, ...] = ()  # pkg-config names of C libraries
    rename: Mapping[str, str] = field(default_factory=dict)  # program as built: as wanted
    label: str = ""

    def recipe(self) -> str:
        """A hash that changes with anything that the result depends on, but for Go itself."""
        facts = dataclasses.asdict(self)
        text = json.dumps([facts, _FLAGS, _STRIP, _REVISION], sort_keys=True, default=_name_of)
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def folder(self) -> Path:
        """Where the programs are once built."""
        return paths.cache() / "bin" / self.name / f"{self.version}-{self.recipe()}"

    def programs(self) -> tuple[str, ...]:
        """Names of the programs."""
        built = (program_of(package) for package in self.packages)
        return tuple(self.rename.get(name, name) for name in built)

    def program(self, name: str) -> Path:
        """Where one of the programs is."""
        if name not in self.programs():
            raise KeyError(name)
        return self.folder() / name


def program_of(package: str) -> str:
    """The name that `go build` gives the program of a package."""
    parts = package.rstrip("/").split("/")
    return parts[-2] if re.fullmatch(r"v[0-9]+", parts[-1]) and len(parts) > 1 else parts[-1]


def step(build: GoBuild) -> Step:
    """The build as a step of a longer work."""
    return Step(
        label=f"{build.label or build.name} {build.version}",
        made=build.folder().exists,
        make=lambda note: make(build, note),
    )


def make(build: GoBuild, note: Note = lambda _: None) -> None:
    """Build unless built. Raises BuildError."""
    folder = build.folder()
    with paths.locked(f"bin-{build.name}"):
        if folder.exists():
            return
        check_go()
        if build.cgo:
            check_c(build.headers)
        # Always the same folder: its name, too, is part of what the compiler's cache goes by.
        with paths.scratch(build.name, unique=False) as work:
            (work / "out").mkdir()
            _Workspace(build, work, note).build()
            folder.parent.mkdir(parents=True, exist_ok=True)
            (work / "out").rename(folder)


def _name_of(value: object) -> str:
    return getattr(value, "__name__", repr(value))


class _Workspace:
    """A folder with a go.mod of our own, in which one build runs."""

    def __init__(self, build: GoBuild, folder: Path, note: Note) -> None:
        self._build = build
        self._folder = folder
        self._note = note
        self._log = paths.cache() / "logs" / f"{build.name}-{build.version}.log"
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self._log.write_text("")
        self._environment = os.environ | {
            "CGO_ENABLED": "1" if build.cgo else "0",
            "GOFLAGS": "",
            "GOGC": _GOGC,
            "GOWORK": "off",
        }

    def build(self) -> None:
        """Write go.mod and run the compiler."""
        self._note("fetching modules")
        self._write_go_mod()
        self._note("compiling")
        build = self._build
        variables = " ".join(f"-X {name}={value}" for name, value in build.variables.items())
        flags = [*_FLAGS, f"-ldflags={_STRIP} {variables} {build.linker}".rstrip()]
        if build.tags:
            flags.append(f"-tags={','.join(build.tags)}")
        self._compile(*flags, "-o", "out/", *build.packages)
        for old, new in build.rename.items():
            (self._folder / "out" / old).rename(self._folder / "out" / new)

    def _write_go_mod(self) -> None:
        build = self._build
        source = self._download(build.module, build.version)
        text = own_go_mod((source / "go.mod").read_text(), build.siblings)
        (self._folder / "go.mod").write_text(text)
        if (source / "go.sum").exists():
            shutil.copyfile(source / "go.sum", self._folder / "go.sum")
        edits = self._alignment()
        edits += [f"-require={build.module}@{build.version}"]
        edits += [f"-require={name}@{version}" for name, version in build.requires.items()]
        for name, target in build.replaces.items():
            edits.append(f"-replace={name}={target.replace(' ', '@')}")
        for number, copy in enumerate(build.copies):
            source = self._download(copy.module, copy.version)
            copy.make(source, self._folder / f"copy{number}")
            edits.append(f"-replace={copy.module}=./copy{number}")
        self._go("mod", "edit", *edits)

    def _alignment(self) -> list[str]:
        if not self._build.align:
            return []
        module, version = self._build.align.split()
        text = (self._download(module, version) / "go.mod").read_text()
        return [f"-replace={name}={name}@{found}" for name, found in versions_in(text, version)]

    def _download(self, module: str, version: str) -> Path:
        return Path(json.loads(self._go("mod", "download", "-json", f"{module}@{version}"))["Dir"])

    def _go(self, *arguments: str) -> str:
        with self._log.open("a") as log:
            done = subprocess.run(
                ["go", *arguments],
                cwd=self._folder,
                env=self._environment,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                check=False,
            )
        if done.returncode:
            raise self._failure(arguments[0], done.returncode, done.stdout)
        return done.stdout

    def _compile(self, *arguments: str) -> None:
        """Run `go build -v`, which names each package as it is done with it."""
        with (
            self._log.open("a", buffering=1) as log,
            subprocess.Popen(
                ["go", "build", "-v", *arguments],
                cwd=self._folder,
                env=self._environment,
                stderr=subprocess.PIPE,
                text=True,
            ) as process,
        ):
            compiled = 0
            for line in process.stderr or ():
                if _PACKAGE.fullmatch(line.strip()):
                    compiled += 1
                    self._note(f"{compiled} packages compiled")
                else:
                    log.write(line)
        if process.returncode:
            raise self._failure("build", process.returncode)

    def _failure(self, verb: str, status: int, output: str = "") -> BuildError:
        how = f"was ended by signal {-status}" if status < 0 else "failed"
        what = f"go {verb} of {self._build.name} {self._build.version} {how}"
        said = tail(self._log.read_text() + output)
        return BuildError(f"{what}:\n{said}\nthe whole output: {self._log}")


def module_source(module: str, version: str) -> Path:
    """The folder of a module's source in Go's cache, fetched if need be. Raises BuildError."""
    check_go()
    command = ["go", "mod", "download", "-json", f"{module}@{version}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command)}:\n{tail(done.stdout + done.stderr)}")
    return Path(json.loads(done.stdout)["Dir"])


def own_go_mod(text: str, siblings: str) -> str:
    """A module's go.mod as ours: renamed, replacements by folders of its repository resolved."""
    lines = []
    for line in text.splitlines():
        found = re.match(r"(?:replace\s+)?(\S+)(?:\s+\S+)?\s+=>\s+\.\.?/", line.strip())
        if line.startswith("module "):
            lines.append("module build")
        elif not found:
            lines.append(line)
        elif siblings:
            lines.append(line.split("=>")[0] + f"=> {found[1]} {siblings}")
    return "\n".join(lines) + "\n"


def versions_in(text: str, version: str) -> list[tuple[str, str]]:
    """What Kubernetes' go.mod requires; its own sub-modules are v0.37.2 where it is v1.37.2."""
    required = re.findall(r"^\t(\S+) (v\S+)", text, re.MULTILINE)
    own = version.replace("v1.", "v0.", 1)
    return [(name, own if found == "v0.0.0" else found) for name, found in required]
