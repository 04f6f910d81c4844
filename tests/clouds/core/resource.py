"""A row of a cloud's table as a resource type: checks, keeps the account, and makes it real."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar, cast

from airgap.plugins.protocol import (
    Call,
    Checked,
    Created,
    Diff,
    Failure,
    PluginError,
    ResourceType,
)
from airgap.plugins.values import Properties, as_secret, plain
from tests.clouds.core import changes, life
from tests.clouds.core.account import Account, Inputs, Thing, opened
from tests.clouds.core.kind import CloudError, Kind, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.clouds.core.cloud import Cloud

_T = TypeVar("_T")


class SimulatedType(ResourceType):
    """The life cycle of the resources of one kind."""

    def __init__(
        self,
        cloud: Cloud,
        kind: Kind,
        settings: Mapping[str, Any],
        realise: Callable[[Account], None],
    ) -> None:
        self._cloud, self._kind, self._settings, self._realise = cloud, kind, settings, realise

    async def check(self, call: Call) -> Checked:
        """Only what the SDK has, what is simulated, and what the cloud's syntax allows."""
        failures = [
            Failure(f"simulated {self._cloud.name}: {words}", path)
            for words, path in life.faults(self._kind, bare(call.inputs))
        ]
        return Checked(call.inputs, failures)

    async def diff(self, call: Call) -> Diff:
        """Compare what was asked for with what is asked for now."""
        old, new = (
            life.complete(self._kind, bare(inputs)) for inputs in (call.old_inputs, call.inputs)
        )
        for name in call.ignore_changes:
            new.pop(name, None)
            old.pop(name, None)
        return changes.diff(old, new, self._kind.immutable)

    async def create(self, call: Call) -> Created:
        """Make it in the account, and on this computer."""
        if call.preview:
            return Created("", call.inputs)
        return await self._locked(lambda account: self._create(account, call))

    def _create(self, account: Account, call: Call) -> Created:
        thing = life.create(self._kind, self._request(account, call, None))
        return Created(thing.id, self._outputs(call.inputs, thing))

    async def update(self, call: Call) -> Properties:
        """Change it where it is, if the cloud can."""
        if call.preview:
            return await self._locked(lambda account: self._foreseen(account, call))
        return await self._locked(lambda account: self._update(account, call))

    @staticmethod
    def _foreseen(account: Account, call: Call) -> Properties:
        """What an update would leave: what the cloud computed stays, within inputs, too."""
        thing = account.get(call.id)
        computed = cast("Properties", thing.computed if thing else {})
        return {**call.state, **call.inputs, **computed}

    def _update(self, account: Account, call: Call) -> Properties:
        thing = account.get(call.id)
        if thing is None:
            raise CloudError(f"{call.id} is not found")
        life.update(self._kind, self._request(account, call, thing))
        return self._outputs(call.inputs, thing)

    async def read(self, call: Call) -> Properties | None:
        """What the account has of it; None if somebody has removed it."""

        def look(account: Account) -> Properties | None:
            thing = account.get(call.id)
            return None if thing is None else {**call.state, **cast("Properties", thing.computed)}

        return await self._locked(look)

    async def delete(self, call: Call) -> None:
        """Remove it, if nothing needs it."""
        await self._locked(lambda account: self._delete(account, call.id))

    def _delete(self, account: Account, thing_id: str) -> None:
        thing = account.get(thing_id)
        if thing is not None:
            life.delete(self._kind, account, thing)

    async def _locked(self, act: Callable[[Account], _T]) -> _T:
        """One at a time, in a thread, since making machines takes its time."""

        def work() -> _T:
            with opened(self._cloud.name) as account:
                result = act(account)
                self._realise(account)
                return result

        try:
            return await asyncio.to_thread(work)
        except CloudError as error:
            raise PluginError(f"simulated {self._cloud.name}: {error}") from error

    def _request(self, account: Account, call: Call, old: Thing | None) -> Request:
        inputs = bare(call.inputs)
        return life.request(account, self._kind, inputs, self._settings, name=call.name, old=old)

    def _outputs(self, inputs: Properties, thing: Thing) -> Properties:
        outputs = {**cast("Properties", thing.outputs), **inputs}
        outputs.update(cast("Properties", thing.computed))
        return {
            key: as_secret(value) if key in self._kind.secret_outputs else value
            for key, value in outputs.items()
        }


def bare(inputs: Properties) -> Inputs:
    """Inputs without their secret wrappings, and without the SDK's own notes."""
    return {key: plain(value) for key, value in inputs.items() if not key.startswith("__")}
