from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
from pathlib import Path

from backports import zstd

from airgap.mirror.oci import (
    CONFIG_TYPE,
    LAYER_TYPE,
    MANIFEST_TYPE,
    Blob,
    Entry,
    ImageConfig,
    Store,
    blobs_of,
)

ENTRIES = (
    Entry(path="usr/local/bin/program", content=b"#!/bin/sh\n"),
    Entry(path="etc/passwd", content=b"root:x:0:0::/:\n", mode=0o644),
    Entry(path="link", target="usr/local/bin/program"),
    Entry(path="tmp", mode=0o1777),
)


def layer_of(store: Store, blob: Blob) -> tarfile.TarFile:
    plain = zstd.decompress(store.path(blob.digest).read_bytes())
    return tarfile.open(fileobj=io.BytesIO(plain))


def test_the_same_files_give_the_same_layer_in_any_order(tmp_path: Path) -> None:
    one = Store(tmp_path / "one").put_layer(ENTRIES)
    other = Store(tmp_path / "other").put_layer(reversed(ENTRIES))
    assert one == other


def test_a_layer_is_known_by_what_it_contains_not_by_when_it_was_made(tmp_path: Path) -> None:
    store = Store(tmp_path)
    blob = store.put_layer(ENTRIES)
    packed = store.path(blob.digest).read_bytes()
    assert blob.digest == f"sha256:{hashlib.sha256(packed).hexdigest()}"
    assert blob.size == len(packed)
    assert blob.diff_id == f"sha256:{hashlib.sha256(zstd.decompress(packed)).hexdigest()}"


def test_an_archive_is_gzipped_and_known_by_what_it_contains(tmp_path: Path) -> None:
    store = Store(tmp_path)
    blob = store.put_archive(ENTRIES)
    packed = store.path(blob.digest).read_bytes()
    assert blob.digest == f"sha256:{hashlib.sha256(packed).hexdigest()}"
    assert packed[4:8] == bytes(4)  # gzip's own time stamp
    layer = store.path(store.put_layer(ENTRIES).digest).read_bytes()
    assert gzip.decompress(packed) == zstd.decompress(layer)


def test_a_layer_holds_files_links_and_the_folders_above_them(tmp_path: Path) -> None:
    store = Store(tmp_path)
    with layer_of(store, store.put_layer(ENTRIES)) as tar:
        found = {member.name: member for member in tar.getmembers()}
    assert list(found) == sorted(found)
    assert {"usr", "usr/local", "usr/local/bin", "etc"} <= set(found)
    assert found["usr/local/bin/program"].mode == 0o755
    assert found["tmp"].isdir()
    assert found["tmp"].mode == 0o1777
    assert found["link"].linkname == "usr/local/bin/program"
    assert {member.mtime for member in found.values()} == {0}
    assert {(member.uid, member.uname) for member in found.values()} == {(0, "")}


def test_an_entry_may_be_a_file_on_disk(tmp_path: Path) -> None:
    (tmp_path / "program").write_bytes(b"x" * 100_000)
    store = Store(tmp_path / "store")
    blob = store.put_layer([Entry(path="bin/program", content=tmp_path / "program")])
    with layer_of(store, blob) as tar:
        file = tar.extractfile("bin/program")
        assert file is not None
        assert file.read() == b"x" * 100_000


def test_a_tree_keeps_modes_and_turns_hard_links_into_files(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "a").write_text("same")
    (root / "sub" / "a").chmod(0o4755)
    (root / "sub" / "b").hardlink_to(root / "sub" / "a")
    (root / "c").symlink_to("sub/a")
    store = Store(tmp_path / "store")
    blob = store.put_tree(root, root.rglob("*"))
    os.utime(root / "sub" / "a", (1, 1))
    assert store.put_tree(root, root.rglob("*")) == blob
    with layer_of(store, blob) as tar:
        members = {member.name: member for member in tar.getmembers()}
        assert members["sub/b"].isreg()
        assert members["sub/b"].size == 4
        assert members["sub/a"].mode == 0o4755
        assert members["c"].linkname == "sub/a"


def test_an_image_is_a_manifest_that_names_its_config_and_layers(tmp_path: Path) -> None:
    store = Store(tmp_path)
    layers = [store.put_layer(ENTRIES), store.put_layer(ENTRIES[:1])]
    config = ImageConfig(entrypoint=("/program",), command=("serve",), user="65534")
    manifest = store.put_image(layers, config, "amd64")

    text = store.path(manifest.digest).read_bytes()
    document = json.loads(text)
    assert document["schemaVersion"] == 2
    assert document["mediaType"] == MANIFEST_TYPE
    assert document["config"]["mediaType"] == CONFIG_TYPE
    assert [layer["mediaType"] for layer in document["layers"]] == [LAYER_TYPE] * 2
    assert blobs_of(text) == [document["config"]["digest"], *(blob.digest for blob in layers)]
    for part in (document["config"], *document["layers"]):
        assert store.path(part["digest"]).stat().st_size == part["size"]

    image = json.loads(store.path(document["config"]["digest"]).read_bytes())
    assert (image["os"], image["architecture"]) == ("linux", "amd64")
    assert image["rootfs"]["diff_ids"] == [blob.diff_id for blob in layers]
    assert image["config"]["Entrypoint"] == ["/program"]
    assert image["config"]["Cmd"] == ["serve"]
    assert image["config"]["User"] == "65534"
    assert len(image["history"]) == len(layers)


def test_what_an_image_does_not_say_is_left_out() -> None:
    assert set(ImageConfig().document()) == {"Env"}


def test_a_store_leaves_nothing_behind_and_keeps_a_blob_once(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.put(b"text") == store.put(b"text")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files == [store.path(store.put(b"text").digest)]
    assert files[0].stat().st_mode & 0o777 == 0o644


def test_archives_are_readable_as_a_stream(tmp_path: Path) -> None:
    store = Store(tmp_path)
    packed = store.path(store.put_archive(ENTRIES).digest).read_bytes()
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r|gz") as tar:
        assert sum(1 for _ in tar) == 8
