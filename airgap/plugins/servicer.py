"""The gRPC face of a plugin: translates requests and answers, decides nothing."""
# ruff: noqa: ARG002, N802 - what handlers are called, and with what, is the protocol's

from __future__ import annotations

import asyncio
import functools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias, TypeVar

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2_grpc, plugin_pb2, provider_pb2, provider_pb2_grpc

from airgap.plugins.protocol import (
    Call,
    Diff,
    Failure,
    Log,
    Plugin,
    PluginError,
    ResourceType,
    Stop,
)
from airgap.plugins.values import decode_struct, encode_struct

Context: TypeAlias = "grpc.aio.ServicerContext[Any, Any]"
_Request = TypeVar("_Request")
_Answer = TypeVar("_Answer")
_Handler: TypeAlias = Callable[["Servicer", _Request, Context], Awaitable[_Answer]]


def _reporting(handler: _Handler[_Request, _Answer]) -> _Handler[_Request, _Answer]:
    """Turn the failures of a handler into gRPC errors; after `Cancel`, answer nothing else."""

    @functools.wraps(handler)
    async def wrapper(self: Servicer, request: _Request, context: Context) -> _Answer:
        try:
            self.refuse_if_cancelled()
            return await handler(self, request, context)
        except PluginError as error:
            await context.abort(error.code, str(error))

    return wrapper


