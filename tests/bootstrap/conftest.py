from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.bootstrap.sandbox import Sandbox

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def host(tmp_path: Path) -> Sandbox:
    """A host that is a folder."""
    return Sandbox(tmp_path)
