"""The environment that `make ready` chose, moved away from everything that is a person's."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engine.cli import CLUSTER_KEY, Config, Pulumi, environment

CLUSTER = "engine-test"


@pytest.fixture(scope="session")
def ready(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What plain `pulumi` commands need, for a person who has no cluster and no kubeconfig."""
    folder = tmp_path_factory.mktemp("engine")
    home = folder / "home"
    home.mkdir()
    return {**environment(folder), "HOME": str(home)}


Stacks = Callable[[str, Config], Pulumi]


@pytest.fixture(scope="session")
def stacks(ready: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Stacks:
    """Makes an empty stack of the real program."""

    def make(name: str, cluster: Config) -> Pulumi:
        stack = Pulumi(tmp_path_factory.mktemp(name), name, ready)
        stack.configure({CLUSTER_KEY: {"name": CLUSTER, **cluster}})
        return stack

    return make


class Listener:
    """Counts who connects to it."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._socket.getsockname()[1])
        self.connections = 0
        threading.Thread(target=self._count, daemon=True).start()

    def _count(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return  # closed
            self.connections += 1
            connection.close()

    def close(self) -> None:
        """End it."""
        self._socket.close()


@pytest.fixture
def somebodys_cluster() -> Iterator[Listener]:
    """An API server that is none of our business."""
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture
def somebodys_kubeconfig(somebodys_cluster: Listener, tmp_path: Path) -> Path:
    """A kubeconfig that leads to it."""
    path = tmp_path / "kubeconfig"
    path.write_text(
        f"""\
apiVersion: v1
kind: Config
clusters: [{{name: theirs, cluster: {{server: "https://127.0.0.1:{somebodys_cluster.port}"}}}}]
users: [{{name: them, user: {{token: theirs}}}}]
contexts: [{{name: theirs, context: {{cluster: theirs, user: them}}}}]
current-context: theirs
"""
    )
    return path
