"""Entry point: `python -m airgap.plugins tls|command ENGINE_ADDRESS`."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from airgap.plugins.server import start

if TYPE_CHECKING:
    from airgap.plugins.protocol import Plugin

_PLUGINS = ("command", "tls")


async def _serve(plugin: Plugin, engine_address: str | None) -> None:
    server, port = await start(plugin, engine_address)
    print(port, flush=True)
    await server.wait_for_termination()


def _forget_own_path() -> None:
    """Commands inherit this process's environment, but not the path that it was found by."""
    own = Path(__file__).resolve().parents[2]
    paths = os.environ.pop("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in paths if path and Path(path).resolve() != own]
    if others:
        os.environ["PYTHONPATH"] = os.pathsep.join(others)


def main(arguments: list[str]) -> int:
    """Serve the named plugin until the engine ends this process."""
    if not arguments or arguments[0] not in _PLUGINS:
        print(f"usage: python -m airgap.plugins {'|'.join(_PLUGINS)} [ENGINE]", file=sys.stderr)
        return 2
    _forget_own_path()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Only the plugin that is asked for is imported: start-up is part of every `pulumi up`.
    plugin: Plugin = importlib.import_module(f".{arguments[0]}", __package__).PLUGIN
    asyncio.run(_serve(plugin, arguments[1] if len(arguments) > 1 else None))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
