"""The output of a command: kept as a whole, and shown line by line while it runs."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from enum import Enum
from typing import TYPE_CHECKING

import grpc

from airgap.plugins.protocol import Log, PluginError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping


class Stream(Enum):
    """Where a program writes to."""

    STDOUT = "stdout"
    STDERR = "stderr"


_BOTH = frozenset(Stream)
_SHOWN: Mapping[str, frozenset[Stream]] = {
    "stdout": frozenset({Stream.STDOUT}),
    "stderr": frozenset({Stream.STDERR}),
    "stdoutAndStderr": _BOTH,
}


class Capture:
    """Takes what a command writes."""

    def __init__(self, log: Log, logging: str | None) -> None:
        self._log = log
        self._shown = _BOTH if logging is None else _SHOWN.get(logging, frozenset())
        self._everything = bytearray()
        self._streams = {stream: bytearray() for stream in Stream}
        self._unfinished = {stream: bytearray() for stream in Stream}
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()

    def feed(self, stream: Stream, data: bytes) -> None:
        """Take a piece of output, in the order of arrival."""
        self._everything += data
        self._streams[stream] += data
        if stream not in self._shown:
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._lines.put_nowait(bytes(self._unfinished[stream] + line).removesuffix(b"\r"))
            self._unfinished[stream].clear()
        self._unfinished[stream] += rest

    @asynccontextmanager
    async def shown(self) -> AsyncIterator[None]:
        """Show lines as they become complete; at the end, wait until all of them are shown."""
        pump = asyncio.create_task(self._pump())
        try:
            yield
        finally:
            for rest in self._unfinished.values():
                if rest:
                    self._lines.put_nowait(bytes(rest))
            self._lines.put_nowait(None)
            await pump

    async def _pump(self) -> None:
        while (line := await self._lines.get()) is not None:
            await self._log.status(line.decode(errors="replace"))

    def text(self, stream: Stream) -> str:
        """Return what a stream got, without the last line's end."""
        try:
            return self._streams[stream].decode().removesuffix("\n")
        except UnicodeDecodeError as error:
            text = f"{stream.value} contains invalid UTF-8"
            raise PluginError(text, grpc.StatusCode.INTERNAL) from error

    def everything(self) -> str:
        """Return both streams as one, for people."""
        return self._everything.decode(errors="replace")
