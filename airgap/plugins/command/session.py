"""What `remote.Command` does once it runs: a session over SSH, its variables, and how it ends."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import asyncssh
from asyncssh.packet import String

from airgap.plugins.command.connection import connect
from airgap.plugins.command.lifecycle import (
    CommandError,
    environment,
    optional_text,
    previous_output,
)
from airgap.plugins.command.output import Capture, Stream
from airgap.plugins.protocol import Call, Log, PluginError, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from airgap.plugins.values import Properties

# RFC 4254 names signals, a shell numbers them.
_SIGNALS: Mapping[str, int] = {
    "HUP": 1, "INT": 2, "QUIT": 3, "ILL": 4, "ABRT": 6, "FPE": 8, "KILL": 9,
    "USR1": 10, "SEGV": 11, "USR2": 12, "PIPE": 13, "ALRM": 14, "TERM": 15,
}  # fmt: skip
_SIGNAL_STATUS = 128


async def run(command: str, call: Call, inputs: Properties, capture: Capture) -> None:
    """Run it without a terminal. Once it runs, no time limit stops it."""
    async with connect(inputs.get("connection"), call.log, call.stop) as connection:
        variables = _Variables(environment(inputs), previous_output(call, inputs), call.log)
        session = _Session(capture, variables)
        try:
            channel, _ = await connection.create_session(lambda: session, command, encoding=None)
        except asyncssh.Error as error:
            raise PluginError(f"ssh: command failed to start: {error.reason}") from error
        # It may have ended already, without reading what it is given.
        with contextlib.suppress(BrokenPipeError):
            channel.write((optional_text(inputs.get("stdin")) or "").encode())
            channel.write_eof()
        await channel.wait_closed()
        _raise_failure(channel)


class _Variables:
    """Variables to be set before a command starts, if the server lets us."""

    def __init__(self, required: Mapping[str, str], previous: Mapping[str, str], log: Log) -> None:
        self._required = required
        self._previous = previous
        self._log = log

    async def send(self, channel: asyncssh.SSHClientChannel[bytes]) -> None:
        """Ask for each of them; the previous output comes last and so prevails."""
        for name, value in self._required.items():
            if not await _set(channel, name, value):
                await self._log.write(Severity.ERROR, _refused(name))
                text = f'could not set environment variable "{name}": ssh: setenv failed'
                raise PluginError(text)
        for name, value in self._previous.items():
            if not await _set(channel, name, value):
                await self._log.write(Severity.WARNING, _refused(name))


async def _set(channel: asyncssh.SSHClientChannel[bytes], name: str, value: str) -> bool:
    # asyncssh's public way does not ask for the server's answer, and a command that runs without
    # a variable that it needs does harm.
    request = channel._make_request(b"env", String(name), String(value))  # noqa: SLF001 - see above
    return bool(await request)


def _refused(name: str) -> str:
    return (
        f"Unable to set '{name}'. This only works if your SSH server is configured to accept "
        "these variables via AcceptEnv. Alternatively, if a Bash-like shell runs the command on "
        "the remote host, you could prefix the command itself with the variables in the form "
        "'VAR=value command'"
    )


class _Session(asyncssh.SSHClientSession[bytes]):
    """Hands on output as it comes."""

    def __init__(self, capture: Capture, variables: _Variables) -> None:
        self._capture = capture
        self._variables = variables

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        """Send the variables before the request that starts the command."""
        make_request = chan._make_request  # noqa: SLF001 - see _set

        async def variables_first(request: bytes, *arguments: bytes) -> bool | None:
            if request == b"exec":
                await self._variables.send(chan)
            return await make_request(request, *arguments)

        chan._make_request = variables_first  # type: ignore[method-assign]  # noqa: SLF001 - see _set

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Take output."""
        self._capture.feed(Stream.STDERR if datatype else Stream.STDOUT, data)


def _raise_failure(channel: asyncssh.SSHClientChannel[bytes]) -> None:
    exit_signal = channel.get_exit_signal()
    status = channel.get_exit_status()
    if exit_signal:
        name, _, message, _ = exit_signal
        number = _SIGNAL_STATUS + _SIGNALS.get(name, 0)
        reason = f". Reason was: {message}" if message else ""
        raise CommandError(f"Process exited with status {number} from signal {name}{reason}")
    if status is None or status < 0:
        raise CommandError("wait: remote command exited without exit status or exit signal")
    if status:
        raise CommandError(f"Process exited with status {status}")
