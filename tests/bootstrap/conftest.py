from __future__ import annotations

import io
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from bootstrap import api, owned, policy
from tests.bootstrap.api_server import Keys, make_keys, serving
from tests.bootstrap.releasing import URN, Clock, Ran
from tests.bootstrap.sandbox import Sandbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bootstrap.simulated_cluster import SimulatedCluster


@pytest.fixture
def host(tmp_path: Path) -> Sandbox:
    """A host that is a folder."""
    return Sandbox(tmp_path)


@pytest.fixture(scope="session")
def keys() -> Keys:
    """The keys of an API server and of who asks it."""
    return make_keys()


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a verb in this process, with short limits, and without waiting between turns."""
    monkeypatch.setattr(api, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(owned, "time", Clock())
    monkeypatch.setattr(owned, "API_LIMIT_SECONDS", 0.3)
    monkeypatch.setattr(policy, "FORBID_LIMIT_SECONDS", 0.3)

    def run(request: dict[str, Any], verb: str = "release", limit: float = 50) -> Ran:
        monkeypatch.setattr(owned, "RELEASE_LIMIT_SECONDS", limit)
        monkeypatch.setattr(sys, "argv", ["owned", verb])
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps({**request, "urn": URN})))
        began = time.monotonic()
        status = owned.main()
        return Ran(status, *capsys.readouterr(), time.monotonic() - began)

    return run


@pytest.fixture
def release(ask: Any, keys: Keys, tmp_path: Path) -> Any:
    """Runs `release` against a cluster."""

    def run(cluster: SimulatedCluster, verb: str = "release", limit: float = 50) -> Ran:
        with serving(cluster, keys, tmp_path) as request:
            ran: Ran = ask(request, verb, limit)
            return ran

    return run
