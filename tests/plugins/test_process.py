"""The plugins as processes, as the engine starts them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("name", "version"), [("tls", "5.6.2"), ("command", "1.2.1")])
def test_first_line_is_the_port(name: str, version: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}/other"}
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "airgap.plugins", name, "127.0.0.1:1"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=environment,
    ) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        assert time.monotonic() - began < 5
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            stub = provider_pb2_grpc.ResourceProviderStub(channel)
            assert stub.GetPluginInfo(empty_pb2.Empty()).version == version
            if name == "command":
                assert run(stub, "pwd; echo $PYTHONPATH") == f"{tmp_path}\n/other"
        process.terminate()
        assert process.wait(5) < 0


def run(stub: provider_pb2_grpc.ResourceProviderStub, command: str) -> str:
    """Run a command although the engine that should get its log is gone."""
    request = provider_pb2.CreateRequest(urn="urn:pulumi:s::p::command:local:Command::foo")
    request.properties["create"] = command
    return str(stub.Create(request).properties["stdout"])


def test_usage() -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "airgap.plugins", "nope"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.startswith("usage: ")
