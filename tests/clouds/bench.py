"""An account of a test, and what is done to it: as the plugins do it, but without an engine."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tests.clouds.__main__ import cloud_of
from tests.clouds.core import life

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Kind, Request

SUBSCRIPTION = "00000000-0000-0000-0000-000000000001"
SETTINGS: Mapping[str, Mapping[str, str]] = {
    "aws": {"region": "us-east-1"},
    "gcp": {"project": "simulated-project", "region": "us-central1"},
    "azure-native": {"subscriptionId": SUBSCRIPTION, "location": "eastus"},
}


def cloud_name(token: str) -> str:
    """The cloud that a type or a function is of."""
    return token.partition(":")[0]


@cache
def kinds(cloud: str) -> Mapping[str, Kind]:
    """What a cloud has, by the types' tokens."""
    return {kind.token: kind for kind in cloud_of(cloud).kinds}


def kind_of(token: str) -> Kind:
    """A row of its cloud's table."""
    return kinds(cloud_name(token))[token]


def against(account: Account, token: str, inputs: Inputs, old: Thing | None = None) -> list[str]:
    """What is said against a thing with these inputs, or against a change of `old` to them."""
    kind = kind_of(token)
    return _faults(kind, inputs) or life.refusals(kind, _asked(account, kind, inputs, old))


def make(account: Account, token: str, **inputs: Any) -> Thing:
    """A new thing. Raises CloudError with all that is said against it."""
    kind = kind_of(token)
    life.refuse(_faults(kind, inputs))
    return life.create(kind, _asked(account, kind, inputs))


def change(account: Account, thing: Thing, **inputs: Any) -> Thing:
    """A thing with other inputs where it is; what is not named stays. Raises CloudError."""
    kind = kind_of(thing.token)
    stays = {key: value for key, value in thing.inputs.items() if key in kind.supported}
    whole = {**stays, **inputs}
    life.refuse(_faults(kind, whole))
    return life.update(kind, _asked(account, kind, whole, thing))


def remove(account: Account, thing: Thing) -> None:
    """A thing that is gone. Raises CloudError while something needs it."""
    life.delete(kind_of(thing.token), account, thing)


def _faults(kind: Kind, inputs: Inputs) -> list[str]:
    return [words for words, _ in life.faults(kind, inputs)]


def _asked(account: Account, kind: Kind, inputs: Inputs, old: Thing | None = None) -> Request:
    settings = SETTINGS[cloud_name(kind.token)]
    return life.request(account, kind, inputs, settings, name="test", old=old)
