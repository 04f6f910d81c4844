"""A client that calls a plugin as the engine does, and an sshd for the plugin to call."""

from __future__ import annotations

import getpass
import shutil
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2, provider_pb2_grpc

from airgap.plugins.values import decode_struct, encode_struct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


# What a test looks into is known to the test, not to the type checker.
Inputs: TypeAlias = "dict[str, Any]"

SSHD = shutil.which("sshd", path="/usr/sbin:/usr/local/sbin") or ""


class Engine(engine_pb2_grpc.EngineServicer):
    """Takes the plugins' log messages."""

    def __init__(self) -> None:
        self.messages: list[tuple[float, engine_pb2.LogRequest]] = []

    def Log(  # noqa: N802 - the protocol's name
        self, request: engine_pb2.LogRequest, _context: object
    ) -> empty_pb2.Empty:
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

    def check(self, inputs: Inputs) -> tuple[Inputs, list[tuple[str, str]]]:
        answer = self.stub.Check(
            provider_pb2.CheckRequest(urn=self.urn, news=encode_struct(inputs))
        )
        failures = [(failure.property, failure.reason) for failure in answer.failures]
        return decode_struct(answer.inputs), failures

    def diff(
        self,
        old: Inputs,
        new: Inputs,
        state: Inputs | None = None,
        ignore: Sequence[str] = (),
    ) -> provider_pb2.DiffResponse:
        answer: provider_pb2.DiffResponse = self.stub.Diff(
            provider_pb2.DiffRequest(
                urn=self.urn,
                id="id",
                olds=encode_struct(old if state is None else state),
                old_inputs=encode_struct(old),
                news=encode_struct(new),
                ignoreChanges=ignore,
            )
        )
        return answer

    def create(
        self, inputs: Inputs, *, preview: bool = False, timeout: float = 0
    ) -> tuple[str, Inputs]:
        answer = self.stub.Create(
            provider_pb2.CreateRequest(
                urn=self.urn, properties=encode_struct(inputs), preview=preview, timeout=timeout
            )
        )
        return answer.id, decode_struct(answer.properties)

    def update(self, state: Inputs, inputs: Inputs, *, preview: bool = False) -> Inputs:
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

    def read(self, state: Inputs, inputs: Inputs | None = None) -> Inputs:
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

    def delete(self, state: Inputs) -> None:
        self.stub.Delete(
            provider_pb2.DeleteRequest(urn=self.urn, id="id", properties=encode_struct(state))
        )

    def failure(
        self, call: Callable[..., object], *arguments: object, **options: object
    ) -> tuple[grpc.StatusCode, str]:
        with pytest.raises(grpc.RpcError) as caught:
            call(*arguments, **options)
        return caught.value.code(), caught.value.details() or ""


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


@dataclass
class Sshd:
    port: int
    folder: Path

    def key(self, name: str) -> str:
        return (self.folder / name).read_text()

    def connection(self, **changes: object) -> Inputs:
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
