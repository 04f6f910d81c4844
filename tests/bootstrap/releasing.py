"""Running `bootstrap.owned` in this process: without waiting, and with what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bootstrap.policy import NAME
from tests.bootstrap.simulated_cluster import CORE, cloud_controller, kubelet, protection

if TYPE_CHECKING:
    from tests.bootstrap.simulated_cluster import Controller, SimulatedCluster

URN = "urn:pulumi:prod::kubernetes-anywhere::command:local:Command::c-owned"
FEW = 5  # turns: for what ends with the limit
DEFAULT = f"{CORE}/namespaces/default"
CONTROLLERS: list[Controller] = [cloud_controller, protection, kubelet]


@dataclass(frozen=True)
class Ran:
    status: int
    stdout: str
    stderr: str
    seconds: float


class Clock:
    """Goes on when somebody sleeps, and only then: a limit is a number of turns."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def deletions(cluster: SimulatedCluster) -> list[str]:
    """The paths of all deletions, in their order, without the policy's."""
    return [
        path
        for method, path, _ in cluster.requests
        if method == "DELETE" and not path.endswith(NAME)
    ]
