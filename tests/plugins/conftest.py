"""Plugins behind a real gRPC channel, an engine that remembers its log, and a real sshd."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
from pulumi.runtime.proto import engine_pb2_grpc, provider_pb2_grpc

from airgap.plugins.command import PLUGIN as COMMAND
from airgap.plugins.server import start
from airgap.plugins.tls import PLUGIN as TLS
from tests.plugins.client import SSHD, Client, Engine, Sshd, free_port, keygen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airgap.plugins.protocol import Plugin


@pytest.fixture(scope="session")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()


@pytest.fixture
def engine() -> Iterator[tuple[Engine, str]]:
    engine = Engine()
    server = grpc.server(ThreadPoolExecutor(4))
    engine_pb2_grpc.add_EngineServicer_to_server(engine, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield engine, f"127.0.0.1:{port}"
    server.stop(0)


def client_of(
    plugin: Plugin, engine: tuple[Engine, str], loop: asyncio.AbstractEventLoop
) -> Iterator[Client]:
    log, address = engine
    started = asyncio.run_coroutine_threadsafe(start(plugin, address), loop)
    server, port = started.result(10)
    # Failures carry the whole output of a command in a header.
    options = [("grpc.max_metadata_size", 1 << 24), ("grpc.absolute_max_metadata_size", 1 << 24)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        yield Client(provider_pb2_grpc.ResourceProviderStub(channel), log)
    asyncio.run_coroutine_threadsafe(server.stop(0), loop).result(10)


@pytest.fixture
def tls(engine: tuple[Engine, str], loop: asyncio.AbstractEventLoop) -> Iterator[Client]:
    yield from client_of(TLS, engine, loop)


@pytest.fixture
def command(engine: tuple[Engine, str], loop: asyncio.AbstractEventLoop) -> Iterator[Client]:
    yield from client_of(COMMAND, engine, loop)


@pytest.fixture
def local(command: Client) -> Client:
    command.token = "command:local:Command"
    return command


@pytest.fixture
def remote(command: Client) -> Client:
    command.token = "command:remote:Command"
    return command


@pytest.fixture
def copy(command: Client) -> Client:
    command.token = "command:remote:CopyToRemote"
    return command


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    if not SSHD:
        pytest.skip("no sshd on this computer")
    folder = tmp_path_factory.mktemp("sshd")
    for name, kind in {"host_ed25519": "ed25519", "host_rsa": "rsa", "client": "ed25519"}.items():
        keygen(folder / name, kind)
    (folder / "authorized_keys").write_text((folder / "client.pub").read_text())
    port = free_port()
    (folder / "config").write_text(
        f"""
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_ed25519
HostKey {folder}/host_rsa
AuthorizedKeysFile {folder}/authorized_keys
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
AcceptEnv ALLOWED_* PULUMI_COMMAND_STDOUT
MaxStartups 100
Subsystem sftp internal-sftp
"""
    )
    # sshd insists on it, and not every distribution makes it before the service first starts.
    Path("/run/sshd").mkdir(parents=True, exist_ok=True)
    process = subprocess.Popen(
        [SSHD, "-D", "-e", "-f", str(folder / "config")],
        stderr=(folder / "log").open("w"),
    )
    for _ in range(100):
        with socket.socket() as sock:
            if sock.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    yield Sshd(port, folder)
    process.terminate()
    process.wait()
