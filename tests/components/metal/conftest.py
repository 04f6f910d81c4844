"""A person's home with a key that may log in, and nobody known yet."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.components.metal.cases import private_key


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    (folder / ".ssh").mkdir(parents=True)
    (folder / ".ssh" / "id_ed25519").write_text(private_key())
    monkeypatch.setenv("HOME", str(folder))
    return folder
