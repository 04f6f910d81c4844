"""Makes the mirror of a release: builds what is missing, packs it, writes the folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from airgap import gobuild, paths, progress
from airgap.mirror import archives, base, images, pause
from airgap.mirror.base import Bases
from airgap.mirror.images import Base, Built, Unavailable
from airgap.mirror.oci import PACKING, Blob, Entry, Store, blobs_of
from airgap.progress import BuildError
from airgap.recipes import cluster as recipes
from versions import RELEASES, Arch, Release

CATALOG = "catalog.json"
_MACHINES = {"x86_64": Arch.AMD64, "amd64": Arch.AMD64, "aarch64": Arch.ARM64, "arm64": Arch.ARM64}


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What a mirror holds: the catalogue, and the blob behind each path of the folder."""

    release: str
    images: dict[str, str] = field(default_factory=dict)
    archives: dict[str, str] = field(default_factory=dict)
    unavailable: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    def catalog(self) -> str:
        """The catalogue as it is served."""
        facts = dataclasses.asdict(self)
        del facts["files"]
        return json.dumps(facts, indent=2, sort_keys=True) + "\n"


def folder(release: str) -> Path:
    """The folder that a web server serves."""
    return paths.cache() / "mirror" / release


def store() -> Store:
    """The blobs that all mirrors share."""
    return Store(paths.cache() / "blobs")


def this_arch() -> Arch:
    """The architecture that is built for: this machine's. Raises BuildError."""
    found = _MACHINES.get(platform.machine().lower())
    if platform.system() != "Linux" or not found:
        raise BuildError("programs of a cluster are built on Linux, on amd64 or arm64")
    return found


def is_ready(release: str) -> bool:
    """Whether the mirror of a release has been made by this version of the recipes."""
    catalog = folder(release) / CATALOG
    return catalog.exists() and all(step.made() for step in _steps(RELEASES[release]))


def build(release_name: str) -> Path:
    """Make the mirror of a release; returns its folder. Raises BuildError."""
    release = RELEASES[release_name]
    progress.run(_steps(release))
    with paths.locked(f"mirror-{release_name}"):
        contents = _pack(release, base.read(this_arch()))
        _write(folder(release_name), contents)
    kubectl = recipes.kubernetes(release).program("kubectl")
    paths.place(kubectl, paths.cache() / "kubectl" / release_name / "kubectl")
    return folder(release_name)


def _steps(release: Release) -> list[progress.Step]:
    builds = [gobuild.step(recipe) for recipe in recipes.cluster(release)]
    return [builds[0], base.step(store(), this_arch()), *builds[1:], pause.step(release)]


def _pack(release: Release, bases: Bases) -> Contents:
    """Turn programs into blobs, and say which blob is at which path."""
    contents = Contents(release=release.kubernetes)
    for name, source in images.sources(release).items():
        reference = release.images[name]
        if isinstance(source, Unavailable):
            contents.unavailable[reference] = source.reason
            continue
        manifest = store().put_image(_layers(source, bases), source.config, this_arch())
        contents.images[reference] = manifest.digest
        contents.files.update(image_files(reference, manifest.digest))
    packed = archives.contents()
    for archive in release.archives:
        blob = _archive(packed[archive.name])
        file = archive.file(this_arch())
        contents.archives[file] = blob.digest.removeprefix("sha256:")
        contents.files[f"archives/{file}"] = blob.digest
    return contents


def repository_of(reference: str) -> tuple[str, str]:
    """`registry.k8s.io/a/b:v1` as (`a/b`, `v1`): one mirror stands for all registries."""
    repository, tag = reference.split("/", 1)[1].rsplit(":", 1)
    return repository, tag


def image_files(reference: str, digest: str) -> dict[str, str]:
    """The paths that a registry's client asks for, and the blob of each."""
    repository, tag = repository_of(reference)
    root = f"v2/{repository}"
    blobs = blobs_of(store().path(digest).read_bytes())
    return {
        **{f"{root}/manifests/{name}": digest for name in (tag, digest)},
        **{f"{root}/blobs/{blob}": blob for blob in blobs},
    }


def _layers(image: Built, bases: Bases) -> list[Blob]:
    below = {
        Base.SCRATCH: lambda: [_layer(images.base_entries(bases))],
        Base.NODE: lambda: [bases.node],
        Base.TOOLS: lambda: [bases.node, bases.tools],
    }
    return [*below[image.base](), _layer(image.entries)]


def _archive(entries: tuple[Entry, ...]) -> Blob:
    if entries[0].path:
        return _packed(entries, store().put_archive)
    content = entries[0].content
    return store().put(content.read_bytes() if isinstance(content, Path) else content or b"")


def _layer(entries: Iterable[Entry]) -> Blob:
    return _packed(tuple(entries), store().put_layer)


def _packed(entries: tuple[Entry, ...], put: Callable[[Iterable[Entry]], Blob]) -> Blob:
    """Packed once: programs are known by their folder, which changes with the recipe."""
    key = hashlib.sha256(repr((PACKING, put.__name__, entries)).encode()).hexdigest()
    memo = paths.cache() / "layers" / f"{key}.json"
    if memo.exists():
        blob = Blob(**json.loads(memo.read_text()))
        if store().path(blob.digest).exists():
            return blob
    blob = put(entries)
    paths.write(memo, json.dumps(dataclasses.asdict(blob)))
    return blob


def _write(target: Path, contents: Contents) -> None:
    """Bring the folder up to date in place: a web server may be serving it."""
    for name, digest in contents.files.items():
        paths.place(store().path(digest), target / name)
    paths.write(target / CATALOG, contents.catalog())
    wanted = {CATALOG, *contents.files}
    for path in target.rglob("*"):
        if path.is_file() and str(path.relative_to(target)) not in wanted:
            path.unlink()
