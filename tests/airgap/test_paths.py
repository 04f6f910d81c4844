"""How small files are written."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from airgap import paths

if TYPE_CHECKING:
    from pathlib import Path


def test_threads_may_write_the_same_file_at_once(tmp_path: Path) -> None:
    """As those of a plugin do that many resources ask at once when nothing is kept yet."""
    target, text = tmp_path / "kept" / "file", "x" * 100_000
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: paths.write(target, text, mode=0o640), range(64)))
    assert target.read_text() == text
    assert target.stat().st_mode & 0o777 == 0o640
    assert list(target.parent.iterdir()) == [target]
