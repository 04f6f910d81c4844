"""`remote.Command`: commands on other computers, over SSH."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from airgap.plugins.command.lifecycle import Command
from airgap.plugins.command.schema import REMOTE

if TYPE_CHECKING:
    from airgap.plugins.command.output import Capture
    from airgap.plugins.protocol import Call
    from airgap.plugins.values import Properties


class RemoteCommand(Command):
    """A command that a login shell on another computer runs."""

    inputs = REMOTE

    async def run(self, command: str, call: Call, inputs: Properties, capture: Capture) -> None:
        """Run it there."""
        # Only here: to load SSH is half of the plugin's start, and a preview dials nobody.
        session = import_module("airgap.plugins.command.session")
        await session.run(command, call, inputs, capture)
