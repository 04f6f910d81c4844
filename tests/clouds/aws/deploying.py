"""The whole program on a simulated account in memory: what it registers, and what comes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests import conftest
from tests.clouds.mocked import CloudAnswers, keys
from tests.conftest import Graph, Registered, cluster, record, whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from pulumi.runtime.proto import resource_pb2

    from config import ClusterConfig
    from tests.clouds.core.account import Account, Thing


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployed:
    """A run of the program."""

    config: ClusterConfig
    graph: Graph
    account: Account
    requests: dict[str, resource_pb2.RegisterResourceRequest]  # as the engine got them, by URN

    def named(self, token: str, name: str) -> Thing:
        """The one thing of a type that carries that name."""
        (found,) = [t for t in self.account.of(token) if (t["tags"] or {}).get("Name") == name]
        return found


def deploy(**more: Any) -> Deployed:
    """Run the program once, for these keys of the config."""
    answers: list[CloudAnswers] = []

    def providers(is_unknown: Callable[[str], bool]) -> CloudAnswers:
        answers.append(CloudAnswers(is_unknown))
        return answers[0]

    requests: dict[str, resource_pb2.RegisterResourceRequest] = {}
    registered, given = conftest.registered, keys("aws", **more)

    def kept(urn: str, request: resource_pb2.RegisterResourceRequest) -> Registered:
        requests[urn] = request
        return registered(urn, request)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conftest, "registered", kept)
        graph = record(whole(**given), answers=providers)
    account = answers[0]._accounts["aws"]
    return Deployed(config=cluster(**given), graph=graph, account=account, requests=requests)
