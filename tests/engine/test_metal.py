"""Hosts that exist already, by the real engine: a preview knows every line, and shows no key."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.components.metal.cases import host, keys, private_key
from tests.engine.conftest import CLUSTER, Stacks

pytestmark = pytest.mark.engine

HOSTS = ("m1", "n1", "n2")
STEPS = {"reachable", "prepare", "identity", "activate"}


def test_a_first_preview_knows_every_line_of_every_host_and_shows_no_key(
    stacks: Stacks, tmp_path: Path
) -> None:
    key = private_key()
    (tmp_path / "key").write_text(key)
    hosts = [host(name, "master" if name == "m1" else "node") for name in HOSTS]
    raw = keys(*hosts, keyFile=str(tmp_path / "key"), user="operator")
    stack = stacks("metal", {**raw, "name": CLUSTER})
    plan = stack.preview()
    steps = plan.names("create", "command:remote:Command")
    assert steps >= {f"{name}-{step}" for name in HOSTS for step in STEPS}
    # Only the gates run here: no container is made, and no cloud is asked.
    here = plan.names("create", "command:local:Command")
    assert here == {f"{CLUSTER}-{name}" for name in ("founders", "api-ready", "cluster-ready")}
    texts = {step.name: step.inputs.get("stdin", "") for step in plan}
    for given in hosts:
        assert f"--node-ip={given['address']}" in texts[f"{given['name']}-activate"]
    shown = "".join(done.output for done in stack.transcript)
    assert f"--node-ip={hosts[0]['address']}" in shown
    assert not [line for line in key.splitlines()[1:-1] if line in shown]
