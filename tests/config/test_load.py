"""How the program reads the config."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from config import ClusterConfig
from tests.config.cases import CATALOGUE
from validation import CLUSTER_KEY, ConfigError, load

if TYPE_CHECKING:
    from collections.abc import Callable


def test_load(stack: Callable[[str], None]) -> None:
    stack('{"name": "lab"}')
    assert load() == ClusterConfig(name="lab")


def test_load_takes_the_mirror_from_the_environment(
    stack: Callable[[str], None],
    mirror: Callable[[object], str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stack('{"name": "lab"}')
    directory = mirror(CATALOGUE)
    monkeypatch.setenv("KUBERNETES_ANYWHERE_MIRROR", directory)
    loaded = load().mirror
    assert loaded is not None
    assert loaded.directory == directory


@pytest.mark.parametrize("text", ["nonsense", "[]", '"text"'])
def test_load_of_no_object(text: str, stack: Callable[[str], None]) -> None:
    stack(text)
    with pytest.raises(ConfigError) as caught:
        load()
    assert [problem.path for problem in caught.value.problems] == [CLUSTER_KEY]
    assert caught.value.problems[0].message == "is no object"
