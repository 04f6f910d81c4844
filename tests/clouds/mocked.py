"""The program on a cloud whose plugin is mocked by the simulated cloud's own tables.

No engine, no Docker: the tables check the inputs and compute the outputs, in an account in memory.
So a graph test also finds inputs that the SDK or the cloud would refuse.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import pytest
from pulumi.output import Unknown

from airgap.plugins.values import UNKNOWN
from tests.clouds import environment
from tests.clouds.__main__ import PACKAGES, cloud_of
from tests.clouds.bench import cloud_name, kinds
from tests.clouds.core import life
from tests.clouds.core.account import Account, Thing
from tests.clouds.core.kind import CloudError
from tests.conftest import Answers, Graph, Registered, cluster, plain, record, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pulumi.runtime import mocks

    from config import ClusterConfig
    from tests.clouds.fabric.model import Fabric

# What a config has to say for each platform, beside what the test is about.
PLATFORMS: Mapping[str, Mapping[str, Any]] = {
    platform: {"account": "123456789012", **keys}
    for platform, (_, keys) in environment.PLATFORMS.items()
}
ACCESS = {"sshFrom": ["203.0.113.7/32"], "apiFrom": ["203.0.113.0/24"]}


def keys(platform: str, **more: Any) -> dict[str, Any]:
    """A cluster config object that the platform takes."""
    return {"platform": platform, "access": ACCESS, **PLATFORMS[platform], **more}


def known(value: Any) -> Any:
    """A value as a plugin would have it: what is unknown is a mark that says so."""
    if isinstance(value, Unknown):
        return UNKNOWN
    if isinstance(value, dict):
        return {key: known(member) for key, member in value.items()}
    return [known(item) for item in value] if isinstance(value, list) else value


class CloudAnswers(Answers):
    """The providers' side, clouds included."""

    def __init__(self, is_unknown: Callable[[str], bool]) -> None:
        super().__init__(is_unknown)
        self._accounts = {name: Account() for name in PACKAGES}
        self._settings: dict[str, Any] = {}
        self._lock = threading.Lock()

    def account(self, platform: str) -> Account:
        """What was made on a platform."""
        return self._accounts[environment.PLATFORMS[platform][0]]

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        function = cloud_of(cloud_name(args.token)).functions[args.token]
        try:
            return function(dict(args.args), self._settings), []
        except CloudError as error:
            return {}, [("", str(error))]

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ.startswith("pulumi:providers:") and args.typ.rpartition(":")[2] in PACKAGES:
            self._settings.update(args.inputs)
        cloud = cloud_name(args.typ)
        if cloud not in PACKAGES:
            return super().new_resource(args)
        assert args.typ in kinds(cloud), f"the simulated cloud has no {args.typ}"
        kind = kinds(cloud)[args.typ]
        inputs = {
            name: known(value)
            for name, value in plain(dict(args.inputs), "", set()).items()
            if value is not None and not name.startswith("__")
        }
        faults = life.faults(kind, inputs)
        assert faults == [], f"{args.typ} {args.name}: {faults}"
        if self._is_unknown(args.name):
            return "", dict(args.inputs)
        with self._lock:
            thing = life.create(
                kind,
                life.request(self._accounts[cloud], kind, inputs, self._settings, name=args.name),
            )
        return thing.id, {**thing.inputs, **args.inputs, **thing.computed}


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """A run of the program on a simulated account. Tests share it, so nobody changes it."""

    config: ClusterConfig
    graph: Graph
    account: Account

    @cached_property
    def cloud(self) -> list[Registered]:
        """What is the cloud's."""
        return [item for item in self.graph if cloud_name(item.type) in PACKAGES]

    @cached_property
    def fabric(self) -> Fabric:
        """What the account comes to."""
        plugin, _ = environment.PLATFORMS[self.config.platform]
        return cloud_of(plugin).fabric(self.account)

    def named(self, token: str, name: str) -> Thing:
        """The one thing of a type with that name, which may be a tag."""
        (found,) = [
            thing
            for thing in self.account.of(token)
            if name in {thing["name"], (thing["tags"] or {}).get("Name")}
        ]
        return found


def deploy(platform: str, *, preview: bool = False, **more: Any) -> Deployed:
    """The whole program on a cloud, for these keys of the config; run once for all who ask."""
    return _deployed(json.dumps(keys(platform, **more)), preview=preview)


@cache
def _deployed(text: str, *, preview: bool) -> Deployed:
    given = json.loads(text)
    answers = CloudAnswers(lambda _: preview)
    graph = record(whole(**given), preview=preview, answers=lambda _: answers)
    account = answers.account(given["platform"])
    return Deployed(config=cluster(**given), graph=graph, account=account)


def refused(platform: str, **more: Any) -> Exception:
    """What the program fails with, for these keys of the config, before anything is made."""
    answers = CloudAnswers(lambda _: False)
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the test looks at its words
        record(whole(**keys(platform, **more)), answers=lambda _: answers)
    assert answers.account(platform).things == {}
    return caught.value


def record_cloud(platform: str, *, preview: bool = False, **more: Any) -> Graph:
    """What the whole program registers on a cloud, for these keys of the config."""
    return deploy(platform, preview=preview, **more).graph
