"""How the machine image is named and made."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from airgap import docker as airgap_docker
from components.local.containers.shell import CommandError
from components.local.image import build

if TYPE_CHECKING:
    from pathlib import Path

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12"\nID=debian\n'


def test_debian_as_root_needs_no_image_registry() -> None:
    assert build.choose_way(DEBIAN, root=True) == "debootstrap"
    assert build.choose_way(DEBIAN, root=False) == "dockerfile"
    assert build.choose_way('ID="ubuntu"\nID_LIKE=debian\n', root=True) == "dockerfile"
    assert build.choose_way("", root=True) == "dockerfile"


def test_both_ways_install_the_same() -> None:
    dockerfile = (build.HERE / "Dockerfile").read_text()
    assert "packages.txt" in dockerfile
    assert "setup.sh" in dockerfile
    assert build.ENTRYPOINT in dockerfile
    assert f"FROM debian:{build.SUITE}" in dockerfile
    assert build.packages() == sorted(set(build.packages()))


def test_tag_follows_the_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert re.fullmatch(r"kubernetes-anywhere/machine:[0-9a-f]{12}", build.image_tag())
    monkeypatch.setattr(build, "HERE", tmp_path)
    (tmp_path / "packages.txt").write_text("a\n")
    (tmp_path / "build.py").write_text("")
    before = build.image_tag()
    (tmp_path / "build.py").write_text("# other words\n")
    assert build.image_tag() == before
    (tmp_path / "packages.txt").write_text("b\n")
    assert build.image_tag() != before


def test_no_key_is_in_the_image() -> None:
    setup = (build.HERE / "files" / "setup.sh").read_text()
    assert "rm -f /etc/ssh/ssh_host_*" in setup


ONE_LINE = """\
# deb http://no/ bookworm
deb-src http://no/ bookworm main
deb [arch=amd64 trusted=yes] http://m/d stable main
"""
FIELDS = """\
Types: deb
URIs: http://no/security
Suites: bookworm-security

Types: deb
# an older one
URIs: http://m/d
Suites: bookworm bookworm-updates
Components: main
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sources.list", ONE_LINE),
        ("sources.list.d/debian.list", "deb http://m/d trixie main\n"),
        ("sources.list.d/debian.sources", FIELDS),
    ],
)
def test_mirror_is_the_one_of_apt(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "a.list").write_text(
        "deb https://no/apt cloud-sdk-bookworm main\n"
    )
    (tmp_path / "sources.list.d" / "b.sources").write_text(
        "Types: deb\nURIs: https://no/node\nSuites: nodistro\n\n"
        "Types: deb\nEnabled: no\nURIs: https://no/off\nSuites: bookworm\n"
    )
    (tmp_path / name).write_text(text)
    assert build.debian_mirror(tmp_path) == "http://m/d"


def test_no_mirror_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="names no Debian package mirror"):
        build.debian_mirror(tmp_path)


def test_inotify_limits_are_raised_and_told(tmp_path: Path) -> None:
    (tmp_path / "max_user_instances").write_text("128\n")
    (tmp_path / "max_user_watches").write_text("2000000\n")
    said = airgap_docker.raise_inotify_limits(tmp_path)
    assert said == ["fs.inotify.max_user_instances raised to 8192"]
    assert (tmp_path / "max_user_instances").read_text() == "8192\n"
    assert airgap_docker.raise_inotify_limits(tmp_path) == []
