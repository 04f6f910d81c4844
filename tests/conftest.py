"""What tests of the resource graph share: a recorder of everything that a program registers.

`record` runs a program against mocks, in an event loop and a context of its own, and hands back
plain data once the program and all of its Outputs are done. Assertions are made on that, never
inside of an `apply`, where a failure or an unknown value would pass unseen.
"""

from __future__ import annotations

import asyncio
import contextvars
import gc
import json
import runpy
import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf.json_format import MessageToDict
from pulumi import Output, runtime
from pulumi.runtime import mocks, settings
from pulumi.runtime.rpc import UNKNOWN
from pulumi.runtime.stack import Stack

from airgap.engine import hear_interrupts
from config import ClusterConfig
from model import Role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pulumi.runtime.proto import resource_pb2

hear_interrupts()  # as a background job, too, or each `pulumi` command takes 5 seconds more
gc.set_threshold(100_000)  # as the program does, and already while three clouds' SDKs are loaded

ROOT = Path(__file__).parent.parent
PROJECT = "kubernetes-anywhere"
STACK = "test"
SECRET_MARK = "4dabf18193072939515e22adb298388d"  # the wire's mark of a secret
SECRET_SIGNATURE = "1b47061264138c4ac30d75fd1eb44270"
TLS = "tls:index"
REMOTE_COMMAND = "command:remote:Command"
LOCAL_COMMAND = "command:local:Command"


@dataclass(frozen=True, kw_only=True)
class Registered:
    """A resource as the engine was asked for it; inputs without their secret wrapping."""

    urn: str
    type: str
    name: str
    custom: bool
    inputs: Mapping[str, Any]
    secrets: frozenset[str]  # the paths of inputs that are secret
    parent: str
    provider: str
    dependencies: frozenset[str]
    deleted_with: str
    protect: bool
    delete_before_replace: bool
    ignore_changes: tuple[str, ...]
    replace_on_changes: tuple[str, ...]
    secret_outputs: frozenset[str]
    timeouts: Mapping[str, str]

    @property
    def text(self) -> str:
        """All inputs as text."""
        return json.dumps(self.inputs, sort_keys=True)


@dataclass(frozen=True)
class Graph:
    """What a program registered, by URN."""

    resources: Mapping[str, Registered]
    secret_exports: Mapping[str, bool]  # of each of the stack's outputs: whether it is secret

    def __iter__(self) -> Iterator[Registered]:
        return iter(self.resources.values())

    def of_type(self, kind: str) -> dict[str, Registered]:
        """The resources of a type, by name."""
        return {item.name: item for item in self if item.type == kind}

    def named(self, kind: str, name: str) -> Registered:
        """The one resource of that type and name."""
        (found,) = [item for item in self if (item.type, item.name) == (kind, name)]
        return found

    def step(self, name: str) -> Registered:
        """A step on a host."""
        return self.named(REMOTE_COMMAND, name)

    def ancestors(self, item: Registered) -> set[str]:
        """The URNs of all that is done before this resource is begun."""
        seen: set[str] = set()
        todo = [item]
        while todo:
            found = todo.pop()
            provider = found.provider.rpartition("::")[0]
            for urn in {*found.dependencies, provider} & self.resources.keys() - seen:
                seen.add(urn)
                todo.append(self.resources[urn])
        return seen

    def before(self, item: Registered) -> set[str]:
        """The names of all steps on hosts that are done before this resource is begun."""
        found = (self.resources[urn] for urn in self.ancestors(item))
        return {item.name for item in found if item.type == REMOTE_COMMAND}


def plain(value: Any, path: str, secrets: set[str]) -> Any:
    """A wire value without secret wrappings; the paths that had one are added to `secrets`."""
    if isinstance(value, dict):
        if value.get(SECRET_MARK) == SECRET_SIGNATURE:
            secrets.add(path)
            return plain(value["value"], path, secrets)
        return {
            key: plain(item, f"{path}.{key}".lstrip("."), secrets) for key, item in value.items()
        }
    if isinstance(value, list):
        return [plain(item, f"{path}[]", secrets) for item in value]
    return value


