"""A simulated cloud's plugin as a process of its own, as the engine starts it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.clouds.__main__ import PACKAGES, cloud_of
from tests.clouds.core import sdk

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", PACKAGES)
def test_a_plugin_serves_without_the_sdk_once_its_shapes_are_kept(name: str) -> None:
    """Every preview waits for it, and all of pulumi takes as long again."""
    for kind in cloud_of(name).kinds:
        assert sdk.described(kind.sdk)
    plugin = subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "tests.clouds", "plugin", name],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert plugin.stdout is not None
    port = int(plugin.stdout.readline())
    plugin.terminate()
    _, log = plugin.communicate()
    loaded = {line.rpartition("|")[2].strip() for line in log.splitlines()}
    assert 0 < port < 65536
    assert "pulumi.runtime.proto.provider_pb2" in loaded
    assert not loaded & {"pulumi.resource", "pydantic", "pulumi_aws", "pulumi_gcp"}
