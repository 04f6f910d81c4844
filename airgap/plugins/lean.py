"""Plugins start without the Pulumi SDK, of which they use the protocol's classes only."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def leave_out_the_sdk() -> None:
    """Let `pulumi.runtime.proto` be imported without `pulumi` itself.

    Importing all of it would take half of the time that a plugin needs to start, and every
    `pulumi up` waits for that.
    """
    found = importlib.util.find_spec("pulumi")
    for root in (found.submodule_search_locations or [])[:1] if found else []:
        for name in ("pulumi", "pulumi.runtime"):
            module = ModuleType(name)
            module.__path__ = [str(Path(root, *name.split(".")[1:]))]
            sys.modules[name] = module
