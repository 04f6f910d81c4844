"""Simulated clouds, as the plugins of Pulumi and as what happens to them.

python -m tests.clouds plugin aws|gcp|azure-native [ENGINE]   serve the plugin
python -m tests.clouds mishap CLOUD VERB ID                   such as: terminate i-0123
python -m tests.clouds realise CLOUD                          make what the account says
python -m tests.clouds list CLOUD                             what the account has
python -m tests.clouds env STACK                              shell exports for its stack
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from airgap.plugins.lean import leave_out_the_sdk
from tests.clouds.core import sdk
from tests.clouds.core.account import opened
from tests.clouds.core.computer import realise

if TYPE_CHECKING:
    from tests.clouds.core.cloud import Cloud

PACKAGES = {"aws": "aws", "gcp": "gcp", "azure-native": "azure"}


def cloud_of(name: str) -> Cloud:
    """The cloud by its plugin's name."""
    found: Cloud = import_module(f"tests.clouds.{PACKAGES[name]}").CLOUD
    return found


def serve(cloud: Cloud, engine: str | None) -> None:
    """Be the cloud's plugin until the engine ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if all(sdk.is_kept(kind.sdk) for kind in cloud.kinds):
        leave_out_the_sdk()
    server = import_module("airgap.plugins.server")
    plugin = import_module("tests.clouds.core.plugin").plugin(cloud)
    asyncio.run(server.serve(plugin, engine))


def main(arguments: list[str]) -> int:
    """Entry point."""
    match arguments:
        case ["plugin", name, *engine]:
            serve(cloud_of(name), engine[0] if engine else None)
        case ["mishap", name, verb, identity]:
            cloud = cloud_of(name)
            with opened(name) as account:
                cloud.mishaps[verb](account, identity)
                realise(cloud, account)
        case ["realise", name]:
            with opened(name) as account:
                realise(cloud_of(name), account)
        case ["list", name]:
            with opened(name) as account:
                for thing in account.things.values():
                    print(thing.token, thing.id, json.dumps(thing.inputs))
        case ["env", stack]:
            # Only here: the validation of configs takes most of a second to load.
            print(import_module("tests.clouds.environment").exports(stack))
        case _:
            print(__doc__, file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
