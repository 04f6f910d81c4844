"""What a resource type has to answer, in terms that know nothing of gRPC."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NoReturn, TypeAlias, TypeVar

import grpc
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from airgap.plugins.values import Properties


_T = TypeVar("_T")


class PluginError(Exception):
    """A failure to be shown to the user, with the status code that the engine gets."""

    def __init__(self, message: str, code: grpc.StatusCode = grpc.StatusCode.UNKNOWN) -> None:
        super().__init__(message)
        self.code = code


class Severity(IntEnum):
    """How much a log message matters."""

    DEBUG = engine_pb2.DEBUG
    INFO = engine_pb2.INFO
    WARNING = engine_pb2.WARNING
    ERROR = engine_pb2.ERROR


class Log:
    """The engine's log, as seen by one resource."""

    def __init__(self, engine: engine_pb2_grpc.EngineAsyncStub | None, urn: str) -> None:
        self._engine = engine
        self._urn = urn

    async def write(self, severity: Severity, message: str) -> None:
        """Show a message, and keep it for the summary at the end."""
        await self._send(severity, message, ephemeral=False)

    async def status(self, message: str) -> None:
        """Show a message in the resource's line on the screen, until the next one."""
        await self._send(Severity.INFO, message, ephemeral=True)

    async def _send(self, severity: Severity, message: str, *, ephemeral: bool) -> None:
        if self._engine is None:
            return
        request = engine_pb2.LogRequest(
            severity=engine_pb2.LogSeverity.ValueType(severity),
            message=message,
            urn=self._urn,
            ephemeral=ephemeral,
        )
        try:
            await self._engine.Log(request)
        except grpc.aio.AioRpcError:
            # An engine that no longer listens must not fail the work that is being done.
            return


class Stop:
    """The moment from which a call should give up: its time limit, or the engine's `Cancel`."""

    def __init__(self, cancelled: asyncio.Event, timeout: float = 0) -> None:
        self._cancelled = cancelled
        self._deadline = asyncio.get_running_loop().time() + timeout if timeout else None

    async def wait(self) -> None:
        """Return at that moment."""
        try:
            await asyncio.wait_for(self._cancelled.wait(), self._remaining())
        except TimeoutError:
            return

    async def within(self, work: Awaitable[_T]) -> _T:
        """Do some work, or give it up and fail at that moment."""
        task = asyncio.ensure_future(work)
        moment = asyncio.ensure_future(self.wait())
        try:
            await asyncio.wait({task, moment}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                self._fail()
            return task.result()
        finally:
            task.cancel()
            moment.cancel()

    def check(self) -> None:
        """Fail if the moment has passed."""
        if self._cancelled.is_set() or self._remaining() == 0:
            self._fail()

    def _remaining(self) -> float | None:
        if self._deadline is None:
            return None
        return max(0, self._deadline - asyncio.get_running_loop().time())

    def _fail(self) -> NoReturn:
        if self._cancelled.is_set():
            raise PluginError("context canceled", grpc.StatusCode.CANCELLED)
        raise PluginError("context deadline exceeded", grpc.StatusCode.DEADLINE_EXCEEDED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What the engine tells about a resource; which fields are set depends on the call."""

    urn: str
    log: Log
    stop: Stop
    inputs: Properties = field(default_factory=dict)
    old_inputs: Properties = field(default_factory=dict)
    state: Properties = field(default_factory=dict)
    id: str = ""
    preview: bool = False
    ignore_changes: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        """The name that the program gave to the resource."""
        return self.urn.rsplit("::", 1)[-1]


@dataclass(frozen=True, slots=True)
class Failure:
    """One thing that is wrong with the inputs."""

    reason: str
    property: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """The inputs as they go into the state, and what is wrong with them."""

    inputs: Properties
    failures: Sequence[Failure] = ()


class Kind(IntEnum):
    """What became of a property; each has a form, one higher, for "and so replace"."""

    ADD = 0
    ADD_REPLACE = 1
    DELETE = 2
    DELETE_REPLACE = 3
    UPDATE = 4
    UPDATE_REPLACE = 5

    @property
    def replacing(self) -> Kind:
        """The same change as a reason to replace the resource."""
        return Kind(self | 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """What has changed: top-level names, and property paths where the plugin offers them."""

    diffs: Sequence[str] = ()
    replaces: Sequence[str] = ()
    detailed: Mapping[str, Kind] | None = None


@dataclass(frozen=True, slots=True)
class Created:
    """A resource that now exists, or on a preview would."""

    id: str
    outputs: Properties


class ResourceType(ABC):
    """The life cycle of the resources of one type. Holds no state between calls."""

    @abstractmethod
    async def check(self, call: Call) -> Checked:
        """Validate the inputs and fill in what belongs into them."""

    @abstractmethod
    async def diff(self, call: Call) -> Diff:
        """Compare the inputs with what is there."""

    @abstractmethod
    async def create(self, call: Call) -> Created:
        """Make the resource, or on a preview say what it would be like."""

    @abstractmethod
    async def update(self, call: Call) -> Properties:
        """Change the resource in place, or on a preview say what it would be like."""

    async def read(self, call: Call) -> Properties | None:
        """Return the current state, or None if it is gone. Most of these cannot drift."""
        return call.state

    async def delete(self, call: Call) -> None:  # noqa: B027 - most have nothing to delete
        """Remove the resource."""


Function: TypeAlias = "Callable[[Properties], Awaitable[Properties]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plugin:
    """A plugin: its types, and where its answers differ from the other's."""

    name: str
    version: str
    types: Mapping[str, ResourceType]
    unknown_type_code: grpc.StatusCode
    unknown_type_text: str  # may contain {token}
    accept_outputs: bool = False
    config_keys: frozenset[str] | None = None  # None: anything goes
    functions: Mapping[str, Function] = field(default_factory=dict)
    configure: Callable[[Properties], None] = lambda _settings: None