def registered(urn: str, request: resource_pb2.RegisterResourceRequest) -> Registered:
    """A request to the engine as plain data."""
    secrets: set[str] = set()
    timeouts = request.customTimeouts
    return Registered(
        urn=urn,
        type=request.type,
        name=request.name,
        custom=request.custom,
        inputs=plain(MessageToDict(request.object), "", secrets),
        secrets=frozenset(secrets),
        parent=request.parent,
        provider=request.provider,
        dependencies=frozenset(request.dependencies),
        deleted_with=request.deletedWith,
        protect=request.protect,
        delete_before_replace=request.deleteBeforeReplace,
        ignore_changes=tuple(request.ignoreChanges),
        replace_on_changes=tuple(request.replaceOnChanges),
        secret_outputs=frozenset(request.additionalSecretOutputs),
        timeouts={"create": timeouts.create, "update": timeouts.update, "delete": timeouts.delete},
    )


class Recorder(mocks.MockMonitor):
    """The engine's side: keeps each request whole, options and all."""

    def __init__(self, answers: Answers) -> None:
        super().__init__(answers)
        self.recorded: dict[str, Registered] = {}
        self._lock = threading.Lock()

    def RegisterResource(  # noqa: N802 (the protocol's name)
        self, request: resource_pb2.RegisterResourceRequest
    ) -> resource_pb2.RegisterResourceResponse:
        response: resource_pb2.RegisterResourceResponse
        response = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != "pulumi:pulumi:Stack":
            with self._lock:
                assert response.urn not in self.recorded, f"registered twice: {response.urn}"
                self.recorded[response.urn] = registered(response.urn, request)
        return response


def address(name: str) -> str:
    """A machine's address, which depends on nothing but its name."""
    group, _, index = name.rpartition("-")
    return f"172.30.0.{(10 if group.endswith('-master') else 100) + int(index)}"


def local_answer(inputs: Mapping[str, Any]) -> str:
    """What a verb of `components.local.docker` prints."""
    text = plain(inputs["stdin"], "", set())
    request = json.loads(text) if isinstance(text, str) else {}  # unknown in a preview
    answers: Mapping[str, Callable[[], Mapping[str, object]]] = {
        "create-machine": lambda: {
            "id": f"id-of-{request['name']}",
            "address": address(request["name"]),
            "sshHost": address(request["name"]),
            "sshPort": 22,
        },
        "create-load-balancer": lambda: {
            "address": "172.30.0.2",
            "host": "127.0.0.1",
            "port": 40443,
        },
        "create-mirror": lambda: {"url": "http://172.30.0.3"},
    }
    return json.dumps(answers.get(inputs["create"], dict)())


class Answers(mocks.Mocks):
    """The providers' side: what the real ones compute, made of the resource's name."""

    def __init__(self, is_unknown: Callable[[str], bool]) -> None:
        self._is_unknown = is_unknown

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], list[tuple[str, str]]]:
        raise AssertionError(f"the program asks a provider something while it runs: {args.token}")

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        if self._is_unknown(args.name):
            return "", dict(args.inputs)
        return f"{args.name}-id", {**args.inputs, **self._computed(args)}

    def _computed(self, args: mocks.MockResourceArgs) -> Mapping[str, Any]:
        kind, name = args.typ.rsplit(":", 1)[-1], args.name
        if args.typ == LOCAL_COMMAND:
            return {"stdout": local_answer(args.inputs), "stderr": ""}
        signed = {
            "certPem": f"CERTIFICATE of {name}\n",
            "validityStartTime": "2020-01-01T00:00:00Z",
            "validityEndTime": "2090-01-01T00:00:00Z",
        }
        tables: Mapping[str, Mapping[str, Any]] = {
            "PrivateKey": {
                "privateKeyPem": secret(f"PRIVATE KEY of {name}\n"),
                "privateKeyOpenssh": secret(f"OPENSSH PRIVATE KEY of {name}\n"),
                "publicKeyPem": f"PUBLIC KEY of {name}\n",
                "publicKeyOpenssh": f"ssh-ed25519 {name}\n",
            },
            "CertRequest": {"certRequestPem": f"REQUEST of {name}\n"},
            "LocallySignedCert": signed,
            "SelfSignedCert": signed,
            "Command": {"stdout": "", "stderr": ""},
        }
        return tables.get(kind, {})


