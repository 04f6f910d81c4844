"""CopyToRemote to a real sshd: the golden cases C34 to C37."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import pytest

from airgap.plugins.values import UNKNOWN, Asset, Secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.plugins.client import Client, Inputs, Sshd

    Put: TypeAlias = Callable[[Asset, object], tuple[str, Inputs]]
    Refused: TypeAlias = Callable[[Asset, object], str]


def file(path: object) -> Asset:
    return Asset(path=str(path), hash="1")


def folder(path: object) -> Asset:
    return Asset(archive=True, path=str(path), hash="1")


def text(content: str) -> Asset:
    return Asset(text=content, hash="1")


@pytest.fixture
def put(copy: Client, sshd: Sshd) -> Put:
    def create(source: Asset, remote: object) -> tuple[str, Inputs]:
        inputs = {
            "source": source,
            "remotePath": str(remote),
            "connection": Secret(sshd.connection()),
        }
        return copy.create(inputs)

    return create


@pytest.fixture
def refused(copy: Client, sshd: Sshd) -> Refused:
    def create(source: Asset, remote: object) -> str:
        inputs = {"source": source, "remotePath": str(remote), "connection": sshd.connection()}
        return copy.failure(copy.create, inputs)[1]

    return create


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "p"
    (root / "sub" / "empty").mkdir(parents=True)
    (root / "a").write_text("A")
    (root / "sub" / "b").write_text("B")
    return root


def test_c34_folder(put: Put, tree: Path, tmp_path: Path) -> None:
    dest = tmp_path / "deep" / "dest"
    put(folder(tree), dest)
    assert (dest / "p" / "a").read_text() == "A"
    assert (dest / "p" / "sub" / "b").read_text() == "B"
    assert (dest / "p" / "sub" / "empty").is_dir()


def test_c34_content_of_a_folder(put: Put, tree: Path, tmp_path: Path) -> None:
    dest = tmp_path / "dest"
    (dest / "sub").mkdir(parents=True)
    (dest / "sub" / "other").touch()
    put(folder(f"{tree}/"), dest)
    assert (dest / "a").read_text() == "A"
    assert sorted(path.name for path in (dest / "sub").iterdir()) == ["b", "empty", "other"]


def test_c35_modes_are_the_servers(put: Put, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("new")
    source.chmod(0o755)
    put(file(source), tmp_path / "made" / "new")
    assert (tmp_path / "made" / "new").stat().st_mode & 0o777 == 0o644
    old = tmp_path / "old"
    old.write_text("longer than the new one")
    old.chmod(0o600)
    put(file(source), old)
    assert old.stat().st_mode & 0o777 == 0o600
    assert old.read_text() == "new"


def test_file_into_a_folder(put: Put, tmp_path: Path) -> None:
    (tmp_path / "source").write_text("x")
    (tmp_path / "dest").mkdir()
    put(file(tmp_path / "source"), tmp_path / "dest")
    assert (tmp_path / "dest" / "source").read_text() == "x"


def test_packed_archive_is_a_file(put: Put, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"\x00\xff")
    put(folder(tmp_path / "x.tar"), tmp_path / "y.tar")
    assert (tmp_path / "y.tar").read_bytes() == b"\x00\xff"


def test_text(put: Put, tmp_path: Path) -> None:
    identity, outputs = put(text("ä"), tmp_path / "made" / "text")
    assert (tmp_path / "made" / "text").read_text() == "ä"
    assert len(identity) == 8
    assert set(outputs) == {"source", "remotePath", "connection"}
    assert isinstance(outputs["connection"], Secret)
    assert outputs["source"].text == "ä"


def test_c36_text_needs_a_file_path(refused: Refused, tmp_path: Path) -> None:
    assert refused(text("x"), tmp_path).endswith(
        "is a directory; when using a text asset, remotePath must be a file path"
    )


def test_what_is_in_the_way(refused: Refused, tree: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "failed to create remote directory" in refused(folder(tree), tmp_path / "file")
    reason = refused(folder(f"{tree}/"), tmp_path / "file")
    assert "exists but is not a directory" in reason
    assert "/nope" in refused(file("/nope"), tmp_path / "x")
    assert "failed to copy file" in refused(file(tmp_path / "file"), f"{tmp_path}/new/")


def test_link_to_a_folder_in_a_folder(refused: Refused, tree: Path, tmp_path: Path) -> None:
    (tree / "z").symlink_to(tree / "sub")
    assert "s a directory" in refused(folder(tree), tmp_path / "dest")


def test_c37_connection_alone_copies_nothing(copy: Client) -> None:
    def inputs(**members: float) -> Inputs:
        connection: Inputs = {"host": "127.0.0.1", "port": 1.0, "dialErrorLimit": 0.0, **members}
        return {"source": text("x"), "remotePath": "/x", "connection": Secret(connection)}

    new = inputs(perDialTimeout=1.0)
    assert copy.update(inputs(), new) == new
    moved = {**new, "remotePath": "/y"}
    assert copy.failure(copy.update, inputs(), moved)[1].startswith("after 0 failed attempts")
    assert copy.update(inputs(), moved, preview=True) == moved


def test_preview(copy: Client) -> None:
    inputs = {"source": text("x"), "remotePath": "/x", "connection": Secret({"host": "h"})}
    assert copy.create(inputs, preview=True) == ("", {**inputs, "source": UNKNOWN})


@pytest.mark.parametrize(
    ("source", "property_"),
    [
        (Asset(uri="https://x", hash=""), "asset"),
        (Asset(archive=True, assets={}, hash=""), "archive"),
        ("x", "asset"),
        (UNKNOWN, None),
        (Asset(text="", hash=""), None),
    ],
)
def test_sources(copy: Client, source: object, property_: str | None) -> None:
    inputs = {"source": source, "remotePath": "/x", "connection": {"host": "h"}}
    assert [name for name, _ in copy.check(inputs)[1]] == ([property_] if property_ else [])
