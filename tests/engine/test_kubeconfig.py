"""The real engine and the Kubernetes provider: what a changed kubeconfig does to objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.pki.kubeconfig import with_certificate
from tests.bootstrap.api_server import make_keys
from tests.engine.cli import ROOT, Pulumi

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).parent / "kubeconfig"
COMPONENT = "urn:pulumi:one::kubeconfig::kubernetes-anywhere:addons:Addons"
PROVIDER = f"{COMPONENT}$pulumi:providers:kubernetes::c"


class Stack:
    """A stack whose provider is there, of a cluster that nobody can reach; its object is not."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self._stack = Pulumi(folder, "one", variables, PROGRAM)
        self._stack.environment["PYTHONPATH"] = str(ROOT)

    def configure(self, server: str = "https://192.0.2.1:6443", cluster: str = "c") -> None:
        """Lead to a server, with new certificates each time."""
        keys = make_keys()
        certificate, key = keys.client
        text = with_certificate(
            cluster, server, keys.ca, user="admin", certificate=certificate, key=key
        )
        self._stack.configure({"kubeconfig:text": text, "kubeconfig:cluster": cluster})

    def make_provider(self) -> None:
        """It is asked for nothing and so it needs no cluster."""
        targets = ("--target", f"{COMPONENT}::c", "--target", PROVIDER)
        self._stack.call("up", "--yes", "--skip-preview", *targets)

    def planned(self) -> set[str]:
        """What the next `up` would do to the provider; nothing, if it stays the same."""
        return {step.op for step in self._stack.preview() if step.urn == PROVIDER}


def test_a_renewed_kubeconfig_replaces_no_object(ready: dict[str, str], tmp_path: Path) -> None:
    """C03: the provider is updated, where a replaced one would take every object with it."""
    stack = Stack(tmp_path, ready)
    stack.configure()
    stack.make_provider()
    assert stack.planned() == set()
    for server in ("https://192.0.2.1:6443", "https://api.example.com:6443"):
        stack.configure(server)
        assert stack.planned() == {"update"}
    stack.configure(cluster="another")
    assert "replace" in stack.planned()
