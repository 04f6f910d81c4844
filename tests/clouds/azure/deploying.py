"""The whole program on a simulated account in memory: what it registers, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests import conftest
from tests.clouds.mocked import CloudAnswers, keys
from tests.conftest import Graph, Registered, cluster, record, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pulumi.runtime.proto import resource_pb2

    from config import ClusterConfig
    from tests.clouds.core.account import Account, Thing


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """A run of the program."""

    config: ClusterConfig
    graph: Graph
    account: Account
    requests: Mapping[str, resource_pb2.RegisterResourceRequest]  # by URN, options and all

    @property
    def azure(self) -> list[Registered]:
        """What is Azure's."""
        return [item for item in self.graph if item.type.startswith("azure-native:")]

    def named(self, token: str, name: str) -> Thing:
        """The one thing of a type and a name."""
        (found,) = self.account.find(token, "name", name)
        return found


def deploy(**more: Any) -> Deployed:
    """Run the program once, for these keys of the config."""
    answers: list[CloudAnswers] = []
    requests: dict[str, resource_pb2.RegisterResourceRequest] = {}
    registered = conftest.registered

    def providers(is_unknown: Callable[[str], bool]) -> CloudAnswers:
        answers.append(CloudAnswers(is_unknown))
        return answers[0]

    def kept(urn: str, request: resource_pb2.RegisterResourceRequest) -> Registered:
        requests[urn] = request
        return registered(urn, request)

    given = keys("azure", **more)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conftest, "registered", kept)
        graph = record(whole(**given), answers=providers)
    account = answers[0]._accounts["azure-native"]
    return Deployed(config=cluster(**given), graph=graph, account=account, requests=requests)
