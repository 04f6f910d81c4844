"""A config with mistakes: all of them are told, with what to write instead, and nothing happens."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.engine.cli import Config
from tests.engine.conftest import Stacks
from tests.engine.test_preview import containers

pytestmark = pytest.mark.engine


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """A config, and what has to be said about it."""

    config: Config
    told: tuple[str, ...]  # key, value and remedy


UNKNOWN_KEY = Mistake(
    config={"podz": [{"name": "node"}]},
    told=("podz", '"name": "node"', "is not a known key", "known keys here are"),
)
OVERLAP = Mistake(
    config={"network": {"podCidr": "10.96.0.0/12", "serviceCidr": "10.96.0.0/16"}},
    told=(
        "network.podCidr: 10.96.0.0/12",
        "overlaps network.serviceCidr 10.96.0.0/16",
        "write a free range",
    ),
)
BOTH = Mistake(
    config={**UNKNOWN_KEY.config, **OVERLAP.config},
    told=("2 problems", *UNKNOWN_KEY.told, *OVERLAP.told),
)


@pytest.mark.parametrize("mistake", [UNKNOWN_KEY, OVERLAP, BOTH], ids=["key", "overlap", "both"])
def test_a_mistake_is_told_before_anything_happens(
    mistake: Mistake, stacks: Stacks, request: pytest.FixtureRequest
) -> None:
    stack = stacks(f"bad-{request.node.callspec.id}", {"mirror": None, **mistake.config})
    done = stack.call("up", "--yes", "--skip-preview", check=False)
    assert done.code != 0
    for words in mistake.told:
        assert words in done.output
    assert "Traceback" not in done.output
    assert "validation/" not in done.output, "a place in our source is of no use to the reader"
    created = {resource["type"] for resource in stack.resources()}
    assert created <= {"pulumi:pulumi:Stack"}
    assert containers() == ""
