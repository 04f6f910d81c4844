"""What was done last, in a file: so that what did not change costs nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.clouds.fabric.place import Place


def _file(place: Place) -> Path:
    return place.folder / "fabric.json"


def recall(place: Place) -> Mapping[str, Any]:
    """What is remembered; nothing when the file is not there."""
    file = _file(place)
    return json.loads(file.read_text()) if file.exists() else {}


def forget(place: Place) -> None:
    """From now on nothing is sure: if this run ends early, the next does everything again."""
    _file(place).unlink(missing_ok=True)


def remember(place: Place, document: Mapping[str, Any]) -> None:
    """Keep it."""
    partial = _file(place).with_suffix(".partial")
    partial.write_text(json.dumps(document))
    partial.replace(_file(place))
