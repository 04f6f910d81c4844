"""The real engine and the Kubernetes provider: what a changed kubeconfig does to objects."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from components.pki.kubeconfig import with_certificate
from tests.bootstrap.api_server import make_keys
from tests.engine.cli import ROOT, Pulumi

pytestmark = pytest.mark.engine

PROGRAM = Path(__file__).parent / "kubeconfig"
COMPONENT = "kubernetes-anywhere:addons:Addons"
PROVIDER = f"{COMPONENT}$pulumi:providers:kubernetes::c"
KEY = "tls:index/privateKey:PrivateKey::admin"


class Stack:
    """A stack whose provider is there, of a cluster that nobody can reach; its object is not."""

    def __init__(self, name: str, folder: Path, variables: dict[str, str]) -> None:
        self._folder, self._urns = folder, f"urn:pulumi:{name}::kubeconfig::"
        self._stack = Pulumi(folder, name, variables, PROGRAM)
        self._stack.environment["PYTHONPATH"] = str(ROOT)

    def configure(
        self,
        server: str = "https://192.0.2.1:6443",
        cluster: str = "c",
        algorithm: str = "ED25519",
    ) -> None:
        """Lead to a server, with new certificates each time; another algorithm is another key."""
        keys = make_keys()
        certificate, key = keys.client
        text = with_certificate(
            cluster, server, keys.ca, user="admin", certificate=certificate, key=key
        )
        said = {"text": text, "cluster": cluster, "algorithm": algorithm}
        self._stack.configure({f"kubeconfig:{key}": value for key, value in said.items()})

    def make_provider(self) -> None:
        """It is asked for nothing and so it needs no cluster."""
        made = (f"{COMPONENT}::c", PROVIDER, KEY)
        targets = [f"--target={self._urns}{name}" for name in made]
        self._stack.call("up", "--yes", "--skip-preview", *targets)

    def make_object(self) -> None:
        """As an earlier run would have; there is no cluster that it could be made in."""
        (planned,) = [
            step
            for step in json.loads(self._stack.call("preview", "--json").stdout)["steps"]
            if step["op"] == "create"
        ]
        state = self._stack.secrets()
        state["deployment"]["resources"].append({**planned["newState"], "id": "default/kept"})
        file = self._folder / "state.json"
        file.write_text(json.dumps(state))
        self._stack.state("stack", "import", "--file", str(file))

    def changed(self) -> set[str]:
        """What the next `up` would do to anything."""
        plan = self._stack.preview()
        return {f"{op} {name}" for op, name in plan.changed()}

    def planned(self) -> set[str]:
        """What the next `up` would do to the provider; nothing, if it stays the same."""
        return {step.op for step in self._stack.preview() if step.urn == f"{self._urns}{PROVIDER}"}


def test_a_renewed_kubeconfig_replaces_no_object(ready: dict[str, str], tmp_path: Path) -> None:
    """C03: the provider is updated, where a replaced one would take every object with it."""
    stack = Stack("one", tmp_path, ready)
    stack.configure()
    stack.make_provider()
    assert stack.planned() == set()
    for server in ("https://192.0.2.1:6443", "https://api.example.com:6443"):
        stack.configure(server)
        assert stack.planned() == {"update"}
    stack.configure(cluster="another")
    assert "replace" in stack.planned()


def test_a_kubeconfig_that_a_preview_does_not_know_replaces_no_object(
    ready: dict[str, str], tmp_path: Path
) -> None:
    """C03: as when the operator's certificate is about to be renewed.

    Without it the provider cannot ask, so that the engine has each object for one that may change.
    """
    stack = Stack("later", tmp_path, ready)
    stack.configure()
    stack.make_provider()
    stack.make_object()
    stack.configure(algorithm="ECDSA")
    assert stack.changed() == {"update c", "replace admin", "update default/kept"}
