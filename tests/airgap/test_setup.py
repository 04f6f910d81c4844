"""What `make` keeps for a person between commands, and what it takes away again."""

from __future__ import annotations

import json
import shlex
from datetime import UTC, datetime
from pathlib import Path

import pytest

from airgap import setup
from config import ClusterConfig
from validation import ConfigError


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of this user's state, in which something has been chosen."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.delenv("PULUMI_BACKEND_URL", raising=False)
    folder = tmp_path / "kubernetes-anywhere"
    folder.mkdir()
    (folder / "choice.json").write_text(json.dumps({"path": ["/x/bin"], "environment": {"A": "b"}}))
    return folder


def exported() -> dict[str, str]:
    words = [shlex.split(line) for line in setup.exports().splitlines()]
    return dict(word.split("=", 1) for verb, word in words if verb == "export")


def test_secrets_and_temporary_files_are_this_users_alone(state: Path) -> None:
    found = exported()
    assert found["A"] == "b"
    assert "/x/bin" in found["PATH"].split(":")
    assert found["TMPDIR"] == str(state / "tmp")
    assert (state / "tmp").stat().st_mode & 0o777 == 0o700
    passphrase = Path(found["PULUMI_CONFIG_PASSPHRASE_FILE"])
    assert passphrase.stat().st_mode & 0o777 == 0o600
    kept = passphrase.read_text()
    assert len(kept) > 30
    exported()
    assert passphrase.read_text() == kept


def test_forget_removes_kubeconfigs(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kubernetes provider leaves an administrator's kubeconfig in each run."""
    left, other = Path(exported()["TMPDIR"]) / "kubeconfig123", state / "other.kubeconfig"
    for path in (left, state / "mine.kubeconfig", other):
        path.write_text("users: []")
    monkeypatch.setattr("sys.argv", ["setup", "forget", "mine"])
    assert setup.main() == 0
    assert not left.exists()
    assert not (state / "mine.kubeconfig").exists()
    assert other.exists()


def test_forget_takes_a_salt_only_where_nothing_is_encrypted_with_it(
    state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    assert state.exists()
    plain, secret = tmp_path / "Pulumi.plain.yaml", tmp_path / "Pulumi.secret.yaml"
    plain.write_text("encryptionsalt: v1:abc\n# a comment\nconfig: {}\n")
    secret.write_text("encryptionsalt: v1:abc\nconfig:\n  x:y: {secure: v1:z}\n")
    before = secret.read_text()
    for name in ("plain", "secret", "none"):
        setup.forget(name)
    assert plain.read_text() == "# a comment\nconfig: {}\n"
    assert secret.read_text() == before


def test_the_passphrase_of_another_project_is_out_of_the_way(state: Path) -> None:
    assert state.exists()
    assert "unset PULUMI_CONFIG_PASSPHRASE" in setup.exports().splitlines()


@pytest.mark.parametrize("text", ["", "config:\n", None])
def test_a_stack_file_without_a_cluster_is_the_default_and_none_is_an_error(
    text: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup, "ROOT", tmp_path)
    if text is None:
        with pytest.raises(ConfigError, match=r"Pulumi\.other\.yaml"):
            setup.stack_config("other")
        return
    (tmp_path / "Pulumi.other.yaml").write_text(text)
    assert setup.stack_config("other").name == "kubernetes"


@pytest.mark.parametrize("flags", [(), ("mirrored",), ("internet",), ("mirrored", "internet")])
@pytest.mark.parametrize("platform", ["local", "gce", "metal"])
def test_docker_is_for_machines_on_this_computer(
    platform: str, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a simulated cloud, for which a mirror is filled in any case, are there, too."""
    ran: list[str] = []
    config = ClusterConfig.model_validate({"platform": platform})
    monkeypatch.setattr(setup, "stack_config", lambda _: config)
    monkeypatch.setattr(setup, "has_internet", lambda: "internet" in flags)
    monkeypatch.setattr(setup, "install_sdk", lambda _: None)
    for name in ("official_engine", "official_kubectl"):
        monkeypatch.setattr(setup, name, lambda *_: ())
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(Path, "exists", lambda _: True)
    monkeypatch.setattr(
        setup, "run_all", lambda *chains: ran.extend(c[0] for chain in chains for c in chain)
    )
    setup.prepare("some", mirrored="mirrored" in flags)
    wanted = platform == "local" or "mirrored" in flags
    assert ("airgap.docker" in ran) is wanted
    assert ("components.local.image.build" in ran) is wanted


def test_the_days_that_certificates_have_left_are_said() -> None:
    ends = {
        "leaves": {"first": "c-admin", "expires": "2030-06-30T12:00:00Z"},
        "authorities": {"first": "c-ca", "expires": "2039-06-01T11:59:59Z"},
    }
    now = datetime(2030, 6, 1, 12, tzinfo=UTC)
    assert setup.validity(ends, now) == "valid for 29 days, CAs for 3286"
