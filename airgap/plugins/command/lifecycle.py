"""When commands run, and what their outputs are: the same for local and remote ones."""

from __future__ import annotations

import secrets
from abc import abstractmethod
from typing import TYPE_CHECKING

from airgap.plugins.command.changes import changed_or_gone, diff
from airgap.plugins.command.output import Capture, Stream
from airgap.plugins.command.quoting import quote
from airgap.plugins.command.schema import complete
from airgap.plugins.protocol import Call, Checked, Created, Diff, PluginError, ResourceType
from airgap.plugins.values import UNKNOWN, Properties, Secret, Value, is_unknown, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airgap.plugins.command.shapes import Record

_PREVIOUS: Mapping[str, str] = {
    "PULUMI_COMMAND_STDOUT": "stdout",
    "PULUMI_COMMAND_STDERR": "stderr",
}


class CommandError(Exception):
    """A command did not start, or not end well. The message says why, and nothing else."""


class Command(ResourceType):
    """A resource whose creation, change and deletion are commands that the user gives."""

    inputs: Record
    collected: tuple[str, ...] = ()  # outputs that a run may make, beside the streams

    @abstractmethod
    async def run(self, command: str, call: Call, inputs: Properties, capture: Capture) -> None:
        """Run a command with plain inputs, or raise `CommandError`."""

    async def collect(self, _: Properties) -> Properties:
        """Return what else a successful run has made."""
        return {}

    async def check(self, call: Call) -> Checked:
        """Validate strictly."""
        return Checked(complete(call.inputs), list(self.inputs.problems(call.inputs)))

    async def diff(self, call: Call) -> Diff:
        """Compare with the inputs of the last run."""
        return diff(call)

    async def create(self, call: Call) -> Created:
        """Run `create`, if there is one."""
        identity = new_id(call.name)
        if call.preview:
            return Created(identity, {**call.inputs, "stdout": UNKNOWN, "stderr": UNKNOWN})
        outputs = await self._run_first(call, call.inputs, "create")
        return Created(identity, {**call.inputs, "stdout": "", "stderr": "", **outputs})

    async def update(self, call: Call) -> Properties:
        """Run `update`, or else `create` again."""
        made = ("stdout", "stderr", *self.collected)
        kept = {name: call.state[name] for name in made if name in call.state}
        if not call.preview:
            outputs = await self._run_first(call, call.inputs, "update", "create")
        elif is_unknown(call.inputs) or changed_or_gone(
            call.state, call.inputs, self.inputs.fields
        ):
            outputs = dict.fromkeys(kept, UNKNOWN)
        else:
            outputs = {}
        return {**call.inputs, "stdout": "", "stderr": "", **kept, **outputs}

    async def delete(self, call: Call) -> None:
        """Run `delete` as the state has it."""
        await self._run_first(call, call.state, "delete")

    async def _run_first(self, call: Call, inputs: Properties, *choices: str) -> Properties:
        name = next((name for name in choices if inputs.get(name) is not None), None)
        if name is None:
            return {}
        call.stop.check()
        bare = {key: plain(value) for key, value in inputs.items()}
        command = str(bare[name])
        capture = Capture(call.log, optional_text(bare.get("logging")))
        try:
            async with capture.shown():
                await self.run(command, call, bare, capture)
        except CommandError as error:
            shown = "[secret]" if isinstance(inputs[name], Secret) else quote(command)
            text = f"{error}: running {shown}:\n{capture.everything()}"
            raise PluginError(text) from error
        return {
            "stdout": capture.text(Stream.STDOUT),
            "stderr": capture.text(Stream.STDERR),
            **await self.collect(bare),
        }


def previous_output(call: Call, inputs: Properties) -> dict[str, str]:
    """Return the variables that tell a command what the last one wrote."""
    if inputs.get("addPreviousOutputInEnv") is False:
        return {}
    texts = {name: plain(call.state.get(output)) for name, output in _PREVIOUS.items()}
    return {name: text for name, text in texts.items() if isinstance(text, str) and text}


def environment(inputs: Properties) -> dict[str, str]:
    """Return the variables that the user gives."""
    members = inputs.get("environment")
    if not isinstance(members, dict):
        return {}
    return {name: str(value) for name, value in members.items()}


def optional_text(value: Value) -> str | None:
    """Return the text, if there is one."""
    return value if isinstance(value, str) else None


def new_id(name: str = "") -> str:
    """Make up an id."""
    return f"{name}{secrets.token_hex(4)}"
