"""The process side of a plugin: a port for the engine to call, and the engine's log to call back."""

from __future__ import annotations

import grpc
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2_grpc

from .protocol import Plugin
from .servicer import Servicer

# The engine's own limit; gRPC's default of 4 MB is too little for a large output.
_MAX_MESSAGE_BYTES = 400 * 1024 * 1024
_OPTIONS = [
    ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
]


async def start(plugin: Plugin, engine_address: str | None) -> tuple[grpc.aio.Server, int]:
    """Serve the plugin on a free port of this machine, and return the port."""
    engine = None
    if engine_address:
        channel = grpc.aio.insecure_channel(engine_address, options=_OPTIONS)
        engine = engine_pb2_grpc.EngineStub(channel)
    server = grpc.aio.server(options=_OPTIONS)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Servicer(plugin, engine), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    return server, port