def secret(value: str) -> dict[str, str]:
    """A value as the wire has a secret one."""
    return {SECRET_MARK: SECRET_SIGNATURE, "value": value}


def record(
    program: Callable[[], object],
    *,
    preview: bool = False,
    is_unknown: Callable[[str], bool] | None = None,
    answers: Callable[[Callable[[str], bool]], Answers] | None = None,
) -> Graph:
    """Run a program and return what it registered.

    `is_unknown` says of which resources a preview does not know the outputs yet; all, by default.
    `answers` makes the providers' side; by default it knows no cloud.
    """
    providers = (answers or Answers)(is_unknown or (lambda _: preview))
    return contextvars.copy_context().run(lambda: _record(program, providers, preview=preview))


def _record(program: Callable[[], object], answers: Answers, *, preview: bool) -> Graph:
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    recorder = Recorder(answers)
    try:
        mocks.set_mocks(answers, PROJECT, STACK, preview, monitor=recorder)
        mocks.test(lambda: (program(), None)[1])()  # type: ignore[no-untyped-call]
        stack = settings.get_root_resource()
        assert isinstance(stack, Stack)
        exports = {
            name: loop.run_until_complete(Output.from_input(value).is_secret())
            for name, value in stack.outputs.items()
        }
    finally:
        settings.reset_options()
        asyncio.set_event_loop(None)
        loop.close()
    return Graph(recorder.recorded, exports)


def keys(masters: int = 1, nodes: int = 2, **more: Any) -> dict[str, object]:
    """A cluster config object with so many masters, and so many nodes in the pool `node`."""
    return {
        "name": "test",
        "arch": "amd64",
        "mirror": None,
        "masters": {"count": masters},
        "pools": [{"name": "node", "count": nodes}],
        **more,
    }


def cluster(masters: int = 1, nodes: int = 2, **more: Any) -> ClusterConfig:
    """What the program makes of such an object."""
    return ClusterConfig.model_validate_json(json.dumps(keys(masters, nodes, **more)))


def whole(masters: int = 1, nodes: int = 2, **more: Any) -> Callable[[], None]:
    """The real program, for such an object."""

    def program() -> None:
        runtime.set_all_config({f"{PROJECT}:cluster": json.dumps(keys(masters, nodes, **more))})
        runpy.run_path(str(ROOT / "__main__.py"), run_name="__main__")

    return program


@cache
def recorded(masters: int, *, preview: bool) -> Graph:
    """The graph of so many masters and two nodes, recorded once for all who look at it."""
    return record(whole(masters), preview=preview)


@pytest.fixture(scope="session", params=[(1, False), (3, False), (1, True), (3, True)], ids=str)
def graph(request: pytest.FixtureRequest) -> Graph:
    """The graph of 1 + 2 and of 3 + 2 hosts, in an update and in a preview of the first."""
    masters, preview = request.param
    return recorded(masters, preview=preview)


@pytest.fixture(scope="session", params=[1, 3])
def update(request: pytest.FixtureRequest) -> Graph:
    """The graph of 1 + 2 and of 3 + 2 hosts in an update, where every value is known."""
    return recorded(request.param, preview=False)


@pytest.fixture(scope="session")
def small() -> Graph:
    """The graph of one master and two nodes."""
    return recorded(1, preview=False)


@pytest.fixture(scope="session")
def large() -> Graph:
    """The graph of three masters and two nodes."""
    return recorded(3, preview=False)


def names(config: ClusterConfig, role: Role | None = None) -> list[str]:
    """The hosts' names, all or those of a role."""
    return [spec.name for spec in config.hosts if role in (None, spec.role)]


__all__ = ["UNKNOWN", "Graph", "Registered", "cluster", "names", "record", "recorded", "whole"]
