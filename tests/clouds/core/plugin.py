"""A simulated cloud as a plugin, for the engine; and its account as machines on this computer."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, cast

import grpc

from airgap.plugins.protocol import Function, Plugin, PluginError
from tests.clouds.core.account import Account, Inputs, folder
from tests.clouds.core.addresses import INTERNET
from tests.clouds.core.kind import CloudError, Invoke
from tests.clouds.core.resource import SimulatedType, bare
from tests.clouds.fabric.apply import apply
from tests.clouds.fabric.place import Place

if TYPE_CHECKING:
    from airgap.plugins.values import Properties
    from tests.clouds.core.cloud import Cloud

MIRROR_VARIABLE = "KUBERNETES_ANYWHERE_MIRROR"
ACCOUNT_ONLY_VARIABLE = "KUBERNETES_ANYWHERE_SIMULATED_ACCOUNT_ONLY"  # no machines: for previews


def place(cloud: Cloud) -> Place:
    """Where the cloud's machines are made."""
    return Place(
        cloud=cloud.name,
        internet=str(INTERNET[cloud.name]),
        mirror_directory=os.environ.get(MIRROR_VARIABLE),
        folder=folder() / cloud.name,
    )


def realise(cloud: Cloud, account: Account) -> None:
    """Make what the account says, on this computer."""
    if ACCOUNT_ONLY_VARIABLE not in os.environ:
        apply(cloud.fabric(account), place(cloud))


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
