"""What the tls resources have in common: made once, then only looked at."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from typing import TYPE_CHECKING

from airgap.plugins.protocol import (
    Call,
    Checked,
    Created,
    Diff,
    Failure,
    Log,
    PluginError,
    ResourceType,
    Severity,
)
from airgap.plugins.tls.fields import Change, Field, KeyChoice, problems, read, seal
from airgap.plugins.values import UNKNOWN, Properties, Value, plain

if TYPE_CHECKING:
    from collections.abc import Iterator


class TlsError(PluginError):
    """A failure in the official plugin's two parts."""

    def __init__(self, summary: str, detail: str) -> None:
        super().__init__(f"{summary}: {detail}")
        self.summary = summary
        self.detail = detail


class TlsResource(ResourceType):
    """A resource that follows from its inputs and chance, and exists in the state only."""

    fields: tuple[Field, ...]
    computed: tuple[Field, ...]
    key_choice: KeyChoice | None = None

    @abstractmethod
    def make(self, inputs: Properties) -> tuple[str, Properties]:
        """Return id and computed outputs. Runs in a thread: keys take their time."""

    async def announce(self, log: Log, inputs: Properties) -> None:
        """Warn about inputs that are allowed but odd."""

    def preview(self, inputs: Properties) -> Properties:  # noqa: ARG002 - for certificates
        """Return the computed outputs as far as they are known before the resource exists."""
        return {field.name: UNKNOWN for field in self.computed}

    async def check(self, call: Call) -> Checked:
        """Validate, and mark secrets. Defaults stay out of the inputs."""
        given: Properties = {
            name: value for name, value in call.inputs.items() if value is not None
        }
        reasons = list(problems(self.fields, call.name, given))
        if self.key_choice:
            reasons += self.key_choice.problems(given)
        return Checked(seal(self.fields, given), [Failure(reason) for reason in reasons])

    async def create(self, call: Call) -> Created:
        """Make the key or certificate."""
        inputs = read(self.fields, call.inputs)
        if call.preview:
            outputs = {"id": UNKNOWN, **self.preview(inputs)}
            return Created("", self._outputs(inputs, outputs))
        try:
            await self.announce(call.log, inputs)
            identity, computed = await asyncio.to_thread(self.make, _bare(inputs))
        except TlsError as error:
            await call.log.write(Severity.ERROR, f"[ERROR] {error.detail}: {error.summary}")
            raise
        return Created(identity, self._outputs(inputs, {"id": identity, **computed}))

    async def update(self, call: Call) -> Properties:
        """Take over the inputs that may change in place."""
        names = {field.name for field in self.fields}
        made = {name: value for name, value in call.state.items() if name not in names}
        return self._outputs(read(self.fields, call.inputs), made)

    async def read(self, call: Call) -> Properties:
        """Return the state; there is nothing outside of it, and so nothing to import."""
        if not call.state:
            raise PluginError("resource does not support import; please create it instead")
        return seal(self._all_fields(), call.state)

    async def diff(self, call: Call) -> Diff:
        """Compare the inputs with the state."""
        changed = [field for field in self._changed(call) if field.name not in call.ignore_changes]
        replaces = [field.name for field in changed if _replaces(field, call.state)]
        diffs = [field.name for field in changed]
        return self.complete(call, Diff(diffs=diffs, replaces=replaces))

    def complete(self, _: Call, diff: Diff) -> Diff:
        """Add what follows from changed inputs, or from the passage of time."""
        return diff

    def _changed(self, call: Call) -> Iterator[Field]:
        new = read(self.fields, call.inputs)
        old = read(self.fields, call.state)
        for field in self.fields:
            unequal = plain(new.get(field.name)) != plain(old.get(field.name))
            if unequal and field.change is not Change.NOTHING:
                yield field

    def _outputs(self, inputs: Properties, computed: Properties) -> Properties:
        hidden = {field.name for field in self.fields if not field.stored}
        repeated = {name: value for name, value in inputs.items() if name not in hidden}
        return seal(self._all_fields(), {**computed, **repeated})

    def _all_fields(self) -> tuple[Field, ...]:
        return (*self.fields, *self.computed)


def _replaces(field: Field, state: Properties) -> bool:
    if field.change is not Change.REPLACE:
        return False
    old: Value = plain(state.get(field.name))
    # Very old states hold a hash instead of the PEM text: not a reason to make everything anew.
    is_hash = field.pem and isinstance(old, str) and "-----BEGIN" not in old
    return not is_hash


def _bare(properties: Properties) -> Properties:
    return {name: plain(value) for name, value in properties.items()}
