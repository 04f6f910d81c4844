"""Every object of every add-on, as a file to read: `UPDATE_GOLDEN=1 pytest` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from addons.objects import to_yaml
from tests.addons import test_plugins
from tests.addons.cases import CASES, rendered

GOLDEN = Path(__file__).parent / "golden"
UPDATE = os.environ.get("UPDATE_GOLDEN") == "1"
EXPECTED = {
    **{f"{name}.yaml": objects for name, objects in rendered().items()},
    "heapster.yaml": rendered(CASES["heapster"])["heapster"],
    "fluentd-forward.yaml": rendered(CASES["forward"])["fluentd"],
    "kube-proxy-iptables.yaml": rendered(CASES["iptables"])["kube-proxy"],
    **{f"sample-{plugin}.yaml": test_plugins.rendered(plugin) for plugin in test_plugins.PLUGINS},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_objects_are_those_that_the_golden_file_shows(name: str) -> None:
    text = to_yaml(EXPECTED[name])
    if UPDATE:
        (GOLDEN / name).write_text(text)
    assert text == (GOLDEN / name).read_text()


def test_no_golden_file_is_left_over() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_text_is_read_back_as_what_was_written(name: str) -> None:
    assert list(yaml.safe_load_all(to_yaml(EXPECTED[name]))) == EXPECTED[name]
