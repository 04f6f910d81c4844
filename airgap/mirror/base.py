"""The Debian root that images stand on when their program calls others, such as iptables."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from airgap import paths
from airgap.mirror.oci import PACKING, Blob, Store
from airgap.progress import BuildError, Note, Step
from airgap.tools import install, tail
from versions import Arch

_SUITE = "bookworm"
_HERE = Path(__file__).parent
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")

# The folders stay, what is in them does not: it is of no use in a container, or not the same twice.
# Patterns; each host unpacks what is left, file by file.
_EMPTY = (
    *(f"usr/share/{name}" for name in ("doc", "info", "lintian", "locale", "man", "zoneinfo")),
    *("usr/share/bash-completion", "usr/share/perl5", "usr/lib/*/perl-base", "usr/lib/*/gconv"),
    *("var/cache", "var/lib/apt/lists", "var/lib/dpkg/info", "var/log"),
    *("boot", "dev", "proc", "run", "sys", "tmp"),
)
_LEFT_OUT = (
    *("debootstrap", "etc/hostname", "etc/resolv.conf", "etc/machine-id"),
    *("usr/bin/perl*", "usr/lib/apt"),
)
_REVISION = 2  # of this file, for what the lists above do not say


@dataclass(frozen=True, kw_only=True, slots=True)
class Bases:
    """The layers, and a file that images without a base need, too."""

    node: Blob  # what the kubelet, kube-proxy and flannel call
    tools: Blob  # on top: what one looks at a network with
    certificates: Path


def _packages(name: str) -> list[str]:
    return (_HERE / f"{name}-packages.txt").read_text().split()


def _folder(arch: Arch) -> Path:
    facts = [_SUITE, _packages("base"), _packages("tools"), _EMPTY, _LEFT_OUT, _REVISION, PACKING]
    key = hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]
    return paths.cache() / "base" / f"{_SUITE}-{arch}-{key}"


def read(arch: Arch) -> Bases:
    """The bases that were made."""
    folder = _folder(arch)
    blobs = {
        name: Blob(**value)
        for name, value in json.loads((folder / "layers.json").read_text()).items()
    }
    return Bases(**blobs, certificates=folder / "ca-certificates.crt")


def step(store: Store, arch: Arch) -> Step:
    """Making the bases, as a step."""

    def made() -> bool:
        if not _folder(arch).exists():
            return False
        bases = read(arch)
        return all(store.path(blob.digest).exists() for blob in (bases.node, bases.tools))

    return Step(
        label=f"Debian {_SUITE} base", made=made, make=lambda note: _make(store, arch, note)
    )


def _make(store: Store, arch: Arch, note: Note) -> None:
    if os.geteuid() != 0:
        raise BuildError("a Debian root is made by root only: run this command once as root")
    missing = [] if shutil.which("debootstrap") else ["debootstrap"]
    install(missing + ([] if _KEYRING.exists() else ["debian-archive-keyring"]))
    with paths.locked("base"), paths.scratch("base") as work:
        root, out = work / "root", work / "out"
        out.mkdir()
        note("debootstrap")
        packages = ",".join(_packages("base"))
        source = _debian_mirror()
        _run(
            "debootstrap",
            "--variant=minbase",
            f"--arch={arch}",
            f"--include={packages}",
            _SUITE,
            str(root),
            *source,
        )
        before = {path: _mark(path) for path in _tree(root)}
        note("compressing")
        node = store.put_tree(root, before)
        note("more packages")
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        _run(
            "chroot",
            str(root),
            "apt-get",
            "install",
            "--yes",
            "--no-install-recommends",
            *_packages("tools"),
            env=environment,
        )
        tools = store.put_tree(
            root, [path for path in _tree(root) if before.get(path) != _mark(path)]
        )
        shutil.copyfile(root / "etc/ssl/certs/ca-certificates.crt", out / "ca-certificates.crt")
        layers = {"node": dataclasses.asdict(node), "tools": dataclasses.asdict(tools)}
        (out / "layers.json").write_text(json.dumps(layers, indent=2))
        shutil.rmtree(_folder(arch), ignore_errors=True)
        _folder(arch).parent.mkdir(parents=True, exist_ok=True)
        out.rename(_folder(arch))


def _mark(path: Path) -> tuple[int, ...]:
    found = path.lstat()
    # A folder counts as changed only if its own owner or mode is.
    size_and_time = () if path.is_dir() else (found.st_size, found.st_mtime_ns)
    return (found.st_mode, found.st_uid, found.st_gid, *size_and_time)


def _tree(root: Path, folder: Path | None = None) -> Iterator[Path]:
    """Everything below a root that goes into a layer."""
    for path in sorted((folder or root).iterdir()):
        name = str(path.relative_to(root))
        if _is_one_of(name, _LEFT_OUT):
            continue
        yield path
        if path.is_dir() and not path.is_symlink() and not _is_one_of(name, _EMPTY):
            yield from _tree(root, path)


def _is_one_of(name: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _debian_mirror() -> list[str]:
    """Where this machine's apt gets Debian from; nothing: debootstrap's own default."""
    command = ["apt-get", "indextargets", "--format", "$(CODENAME) $(LABEL) $(REPO_URI)"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines():
        codename, label, *uri = line.split()
        if (codename, label) == (_SUITE, "Debian") and uri:
            return uri
    return []


def _run(*command: str, env: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command[:2])} failed:\n{tail(done.stdout + done.stderr)}")
