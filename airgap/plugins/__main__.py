"""Entry point: `python -m airgap.plugins tls|command ENGINE_ADDRESS`."""

from __future__ import annotations

import asyncio
import importlib
import os
import signal
import sys
from pathlib import Path

from airgap.plugins.lean import leave_out_the_sdk

_PLUGINS = ("command", "tls")


def main(arguments: list[str]) -> int:
    """Serve the named plugin until the engine ends this process."""
    if not arguments or arguments[0] not in _PLUGINS:
        sys.stderr.write(f"usage: python -m airgap.plugins {'|'.join(_PLUGINS)} [ENGINE]\n")
        return 2
    _forget_own_path()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    leave_out_the_sdk()
    server = importlib.import_module("airgap.plugins.server")
    plugin = importlib.import_module(f"airgap.plugins.{arguments[0]}").PLUGIN
    asyncio.run(server.serve(plugin, arguments[1] if len(arguments) > 1 else None))
    return 0


def _forget_own_path() -> None:
    """Commands inherit this process's environment, but not the path that it was found by."""
    own = Path(__file__).resolve().parents[2]
    paths = os.environ.pop("PYTHONPATH", "").split(os.pathsep)
    others = [path for path in paths if path and Path(path).resolve() != own]
    if others:
        os.environ["PYTHONPATH"] = os.pathsep.join(others)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
