from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from addons import ADDONS
from airgap import gobuild, paths
from airgap.mirror import archives, assemble, images
from airgap.mirror.images import Base, Built, Unavailable
from airgap.mirror.oci import Entry, ImageConfig
from versions import DEFAULT_RELEASE, POD_NETWORKS, RELEASES, Release

EACH_RELEASE = pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test touches the real cache or asks the module proxy."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "source"
    for name in ("cluster/addons/addon-manager", "test/images/agnhost/porter"):
        (source / name).mkdir(parents=True)
        for file in ("kube-addons.sh", "kube-addons-main.sh", "localhost.crt", "localhost.key"):
            (source / name / file).write_text(file)
    monkeypatch.setattr(gobuild, "module_source", lambda *_: source)


@EACH_RELEASE
def test_every_image_is_built_or_says_why_not(release: Release) -> None:
    sources = images.sources(release)
    assert set(sources) == set(release.images)
    for source in sources.values():
        if isinstance(source, Unavailable):
            assert len(source.reason) > 20
        else:
            assert source.entries


def test_only_what_cannot_be_built_is_unavailable() -> None:
    sources = images.sources(RELEASES[DEFAULT_RELEASE])
    missing = {name for name, source in sources.items() if isinstance(source, Unavailable)}
    networks = {image for addon in ADDONS if addon.name in POD_NETWORKS for image in addon.images}
    assert missing == {"fluentd", "heapster"} | networks


@EACH_RELEASE
def test_every_archive_is_built(release: Release) -> None:
    assert set(archives.contents()) == {archive.name for archive in release.archives}


def test_archives_are_laid_out_as_upstreams() -> None:
    contents = archives.contents()
    assert {entry.path for entry in contents["containerd"]} >= {"bin/containerd", "bin/ctr"}
    assert {entry.path for entry in contents["cni-plugins"]} >= {"./bridge", "./host-local"}
    assert [entry.path for entry in contents["runc"]] == [""]


@pytest.mark.parametrize(
    ("reference", "repository", "tag"),
    [
        ("registry.k8s.io/kube-apiserver:v1.37.2", "kube-apiserver", "v1.37.2"),
        ("registry.k8s.io/coredns/coredns:v1.14.6", "coredns/coredns", "v1.14.6"),
        ("localhost:5000/a/b:c", "a/b", "c"),
    ],
)
def test_the_registry_is_not_part_of_the_path(reference: str, repository: str, tag: str) -> None:
    assert assemble.repository_of(reference) == (repository, tag)


@EACH_RELEASE
def test_no_two_images_share_a_place(release: Release) -> None:
    places = [assemble.repository_of(reference) for reference in release.images.values()]
    assert len(set(places)) == len(places)


def contents(*, tag: str = "v1", content: bytes = b"program") -> assemble.Contents:
    image = Built(base=Base.SCRATCH, entries=(Entry(path="program", content=content),))
    layer = assemble._layer(image.entries)
    manifest = assemble.store().put_image([layer], ImageConfig(), "amd64")
    found = assemble.Contents(release="v1.37.2")
    reference = f"registry.example/a/b:{tag}"
    found.images[reference] = manifest.digest
    found.files.update(assemble.image_files(reference, manifest.digest))
    return found


def test_the_folder_answers_what_a_registrys_client_asks_for() -> None:
    folder = assemble.folder("v1.37.2")
    assemble._write(folder, contents())
    manifest = (folder / "v2/a/b/manifests/v1").read_bytes()
    digest = json.loads((folder / "catalog.json").read_text())["images"]["registry.example/a/b:v1"]
    assert (folder / "v2/a/b/manifests" / digest).read_bytes() == manifest
    document = json.loads(manifest)
    for part in (document["config"], *document["layers"]):
        assert (folder / "v2/a/b/blobs" / part["digest"]).stat().st_size == part["size"]


def test_blobs_are_kept_once_and_what_is_no_longer_wanted_goes() -> None:
    folder = assemble.folder("v1.37.2")
    assemble._write(folder, contents())
    blob = next((folder / "v2/a/b/blobs").iterdir())
    assert blob.samefile(assemble.store().path(blob.name))
    assemble._write(folder, contents(tag="v2", content=b"other"))
    assert [path.name for path in (folder / "v2/a/b/manifests").glob("v*")] == ["v2"]
    assert not blob.exists()


def test_the_catalogue_says_what_there_is_and_what_not() -> None:
    found = dataclasses.replace(contents(), unavailable={"x/y:1": "because"})
    document = json.loads(found.catalog())
    assert set(document) == {"release", "images", "archives", "unavailable"}
    assert document["release"] == "v1.37.2"


def test_a_layer_is_packed_again_only_if_it_changed() -> None:
    entries = (Entry(path="program", content=b"1"),)
    blob = assemble._layer(entries)
    assert assemble._layer(entries) == blob
    assemble.store().path(blob.digest).unlink()
    assert assemble._layer(entries) == blob
    assert assemble.store().path(blob.digest).exists()
    assert assemble._layer((Entry(path="program", content=b"2"),)) != blob


def test_the_server_gives_manifests_their_type() -> None:
    text = (Path(images.__file__).parent / "nginx.conf").read_text()
    assert "application/vnd.oci.image.manifest.v1+json" in text
    assert "listen 5000;" in text


def test_a_name_is_given_at_once_and_twice_without_harm(tmp_path: Path) -> None:
    source, target = tmp_path / "a", tmp_path / "folder" / "b"
    source.write_text("text")
    paths.place(source, target)
    paths.place(source, target)
    assert target.samefile(source)
    assert [path.name for path in target.parent.iterdir()] == ["b"]
    assert paths.size(target.parent) == 4
