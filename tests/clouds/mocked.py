"""The program on a cloud whose plugin is mocked by the simulated cloud's own tables.

No engine, no Docker: the tables check the inputs and compute the outputs, in an account in memory.
So a graph test also finds inputs that the SDK or the cloud would refuse.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pulumi.output import Unknown

from tests.clouds.__main__ import PACKAGES, cloud_of
from tests.clouds.core import sdk
from tests.clouds.core.account import Account, Thing
from tests.clouds.core.kind import CloudError, Kind, Request
from tests.conftest import UNKNOWN, Answers, Graph, plain, record, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pulumi.runtime import mocks

    from tests.clouds.core.cloud import Cloud

# What a config has to say for each platform, beside what the test is about.
PLATFORMS: Mapping[str, Mapping[str, Any]] = {
    "aws": {"account": "123456789012", "region": "us-east-1"},
    "gce": {"account": "simulated-project", "region": "us-central1"},
    "azure": {"account": "00000000-0000-0000-0000-000000000001", "region": "eastus"},
}
ACCESS = {"sshFrom": ["203.0.113.7/32"], "apiFrom": ["203.0.113.0/24"]}


def keys(platform: str, **more: Any) -> dict[str, Any]:
    """A cluster config object that the platform takes."""
    return {"platform": platform, "access": ACCESS, **PLATFORMS[platform], **more}


def known(value: Any) -> Any:
    """A value as the wire would have it: what is unknown is a text that says so."""
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

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        cloud = self._cloud(args.token)
        try:
            return cloud.functions[args.token](dict(args.args), self._settings), []
        except CloudError as error:
            return {}, [("", str(error))]

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if args.typ.startswith("pulumi:providers:") and args.typ.rpartition(":")[2] in PACKAGES:
            self._settings.update(args.inputs)
        if args.typ.split(":")[0] not in PACKAGES:
            return super().new_resource(args)
        kind = self._kind(args.typ)
        inputs = {
            name: known(value)
            for name, value in plain(dict(args.inputs), "", set()).items()
            if value is not None and not name.startswith("__")
        }
        faults = list(sdk.faults(kind.sdk, inputs, UNKNOWN, kind.open_enums))
        assert faults == [], f"{args.typ} {args.name}: {faults}"
        assert inputs.keys() <= kind.supported, f"{args.name}: {inputs.keys() - kind.supported}"
        if self._is_unknown(args.name):
            return "", dict(args.inputs)
        with self._lock:
            thing = self._made(kind, args.name, inputs)
        return thing.id, {**thing.inputs, **args.inputs, **thing.computed}

    def _made(self, kind: Kind, name: str, inputs: dict[str, Any]) -> Thing:
        account = self._accounts[kind.token.split(":")[0]]
        request = Request(
            account=account,
            id="",
            name=name,
            inputs={**kind.defaults, **inputs},
            old=None,
            settings=self._settings,
        )
        found = [*kind.check(inputs), *kind.rules(request)]
        assert found == [], f"{kind.token} {name}: {found}"
        made = replace(request, id=kind.identify(request))
        assert made.id not in account.things, f"{made.id} is made twice"
        thing = Thing(
            id=made.id, token=kind.token, inputs=made.inputs, computed=kind.computed(made)
        )
        account.things[thing.id] = thing
        return thing

    def _cloud(self, token: str) -> Cloud:
        return cloud_of(token.split(":", maxsplit=1)[0])

    def _kind(self, token: str) -> Kind:
        kinds = {kind.token: kind for kind in self._cloud(token).kinds}
        assert token in kinds, f"the simulated cloud has no {token}"
        return kinds[token]


def record_cloud(platform: str, *, preview: bool = False, **more: Any) -> Graph:
    """What the whole program registers on a cloud, for these keys of the config."""
    program = whole(**keys(platform, **more))
    return record(program, preview=preview, answers=CloudAnswers)
