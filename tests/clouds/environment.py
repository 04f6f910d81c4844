"""What makes `make up STACK=aws SIMULATED=1` reach a simulated cloud, as shell exports.

The plugin is put on PATH for these commands only, and stacks, passphrase and kubeconfigs are in a
folder of their own (the Makefile's XDG_STATE_HOME): no stack of a real cloud ever meets a simulated
one, or the other way round.
"""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import yaml

from airgap import paths
from tests.clouds.core.account import FOLDER_VARIABLE
from tests.clouds.core.addresses import here, mirror_url
from validation import CLUSTER_KEY, DEFAULTS_VARIABLE, MIRROR_VARIABLE

ROOT = Path(__file__).parents[2]
# By platform: the plugin, and what its stacks have to say that is nobody's secret here.
PLATFORMS: dict[str, tuple[str, dict[str, str]]] = {
    "aws": ("aws", {"region": "us-east-1"}),
    "gce": ("gcp", {"account": "simulated-project", "region": "us-central1"}),
    "azure": (
        "azure-native",
        {"account": "00000000-0000-0000-0000-000000000001", "region": "eastus"},
    ),
}


def platform_of(stack: str) -> str:
    """The platform that a stack file names. Raises SystemExit if no cloud of it is simulated."""
    document = yaml.safe_load((ROOT / f"Pulumi.{stack}.yaml").read_text())
    platform = str(document["config"][CLUSTER_KEY].get("platform", "local"))
    if platform not in PLATFORMS:
        raise SystemExit(
            f"SIMULATED: there is no simulated {platform}, only {', '.join(PLATFORMS)}"
        )
    return platform


def defaults(platform: str, mirror: str | None) -> dict[str, Any]:
    """What a config needs to know of the simulated cloud."""
    plugin, keys = PLATFORMS[platform]
    address = [f"{here(plugin)}/32"]
    access = {"sshFrom": address, "apiFrom": address}
    found: dict[str, Any] = {**keys, "systemContainers": True, "access": access}
    if mirror:
        found["mirror"] = {"directory": mirror, "url": mirror_url(plugin)}
    return found


def write_plugin(plugin: str, folder: Path) -> Path:
    """Write the program that the engine starts, into a folder that is to come first on PATH."""
    path = folder / f"pulumi-resource-{plugin}"
    program = shlex.join([sys.executable, "-m", "tests.clouds", "plugin", plugin])
    start = f'PYTHONPATH={shlex.quote(str(ROOT))} exec {program} "$@"'
    paths.write(path, f"#!/bin/sh\n# A simulated cloud.\n{start}\n", mode=0o755)
    return folder


def variables(platform: str, folder: Path, mirror: str | None) -> dict[str, str]:
    """The variables, without PATH, for accounts that are kept in `folder`."""
    return {
        FOLDER_VARIABLE: str(folder / "accounts"),
        DEFAULTS_VARIABLE: json.dumps(defaults(platform, mirror)),
    }


def exports(stack: str) -> str:
    """Shell lines for a stack."""
    platform = platform_of(stack)
    folder = paths.state()
    plugins = write_plugin(PLATFORMS[platform][0], folder / "plugins")
    said = variables(platform, folder, os.environ.get(MIRROR_VARIABLE))
    lines = [f"export {name}={shlex.quote(value)}" for name, value in said.items()]
    return "\n".join([f'export PATH={shlex.quote(str(plugins))}:"$PATH"', *lines])
