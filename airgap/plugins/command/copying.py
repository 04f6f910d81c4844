"""`remote.CopyToRemote`: files, folders and texts to other computers, over SFTP."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from airgap.plugins.command.changes import diff
from airgap.plugins.command.lifecycle import new_id
from airgap.plugins.command.schema import COPY, complete
from airgap.plugins.protocol import (
    Call,
    Checked,
    Created,
    Diff,
    Failure,
    ResourceType,
)
from airgap.plugins.values import UNKNOWN, Asset, Properties, Value, plain

if TYPE_CHECKING:
    from collections.abc import Iterator


class CopyToRemote(ResourceType):
    """A copy. Deleting the resource leaves it there."""

    async def check(self, call: Call) -> Checked:
        """Validate; whether a local file exists shows when it is copied."""
        failures = list(COPY.problems(call.inputs))
        source = plain(call.inputs.get("source"))
        failures = [failure for failure in failures if failure.property != "source"]
        return Checked(complete(call.inputs), [*failures, *_source_problems(source)])

    async def diff(self, call: Call) -> Diff:
        """Compare; sources by content."""
        return diff(call)

    async def create(self, call: Call) -> Created:
        """Copy."""
        if call.preview:
            return Created("", {**call.inputs, "source": UNKNOWN})
        await _copy(call)
        return Created(new_id(), call.inputs)

    async def update(self, call: Call) -> Properties:
        """Copy again if there is something new, or somewhere new."""
        same = all(
            plain(call.inputs.get(name)) == plain(call.state.get(name))
            for name in ("source", "remotePath")
        )
        if not call.preview and not same:
            await _copy(call)
        return call.inputs


def _source_problems(source: Value) -> Iterator[Failure]:
    if source is UNKNOWN:
        return  # the official plugin fails here, and its next version does not
    if not isinstance(source, Asset):
        yield Failure("either asset or archive must be set", "asset")
    elif source.archive and source.path is None:
        yield Failure("archive must be a path to a file or directory", "archive")
    elif source.path is None and source.text is None:
        yield Failure("asset must be a path-based file asset or a text asset", "asset")


async def _copy(call: Call) -> None:
    # Only here: to load SSH is half of the plugin's start, and a preview dials nobody.
    await import_module("airgap.plugins.command.transfer").copy(call)
