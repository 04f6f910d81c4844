"""The Pulumi engine from source, for computers that cannot fetch it.

Plugins lie in a plugin folder of our own (PULUMI_HOME), each under the version that its SDK asks
for: the engine takes them from there without a word, while what it finds on PATH draws warnings.
"""

from __future__ import annotations

import shlex
import signal
import sys
from importlib import metadata
from pathlib import Path

from airgap import gobuild, paths, progress
from airgap.recipes.engine import (
    ENGINE,
    KUBERNETES_PROVIDER,
    PULUMI,
    PULUMI_VERSION,
    PYTHON_HOST,
)

__all__ = [
    "PULUMI_VERSION",
    "bin_folder",
    "build",
    "hear_interrupts",
    "is_ready",
    "path_folders",
    "pulumi_home",
]

_ROOT = Path(__file__).resolve().parent.parent
STAND_INS = ("tls", "command")  # plugins in Python: airgap/plugins
# Beside the language host, of the CLI's version: the host starts programs with it.
_EXEC = "pulumi-language-python-exec"
_EXEC_IN_MODULE = ("github.com/pulumi/pulumi/sdk/v3", f"v{PULUMI_VERSION}", "python/cmd")
# When an update fails, this older host passes the engine's interrupt on to the program, whose
# traceback would then stand above the real error.
_QUIET = """import argparse
import signal
signal.signal(signal.SIGINT, signal.SIG_DFL)
"""


def bin_folder() -> Path:
    """Where the CLI and its Python host are."""
    return paths.cache() / "engine" / f"{PULUMI_VERSION}-{PULUMI.recipe()}" / "bin"


def pulumi_home() -> Path:
    """What PULUMI_HOME has to be."""
    return paths.cache() / "pulumi-home"


def path_folders(release: str) -> tuple[str, ...]:
    """What comes first on PATH: the engine, and kubectl of a release once its mirror is there."""
    return (str(bin_folder()), str(paths.cache() / "kubectl" / release))


def is_ready() -> bool:
    """Whether everything is built and in its place."""
    programs = [bin_folder() / name for name in ("pulumi", PYTHON_HOST.name, _EXEC)]
    return all(path.exists() for path in (*programs, _provider_file()))


def hear_interrupts() -> None:
    """Let the commands that this process starts be interrupted, where it was told to ignore that.

    A shell that is not interactive has its background jobs ignore SIGINT, and so do their children.
    The engine ends its plugins by it, and waits 5 seconds for those that do not hear it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def build() -> None:
    """Build what is missing and put all in place. Raises BuildError."""
    progress.run([gobuild.step(recipe) for recipe in ENGINE])
    with paths.locked("engine"):
        folder = bin_folder()
        folder.mkdir(parents=True, exist_ok=True)
        for recipe in (PULUMI, PYTHON_HOST):
            paths.place(recipe.program(recipe.name), folder / recipe.name)
        _place_exec(folder / _EXEC)
        paths.place(KUBERNETES_PROVIDER.program(KUBERNETES_PROVIDER.name), _provider_file())
    write_stand_ins()


def write_stand_ins(home: Path | None = None) -> None:
    """Have the engine's plugins be those of this clone: another one may have written them last.

    `home`: a PULUMI_HOME other than ours.
    """
    for name in STAND_INS:
        _write_stand_in(home or pulumi_home(), name)


def plugin_file(home: Path, name: str) -> Path:
    """Where the engine looks for the plugin of an SDK that is installed here."""
    version = metadata.version(f"pulumi-{name}")
    return home / "plugins" / f"resource-{name}-v{version}" / f"pulumi-resource-{name}"


def _provider_file() -> Path:
    return plugin_file(pulumi_home(), "kubernetes")


def _place_exec(target: Path) -> None:
    module, version, folder = _EXEC_IN_MODULE
    text = (gobuild.module_source(module, version) / folder / _EXEC).read_text()
    paths.write(target, text.replace("import argparse\n", _QUIET, 1), mode=0o755)


def _write_stand_in(home: Path, name: str) -> None:
    command = shlex.join([sys.executable, "-m", "airgap.plugins", name])
    text = f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(_ROOT))} exec {command} "$@"\n'
    paths.write(plugin_file(home, name), text, mode=0o755)
