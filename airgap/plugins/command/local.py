"""`local.Command`: commands on this computer."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from airgap.plugins.command.assets import collect_archive, collect_assets
from airgap.plugins.command.lifecycle import (
    Command,
    CommandError,
    environment,
    optional_text,
    previous_output,
)
from airgap.plugins.command.output import Capture, Stream
from airgap.plugins.command.schema import LOCAL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airgap.plugins.protocol import Call, Stop
    from airgap.plugins.values import Properties, Value

_SHELL = ("cmd", "/C") if os.name == "nt" else ("/bin/sh", "-c")
_CHUNK = 64 * 1024


class LocalCommand(Command):
    """A command that an interpreter on this computer runs."""

    inputs = LOCAL
    collected = ("assets", "archive")

    async def run(self, command: str, call: Call, inputs: Properties, capture: Capture) -> None:
        """Run it with the user's variables, and then the previous output, over our own."""
        program = _Program(
            argv=[*(_texts(inputs.get("interpreter")) or _SHELL), command],
            directory=optional_text(inputs.get("dir")) or None,
            variables={**os.environ, **environment(inputs), **previous_output(call, inputs)},
            stdin=optional_text(inputs.get("stdin")) or "",
        )
        await _run(program, capture, call.stop)

    async def collect(self, inputs: Properties) -> Properties:
        """Take in the files that are asked for."""
        directory = optional_text(inputs.get("dir")) or ""
        outputs: Properties = {}
        if isinstance(inputs.get("assetPaths"), list):
            patterns = _texts(inputs["assetPaths"])
            outputs["assets"] = await asyncio.to_thread(collect_assets, directory, patterns)
        if isinstance(inputs.get("archivePaths"), list):
            patterns = _texts(inputs["archivePaths"])
            outputs["archive"] = await asyncio.to_thread(collect_archive, directory, patterns)
        return outputs


def _texts(value: Value) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class _Program:
    argv: Sequence[str]
    directory: str | None
    variables: Mapping[str, str]
    stdin: str

    async def start(self) -> asyncio.subprocess.Process:
        try:
            return await asyncio.create_subprocess_exec(
                *self.argv,
                cwd=self.directory,
                env=self.variables,
                stdin=asyncio.subprocess.PIPE if self.stdin else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except (OSError, ValueError) as error:
            raise CommandError(_start_failure(self.argv[0], self.directory, error)) from error


async def _run(program: _Program, capture: Capture, stop: Stop) -> None:
    process = await program.start()
    killer = asyncio.create_task(_kill_at(stop, process))
    try:
        # The pipes end when everybody who holds them is gone: also children in the background.
        await asyncio.gather(
            _feed(process, program.stdin),
            _drain(process.stdout, Stream.STDOUT, capture),
            _drain(process.stderr, Stream.STDERR, capture),
        )
        status = await process.wait()
    finally:
        killer.cancel()
        _kill(process)
    if status:
        raise CommandError(_end(status))


async def _kill_at(stop: Stop, process: asyncio.subprocess.Process) -> None:
    await stop.wait()
    _kill(process)


def _kill(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()


async def _feed(process: asyncio.subprocess.Process, stdin: str) -> None:
    if process.stdin is None:
        return
    try:
        process.stdin.write(stdin.encode())
        await process.stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        return  # a command need not read what it is given
    finally:
        process.stdin.close()


async def _drain(pipe: asyncio.StreamReader | None, stream: Stream, capture: Capture) -> None:
    while pipe and (data := await pipe.read(_CHUNK)):
        capture.feed(stream, data)


def _start_failure(program: str, directory: str | None, error: OSError | ValueError) -> str:
    """Say why a process could not start, in the words of the official plugin."""
    if not isinstance(error, OSError) or error.errno is None:
        return f"fork/exec {program}: invalid argument"  # a NUL in a text
    reason = os.strerror(error.errno).lower()
    if directory and not Path(directory).is_dir():
        return f"chdir {directory}: {reason}"
    if "/" not in program and shutil.which(program) is None:
        return f'exec: "{program}": executable file not found in $PATH'
    return f"fork/exec {program}: {reason}"


def _end(status: int) -> str:
    if status > 0:
        return f"exit status {status}"
    return f"signal: {(signal.strsignal(-status) or str(-status)).lower()}"
