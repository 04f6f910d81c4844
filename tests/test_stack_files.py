"""The stack files that everybody gets."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FILES = sorted(path.name for path in ROOT.glob("Pulumi.*.yaml"))


@pytest.mark.parametrize("name", FILES)
def test_no_stack_file_is_committed_with_somebody_s_salt(name: str) -> None:
    """The CLI writes it beside the config, and with it everybody else's passphrase is wrong."""
    shown = subprocess.run(
        ["git", "show", f"HEAD:{name}"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if shown.returncode:
        pytest.skip(f"{name} is not committed")
    assert yaml.safe_load(shown.stdout).keys() == {"config"}
