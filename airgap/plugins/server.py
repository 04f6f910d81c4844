"""A plugin as a process: a port for the engine to call, and the engine's log to call back."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING

import grpc
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2_grpc

from airgap.plugins.servicer import Servicer

if TYPE_CHECKING:
    from airgap.plugins.protocol import Plugin

# The engine's own limit; gRPC's default of 4 MB is too little for a large output.
_MAX_MESSAGE_BYTES = 400 * 1024 * 1024
_OPTIONS = [
    ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
]


# No portable call waits for another process's child to lose its parent.
_PARENT_SECONDS = 1.0


async def start(plugin: Plugin, engine_address: str | None) -> tuple[grpc.aio.Server, int]:
    """Serve the plugin on a free port of this computer, and return the port."""
    engine: engine_pb2_grpc.EngineAsyncStub | None = None
    if engine_address:
        channel = grpc.aio.insecure_channel(engine_address, options=_OPTIONS)
        # The generated types know only the blocking stub's constructor.
        engine = engine_pb2_grpc.EngineStub(channel)  # type: ignore[assignment]
    server = grpc.aio.server(options=_OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(plugin, engine), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port


async def serve(plugin: Plugin, engine_address: str | None) -> None:
    """Serve the plugin, and tell the engine where: by the first line of output."""
    engine = os.getppid()  # asked first: an engine that dies as soon as it has the port is noticed
    server, port = await start(plugin, engine_address)
    print(port, flush=True)
    await _outlived(engine)
    await server.stop(None)


async def _outlived(parent: int) -> None:
    """Return when the engine is gone: one that was killed has ended none of its plugins."""
    while os.getppid() == parent:  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(_PARENT_SECONDS)
