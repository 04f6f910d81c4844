"""Which official plugins this computer has, and plugin folders that hold one kind or the other."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

import grpc
from google.protobuf.empty_pb2 import Empty
from pulumi.runtime.proto.provider_pb2_grpc import ResourceProviderStub

from airgap import engine

# What is compared; the kubernetes plugin is the same one for both.
NAMES = engine.STAND_INS
_SHARED = ("kubernetes",)
_ANSWER_SECONDS = 30
_OURS = b"airgap.plugins"  # in the few lines that start a stand-in


def wanted(name: str) -> str:
    """The version that the SDK on this computer asks for."""
    return metadata.version(f"pulumi-{name}")


def find(environment: Mapping[str, str]) -> tuple[dict[str, Path], list[str]]:
    """The official plugins by name, and for each that is missing why it is."""
    found: dict[str, Path] = {}
    missing = []
    for name in NAMES:
        reasons = []
        for path in _candidates(name, environment):
            reason = unfit(path, name)
            if not reason:
                found[name] = path
                break
            reasons.append(f"{path} {reason}")
        else:
            install = f"pulumi plugin install resource {name} v{wanted(name)}"
            reasons = reasons or ["neither on PATH nor in a plugin folder"]
            missing.append(f"{name}: {'; '.join(reasons)}. With the internet: `{install}`")
    return found, missing


def homes(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders that the engine may look for plugins in, a person's own among them."""
    given = environment.get("PULUMI_HOME")
    own = Path(environment.get("HOME", "~")).expanduser() / ".pulumi"
    return (*([Path(given)] if given else []), own)


def _candidates(name: str, environment: Mapping[str, str]) -> list[Path]:
    on_path = shutil.which(f"pulumi-resource-{name}", path=environment.get("PATH"))
    places = [engine.plugin_file(home, name) for home in homes(environment)]
    return [*([Path(on_path)] if on_path else []), *(path for path in places if path.exists())]


def unfit(path: Path, name: str) -> str:
    """Why a plugin is not the official one of the SDK's version; empty: it is."""
    with path.open("rb") as file:
        if _OURS in file.read(1024):
            return "is a stand-in of ours"
    version = version_of(path)
    return "" if version == wanted(name) else f"says version {version or 'nothing'}"


def version_of(path: Path) -> str:
    """The version that a plugin says it has, without a leading v; empty if it does not answer."""
    # It takes the engine's address; nobody listens there, and to say a version it needs nobody.
    with subprocess.Popen([path, "127.0.0.1:1"], stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline().strip() if process.stdout else ""
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                answer = ResourceProviderStub(channel).GetPluginInfo(
                    Empty(), timeout=_ANSWER_SECONDS
                )
            return str(answer.version).removeprefix("v")
        except grpc.RpcError:
            return ""
        finally:
            process.kill()


def plugin_home(folder: Path, official: Mapping[str, Path], environment: Mapping[str, str]) -> Path:
    """A PULUMI_HOME in `folder` with these plugins, or with stand-ins where there are none."""
    if official:
        for name, path in official.items():
            _link(path, engine.plugin_file(folder, name))
    else:
        engine.write_stand_ins(folder)
    for name in _SHARED:
        for home in homes(environment):
            path = engine.plugin_file(home, name)
            if path.exists():
                _link(path, engine.plugin_file(folder, name))
                break
    return folder


def _link(path: Path, link: Path) -> None:
    link.parent.mkdir(parents=True)
    link.symlink_to(path.resolve())
