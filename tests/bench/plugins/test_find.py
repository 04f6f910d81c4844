"""Official plugins are told from stand-ins, and from those of another version."""

from __future__ import annotations

from pathlib import Path

import pytest

from airgap import engine
from bench.plugins import find
from bench.plugins.__main__ import NOT_TO_BE_HAD, main

# Says its port and waits, as a plugin does; nobody answers there.
SILENT = "#!/bin/sh\necho 1\nexec sleep 60\n"


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_where_there_is_none_it_says_what_would_help(tmp_path: Path) -> None:
    found, missing = find.find({"PATH": "/nowhere", "HOME": str(tmp_path)})
    assert found == {}
    assert missing == [
        f"{name}: neither on PATH nor in a plugin folder. With the internet: "
        f"`pulumi plugin install resource {name} v{find.wanted(name)}`"
        for name in ("tls", "command")
    ]


def test_a_stand_in_is_not_official(tmp_path: Path) -> None:
    home = tmp_path / ".pulumi"
    engine.write_stand_ins(home)
    found, missing = find.find({"PATH": "/nowhere", "HOME": str(tmp_path)})
    assert found == {}
    assert "is a stand-in of ours" in missing[0]


def test_a_plugin_says_its_version(tmp_path: Path) -> None:
    engine.write_stand_ins(tmp_path)
    path = engine.plugin_file(tmp_path, "tls")
    assert find.version_of(path) == find.wanted("tls")


def test_one_that_does_not_answer_is_not_taken(tmp_path: Path) -> None:
    path = program(tmp_path / "bin" / "pulumi-resource-tls", SILENT)
    assert find.unfit(path, "tls") == "says version nothing"


def test_a_plugin_on_path_comes_first_and_then_the_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_path = program(tmp_path / "bin" / "pulumi-resource-tls", SILENT)
    in_folder = program(engine.plugin_file(tmp_path / ".pulumi", "tls"), SILENT)
    environment = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    monkeypatch.setattr(find, "unfit", lambda _path, _name: "")
    assert find.find(environment)[0] == {"tls": on_path}
    monkeypatch.setattr(find, "unfit", lambda path, _name: "is old" if path == on_path else "")
    assert find.find(environment)[0] == {"tls": in_folder}


def test_each_home_has_one_kind_and_the_same_kubernetes_plugin(tmp_path: Path) -> None:
    official = {name: program(tmp_path / name, SILENT) for name in find.NAMES}
    kubernetes = program(engine.plugin_file(tmp_path / ".pulumi", "kubernetes"), SILENT)
    environment = {"HOME": str(tmp_path)}
    one = find.plugin_home(tmp_path / "one", official, environment)
    two = find.plugin_home(tmp_path / "two", {}, environment)
    for name in find.NAMES:
        assert engine.plugin_file(one, name).resolve() == official[name]
        assert "airgap.plugins" in engine.plugin_file(two, name).read_text()
    for home in (one, two):
        assert engine.plugin_file(home, "kubernetes").resolve() == kubernetes


def test_the_command_ends_in_a_way_of_its_own_when_there_is_nothing_to_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"PATH": "/nowhere", "HOME": str(tmp_path), "PULUMI_HOME": ""}.items():
        monkeypatch.setenv(name, value)
    assert main() == NOT_TO_BE_HAD == 3
    assert "official plugins cannot be had here" in capsys.readouterr().out
