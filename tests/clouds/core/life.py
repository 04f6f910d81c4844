"""What is done to an account: things are made, changed and removed, each as the cloud allows it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from airgap.plugins.values import UNKNOWN, Value, is_unknown
from tests.clouds.core import changes, sdk
from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.core.kind import CloudError, Kind, Request

if TYPE_CHECKING:
    from collections.abc import Mapping


def faults(kind: Kind, inputs: Inputs) -> list[tuple[str, str]]:
    """(what is wrong, the property) of inputs: with the SDK, the simulation, the cloud's syntax."""
    by_sdk = sdk.faults(kind.sdk, inputs, UNKNOWN, kind.open_enums)
    found = [(f"{path} {words}", path) for path, words in by_sdk]
    found += [
        (f"the simulation does not act on {name}", name)
        for name in sorted(inputs.keys() - kind.supported)
        if inputs[name] is not None
    ]
    return [*found, *((words, "") for words in kind.check(known(inputs)))]


def known(inputs: Inputs) -> Inputs:
    """The inputs that are known as a whole."""
    return {key: value for key, value in inputs.items() if not is_unknown(cast("Value", value))}


def complete(kind: Kind, inputs: Inputs) -> Inputs:
    """Inputs with what the cloud fills in."""
    return {**kind.defaults, **{key: value for key, value in inputs.items() if value is not None}}


def request(
    account: Account,
    kind: Kind,
    inputs: Inputs,
    settings: Mapping[str, Any],
    *,
    name: str,
    old: Thing | None = None,
) -> Request:
    """What the cloud is asked for: something new, or a change of `old`."""
    return Request(
        account=account,
        id=old.id if old else "",
        name=name,
        inputs=complete(kind, inputs),
        old=old,
        settings=settings,
    )


def refusals(kind: Kind, asked: Request) -> list[str]:
    """What the cloud says against it, in its own words."""
    found = []
    for path, _ in changes.changes(asked.old.inputs, asked.inputs) if asked.old else ():
        fixed = changes.below(path, kind.fixed)
        found += [f"{kind.fixed[fixed]}: {path} cannot be changed"] if fixed else []
    return found or list(kind.rules(asked))


def create(kind: Kind, asked: Request) -> Thing:
    """A new thing in the account. Raises CloudError where the cloud refuses it."""
    asked = replace(asked, id=kind.identify(asked))
    refuse(refusals(kind, asked))
    things = asked.account.things
    if asked.id in things:
        raise CloudError(f"{asked.id} already exists")
    things[asked.id] = Thing(
        id=asked.id, token=kind.token, inputs=asked.inputs, computed=kind.computed(asked)
    )
    return things[asked.id]


def update(kind: Kind, asked: Request) -> Thing:
    """The old thing, changed where it is. Raises CloudError where the cloud refuses it."""
    thing = asked.old
    assert thing is not None
    refuse(refusals(kind, asked))
    thing.computed = {**thing.computed, **kind.updated(asked)}
    thing.inputs = asked.inputs
    return thing


def delete(kind: Kind, account: Account, thing: Thing) -> None:
    """Remove it. Raises CloudError while something needs it."""
    reason = kind.blocks(account, thing)
    refuse([reason] if reason else [])
    del account.things[thing.id]


def refuse(reasons: list[str]) -> None:
    """Raise CloudError if there are any."""
    if reasons:
        raise CloudError("; ".join(reasons))