class Servicer(provider_pb2_grpc.ResourceProviderServicer):
    """Serves one plugin. What is not here answers UNIMPLEMENTED, and the engine copes."""

    def __init__(
        self, plugin: Plugin, engine: engine_pb2_grpc.EngineAsyncStub | None = None
    ) -> None:
        self._plugin = plugin
        self._engine = engine
        self._cancelled = asyncio.Event()

    def refuse_if_cancelled(self) -> None:
        """Fail if the engine has said that it is over."""
        if self._cancelled.is_set():
            raise PluginError("the operation was cancelled", grpc.StatusCode.CANCELLED)

    async def GetPluginInfo(
        self, request: empty_pb2.Empty, context: Context
    ) -> plugin_pb2.PluginInfo:
        """Name the version."""
        return plugin_pb2.PluginInfo(version=self._plugin.version)

    async def Attach(self, request: plugin_pb2.PluginAttach, context: Context) -> empty_pb2.Empty:
        """Take note of an engine that attaches to a running plugin."""
        return empty_pb2.Empty()

    async def Cancel(self, request: empty_pb2.Empty, context: Context) -> empty_pb2.Empty:
        """End what runs; the engine also sends this at the end of a deployment that went well."""
        self._cancelled.set()
        return empty_pb2.Empty()

    @_reporting
    async def CheckConfig(
        self, request: provider_pb2.CheckRequest, context: Context
    ) -> provider_pb2.CheckResponse:
        """Validate the provider's own inputs."""
        allowed = self._plugin.config_keys
        surplus = sorted(set(request.news.fields) - allowed) if allowed is not None else []
        name = self._plugin.name
        failures = [
            Failure(f"`{key}` is not a valid configuration key for the {name} provider")
            for key in surplus
        ]
        return provider_pb2.CheckResponse(inputs=request.news, failures=_failures(failures))

    @_reporting
    async def Configure(
        self, request: provider_pb2.ConfigureRequest, context: Context
    ) -> provider_pb2.ConfigureResponse:
        """Take the provider's settings, and say what the engine may send."""
        self._plugin.configure(decode_struct(request.args))
        return provider_pb2.ConfigureResponse(
            acceptSecrets=True,
            supportsPreview=True,
            acceptResources=True,
            acceptOutputs=self._plugin.accept_outputs,
        )

    @_reporting
    async def Check(
        self, request: provider_pb2.CheckRequest, context: Context
    ) -> provider_pb2.CheckResponse:
        """Validate the inputs of a resource."""
        call = self._call(request.urn, inputs=decode_struct(request.news))
        checked = await self._type(request.urn).check(call)
        return provider_pb2.CheckResponse(
            inputs=encode_struct(checked.inputs), failures=_failures(checked.failures)
        )

    @_reporting
    async def Diff(
        self, request: provider_pb2.DiffRequest, context: Context
    ) -> provider_pb2.DiffResponse:
        """Compare."""
        call = self._call(
            request.urn,
            id=request.id,
            inputs=decode_struct(request.news),
            old_inputs=decode_struct(request.old_inputs),
            state=decode_struct(request.olds),
            ignore_changes=frozenset(request.ignoreChanges),
        )
        return _diff(await self._type(request.urn).diff(call))

    @_reporting
    async def Create(
        self, request: provider_pb2.CreateRequest, context: Context
    ) -> provider_pb2.CreateResponse:
        """Create, or preview that."""
        call = self._call(
            request.urn,
            timeout=request.timeout,
            inputs=decode_struct(request.properties),
            preview=request.preview,
        )
        created = await self._type(request.urn).create(call)
        return provider_pb2.CreateResponse(id=created.id, properties=encode_struct(created.outputs))

    @_reporting
    async def Read(
        self, request: provider_pb2.ReadRequest, context: Context
    ) -> provider_pb2.ReadResponse:
        """Read the current state; inputs never change by it."""
        call = self._call(request.urn, id=request.id, state=decode_struct(request.properties))
        outputs = await self._type(request.urn).read(call)
        if outputs is None:
            return provider_pb2.ReadResponse()  # no id: there is no such resource
        return provider_pb2.ReadResponse(
            id=request.id, properties=encode_struct(outputs), inputs=request.inputs
        )

    @_reporting
    async def Update(
        self, request: provider_pb2.UpdateRequest, context: Context
    ) -> provider_pb2.UpdateResponse:
        """Update in place, or preview that."""
        call = self._call(
            request.urn,
            timeout=request.timeout,
            id=request.id,
            inputs=decode_struct(request.news),
            old_inputs=decode_struct(request.old_inputs),
            state=decode_struct(request.olds),
            preview=request.preview,
        )
        outputs = await self._type(request.urn).update(call)
        return provider_pb2.UpdateResponse(properties=encode_struct(outputs))

    @_reporting
    async def Delete(
        self, request: provider_pb2.DeleteRequest, context: Context
    ) -> empty_pb2.Empty:
        """Delete."""
        call = self._call(
            request.urn,
            timeout=request.timeout,
            id=request.id,
            state=decode_struct(request.properties),
            old_inputs=decode_struct(request.old_inputs),
        )
        await self._type(request.urn).delete(call)
        return empty_pb2.Empty()

    @_reporting
    async def Invoke(
        self, request: provider_pb2.InvokeRequest, context: Context
    ) -> provider_pb2.InvokeResponse:
        """Answer a question that is no resource."""
        function = self._plugin.functions.get(request.tok)
        if function is None:
            text = self._plugin.unknown_type_text.format(token=request.tok.partition(":")[2])
            raise PluginError(text, self._plugin.unknown_type_code)
        answer = await function(decode_struct(request.args))
        response = provider_pb2.InvokeResponse()
        getattr(response, "return").CopyFrom(encode_struct(answer))
        return response

    def _call(self, urn: str, *, timeout: float = 0, **details: Any) -> Call:  # noqa: ANN401 - fields of Call
        log = Log(self._engine, urn)
        return Call(urn=urn, log=log, stop=Stop(self._cancelled, timeout), **details)

    def _type(self, urn: str) -> ResourceType:
        # urn:pulumi:stack::project::parent$type::name
        token = urn.split("::")[2].rsplit("$", 1)[-1]
        found = self._plugin.types.get(token)
        if found is None:
            text = self._plugin.unknown_type_text.format(token=token.partition(":")[2])
            raise PluginError(text, self._plugin.unknown_type_code)
        return found


def _failures(failures: Iterable[Failure]) -> list[provider_pb2.CheckFailure]:
    return [
        provider_pb2.CheckFailure(property=failure.property, reason=failure.reason)
        for failure in failures
    ]


def _diff(diff: Diff) -> provider_pb2.DiffResponse:
    answer = provider_pb2.DiffResponse(
        changes=(
            provider_pb2.DiffResponse.DIFF_SOME
            if diff.diffs
            else provider_pb2.DiffResponse.DIFF_NONE
        ),
        diffs=diff.diffs,
        replaces=diff.replaces,
        hasDetailedDiff=diff.detailed is not None,
    )
    for path, kind in (diff.detailed or {}).items():
        answer.detailedDiff[path].kind = provider_pb2.PropertyDiff.Kind.ValueType(kind)
    return answer
