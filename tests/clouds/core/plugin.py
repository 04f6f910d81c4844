"""A simulated cloud as a plugin, for the engine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import grpc

from airgap.plugins.protocol import Function, Plugin, PluginError
from tests.clouds.core.account import Inputs
from tests.clouds.core.computer import realise
from tests.clouds.core.kind import CloudError, Invoke
from tests.clouds.core.resource import SimulatedType, bare

if TYPE_CHECKING:
    from airgap.plugins.values import Properties
    from tests.clouds.core.cloud import Cloud


def plugin(cloud: Cloud) -> Plugin:
    """The cloud as the engine knows it."""
    settings: Inputs = {}

    def configure(given: Properties) -> None:
        settings.update(bare(given))

    return Plugin(
        name=cloud.name,
        version=cloud.version,
        types={
            kind.token: SimulatedType(
                cloud, kind, settings, lambda account: realise(cloud, account)
            )
            for kind in cloud.kinds
        },
        functions={
            token: _function(cloud, invoke, settings) for token, invoke in cloud.functions.items()
        },
        configure=configure,
        unknown_type_code=grpc.StatusCode.NOT_FOUND,
        unknown_type_text=f"the simulated {cloud.name} has no {{token}}",
    )


def _function(cloud: Cloud, invoke: Invoke, settings: Inputs) -> Function:
    async def answer(arguments: Properties) -> Properties:
        try:
            found: Any = await asyncio.to_thread(invoke, bare(arguments), settings)
        except CloudError as error:
            raise PluginError(f"simulated {cloud.name}: {error}") from error
        return cast("Properties", found)

    return answer
