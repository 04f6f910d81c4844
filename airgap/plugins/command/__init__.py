"""The `command` plugin: commands on this computer and on others, and copies to others."""

from __future__ import annotations

import grpc

from airgap.plugins.command.copying import CopyToRemote
from airgap.plugins.command.local import LocalCommand
from airgap.plugins.command.remote import RemoteCommand
from airgap.plugins.protocol import Plugin

PLUGIN = Plugin(
    name="command",
    version="1.2.1",
    types={
        "command:local:Command": LocalCommand(),
        "command:remote:Command": RemoteCommand(),
        "command:remote:CopyToRemote": CopyToRemote(),
    },
    unknown_type_code=grpc.StatusCode.NOT_FOUND,
    unknown_type_text="Resource '{token}' not found",
    accept_outputs=True,
)
