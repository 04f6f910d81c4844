"""Plugins behind a real gRPC channel, an engine that remembers its log, and a real sshd."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
from airgap.plugins.command import PLUGIN as COMMAND
from airgap.plugins.server import start
from airgap.plugins.tls import PLUGIN as TLS
from airgap.plugins.values import decode_struct, encode_struct
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2, provider_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator

    from airgap.plugins.protocol import Plugin
    from airgap.plugins.values import Properties

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin") or ""


class Engine(engine_pb2_grpc.EngineServicer):
    """Takes the plugins' log messages."""

    def __init__(self) -> None:
        self.messages: list[tuple[float, engine_pb2.LogRequest]] = []

    def Log(self, request, context):
        self.messages.append((time.monotonic(), request))
        return empty_pb2.Empty()


@dataclass
class Client:
    """Calls one plugin as the engine does, for a resource named foo."""

    stub: provider_pb2_grpc.ResourceProviderStub
    engine: Engine
    token: str = ""
    name: str = "foo"
    calls: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8))

    @property
    def urn(self) -> str:
        return f"urn:pulumi:dev::project::parent:x:Y${self.token}::{self.name}"

    @property
    def logs(self) -> list[str]:
        return [message.message for _, message in self.engine.messages]

    @property
    def messages(self) -> list[engine_pb2.LogRequest]:
        return [message for _, message in self.engine.messages]

    def check(self, inputs: Properties) -> tuple[Properties, list[tuple[str, str]]]:
        answer = self.stub.Check(
            provider_pb2.CheckRequest(urn=self.urn, news=encode_struct(inputs))
        )
        failures = [(failure.property, failure.reason) for failure in answer.failures]
        return decode_struct(answer.inputs), failures

    def diff(self, old: Properties, new: Properties, state: Properties | None = None, ignore=()):
        return self.stub.Diff(
            provider_pb2.DiffRequest(
                urn=self.urn,
                id="id",
                olds=encode_struct(old if state is None else state),
                old_inputs=encode_struct(old),
                news=encode_struct(new),
                ignoreChanges=ignore,
            )
        )

    def create(
        self, inputs: Properties, *, preview: bool = False, timeout: float = 0
    ) -> tuple[str, Properties]:
        answer = self.stub.Create(
            provider_pb2.CreateRequest(
                urn=self.urn, properties=encode_struct(inputs), preview=preview, timeout=timeout
            )
        )
        return answer.id, decode_struct(answer.properties)

    def update(self, state: Properties, inputs: Properties, *, preview: bool = False) -> Properties:
        answer = self.stub.Update(
            provider_pb2.UpdateRequest(
                urn=self.urn,
                id="id",
                olds=encode_struct(state),
                news=encode_struct(inputs),
                preview=preview,
            )
        )
        return decode_struct(answer.properties)

    def read(self, state: Properties, inputs: Properties | None = None) -> Properties:
        request = provider_pb2.ReadRequest(
            urn=self.urn,
            id="id",
            properties=encode_struct(state),
            inputs=encode_struct(inputs or {}),
        )
        answer = self.stub.Read(request)
        assert answer.id == "id"
        assert answer.inputs == request.inputs
        return decode_struct(answer.properties)

    def delete(self, state: Properties) -> None:
        self.stub.Delete(
            provider_pb2.DeleteRequest(urn=self.urn, id="id", properties=encode_struct(state))
        )

    def failure(self, call, *arguments, **options) -> tuple[grpc.StatusCode, str]:
        with pytest.raises(grpc.RpcError) as caught:
            call(*arguments, **options)
        return caught.value.code(), caught.value.details()


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


def client_of(plugin: Plugin, engine: tuple[Engine, str], loop) -> Iterator[Client]:
    log, address = engine
    started = asyncio.run_coroutine_threadsafe(start(plugin, address), loop)
    server, port = started.result(10)
    # Failures carry the whole output of a command in a header.
    options = [("grpc.max_metadata_size", 1 << 24), ("grpc.absolute_max_metadata_size", 1 << 24)]
    with grpc.insecure_channel(f"127.0.0.1:{port}", options=options) as channel:
        yield Client(provider_pb2_grpc.ResourceProviderStub(channel), log)
    asyncio.run_coroutine_threadsafe(server.stop(0), loop).result(10)


@pytest.fixture
def tls(engine, loop) -> Iterator[Client]:
    yield from client_of(TLS, engine, loop)


@pytest.fixture
def command(engine, loop) -> Iterator[Client]:
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


# --- sshd


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@dataclass
class Sshd:
    port: int
    folder: Path

    def key(self, name: str) -> str:
        return (self.folder / name).read_text()

    def connection(self, **changes: object) -> Properties:
        import getpass

        return {
            "host": "127.0.0.1",
            "port": self.port,
            "user": getpass.getuser(),
            "privateKey": self.key("client"),
            "dialErrorLimit": 0,
            **changes,
        }


def keygen(path: Path, kind: str = "ed25519", *options: str) -> None:
    subprocess.run(
        ["ssh-keygen", "-q", "-t", kind, "-N", "", *options, "-f", str(path)], check=True
    )


@pytest.fixture(scope="session")
def sshd(tmp_path_factory) -> Iterator[Sshd]:
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
