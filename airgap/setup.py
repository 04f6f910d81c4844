"""Finds out what this computer has, gets what is missing, and says what it chose.

    python -m airgap.setup prepare STACK   engine, plugins, Docker, machine image, mirror
    python -m airgap.setup env             shell exports, so that plain `pulumi` commands work
    python -m airgap.setup summary STACK   nodes, where the kubeconfig is, what to try next
    python -m airgap.setup forget STACK    removes what `summary` and the runs left

Two ways lead to the same program: with the internet, the official engine, plugins and images;
without it, all of them built from source through package registries.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shlex
import socket
import subprocess
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import components
from airgap import engine, mirror, paths
from airgap.official import official_engine, official_kubectl
from config import ClusterConfig
from configdoc import stack_file
from validation import MIRROR_VARIABLE, ConfigError, parse, with_environment

PROBE = ("registry.k8s.io", 443)  # whoever reaches the images reaches the rest, too
PROBE_SECONDS = 3.0
INTERNET = "KUBERNETES_ANYWHERE_INTERNET"  # yes or no, instead of asking the network
ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What `prepare` chose for this computer; kept so that `env` gives the same answer."""

    path: tuple[str, ...]  # folders that come first on PATH
    environment: dict[str, str]


def has_internet() -> bool:
    """Whether image registries are reached; one connection, no request."""
    said = os.environ.get(INTERNET)
    if said:
        return said == "yes"
    try:
        socket.create_connection(PROBE, timeout=PROBE_SECONDS).close()
    except OSError:
        return False
    return True


def stack_config(stack: str) -> ClusterConfig:
    """The cluster config of a stack file. Raises ConfigError."""
    return parse(with_environment(stack_file(ROOT / f"Pulumi.{stack}.yaml"), os.environ))


def install_sdk(config: ClusterConfig) -> None:
    """Install what the platform's package imports, if that is in a group of its own."""
    group = components.dependency_group(config)
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    done, lock = ROOT / f".venv/{group}", ROOT / "uv.lock"
    if group in groups and not (done.exists() and done.stat().st_mtime > lock.stat().st_mtime):
        # Compiled now: to do that in a first preview would take most of its time.
        sync = ("sync", "--quiet", "--frozen", "--inexact", "--compile-bytecode", "--group", group)
        environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": ".venv"}
        subprocess.run([".venv/bin/uv", *sync], cwd=ROOT, env=environment, check=True)
        done.touch()


def passphrase_file() -> Path:
    """Where the passphrase of local stacks is kept; made on first use, for this user only."""
    path = paths.state() / "passphrase"
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(32))
    return path


def temporary_folder() -> Path:
    """Where pulumi and its plugins put temporary files, for this user only.

    The kubernetes provider writes an administrator's kubeconfig there in each run and leaves it.
    """
    path = paths.state() / "tmp"
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def forget_temporary() -> None:
    """Remove what the provider left; it reads them again for Helm only."""
    for path in temporary_folder().glob("kubeconfig*"):
        path.unlink(missing_ok=True)


def backend() -> dict[str, str]:
    """Where stacks are kept: what the user has set, else files of this user."""
    if "PULUMI_BACKEND_URL" in os.environ:
        return {}
    stacks = paths.state() / "stacks"
    stacks.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "PULUMI_BACKEND_URL": f"file://{stacks}",
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase_file()),
    }


def run_all(*chains: tuple[tuple[str, ...], ...]) -> None:
    """Run chains of `python -m` commands side by side, each chain in order.

    Raises CalledProcessError.
    """

    def run(chain: tuple[tuple[str, ...], ...]) -> None:
        for command in chain:
            subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=True)

    with ThreadPoolExecutor(len(chains)) as pool:
        for done in [pool.submit(run, chain) for chain in chains]:
            done.result()


def prepare(stack: str, *, mirrored: bool) -> Choice:
    """Get all that the stack needs, and say which way was chosen.

    `mirrored`: its machines reach no registry, so a mirror is filled with the internet, too.
    """
    config = stack_config(stack)
    release = config.kubernetes_version
    install_sdk(config)
    fill = ("airgap", "mirror", "--release", release)
    # A simulated cloud's machines are containers, too.
    needs_docker = components.needs_docker(config) or mirrored
    docker = (("airgap.docker",), ("components.local.image.build",)) if needs_docker else ()
    if has_internet():
        print("internet: reached - official Pulumi, plugins and images", flush=True)
        run_all(docker, (fill,) if mirrored else ())
        return Choice(
            path=(*official_engine(), *official_kubectl(release)),
            environment={MIRROR_VARIABLE: str(mirror.folder(release))} if mirrored else {},
        )
    print(
        "internet: not reached - engine, plugins and images are built from source through package "
        "registries; what was built before is reused",
        flush=True,
    )
    if os.geteuid() != 0 or not Path("/etc/debian_version").exists():
        raise SystemExit(
            "without the internet images are made from Debian packages, which only root on Debian "
            "can do: run this there, or where registry.k8s.io is reached"
        )
    run_all((("airgap", "engine"), fill), docker)
    return Choice(
        path=engine.path_folders(release),
        environment={
            "PULUMI_HOME": str(engine.pulumi_home()),
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            MIRROR_VARIABLE: str(mirror.folder(release)),
        },
    )


def _choice_file() -> Path:
    return paths.state() / "choice.json"


def exports() -> str:
    """Shell lines that make plain `pulumi` commands work the way that `prepare` chose."""
    if not _choice_file().exists():
        raise SystemExit("run `make ready` first: nothing has been chosen for this computer yet")
    saved = json.loads(_choice_file().read_text())
    if "PULUMI_HOME" in saved["environment"]:
        engine.write_stand_ins()
    folders = [str(ROOT / ".venv" / "bin"), *saved["path"]]
    variables = {
        **backend(),
        **saved["environment"],
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "TMPDIR": str(temporary_folder()),
        # Steps wait more than they work: on few cores, too, as many as the engine allows on four.
        "PULUMI_PARALLEL": os.environ.get("PULUMI_PARALLEL", "16"),
        # An Output in an f-string is a mistake, not a warning.
        "PULUMI_ERROR_OUTPUT_STRING": "1",
    }
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    path = f'export PATH={shlex.quote(":".join(folders))}:"$PATH"'
    # It would win over the file that the stacks' passphrase is in.
    return "\n".join([path, *(["unset PULUMI_CONFIG_PASSPHRASE"] if backend() else []), *lines])


def kubeconfig_file(stack: str) -> Path:
    """Where `make up` leaves the kubeconfig of a stack."""
    return paths.state() / f"{stack}.kubeconfig"


def summary(stack: str, variables: str) -> None:
    """Write the kubeconfig and print what a person wants to know next.

    `variables`: what was said to `make`, such as `STACK=aws`.
    """
    forget_temporary()
    shown = subprocess.run(
        ["pulumi", "stack", "output", "--stack", stack, "--json", "--show-secrets"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    outputs = json.loads(shown.stdout)
    path = kubeconfig_file(stack)
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(outputs["kubeconfig"])
    print(f"\n{outputs['health']}")
    for node in outputs["nodes"]:
        print(f"  {node['name']:<32} {node['role']:<7} {node['address']}")
    print(f"\nAPI          {outputs['apiEndpoint']}\nkubeconfig   {path}")
    print(f"certificates {validity(outputs['certificates'], datetime.now(UTC))}")
    print("\nTry:")
    command = " ".join(("make -s env", *variables.split()))
    print(f'  eval "$({command})"          # pulumi, kubectl and their settings for this shell')
    print(f"  export KUBECONFIG={path}")
    print("  kubectl get nodes -o wide")
    print(f"  pulumi preview --diff --stack {stack}   # after a change in Pulumi.{stack}.yaml")


def validity(ends: dict[str, dict[str, str]], now: datetime) -> str:
    """How long certificates are still valid, in words, of the stack's output."""
    days = {kind: (datetime.fromisoformat(end["expires"]) - now).days for kind, end in ends.items()}
    return f"valid for {days['leaves']} days, CAs for {days['authorities']}"


def forget(stack: str) -> None:
    """Remove what `summary`, the runs and the making of the stack left on this computer."""
    forget_temporary()
    kubeconfig_file(stack).unlink(missing_ok=True)
    file = ROOT / f"Pulumi.{stack}.yaml"
    text = file.read_text() if file.exists() else ""
    if "secure:" not in text:  # the salt of a stack that is no more is of no use to the next one
        kept = re.sub(r"(?m)^encryptionsalt:.*\n?", "", text)
        if kept != text:
            file.write_text(kept)


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m airgap.setup", description=__doc__)
    parser.add_argument("verb", choices=("prepare", "env", "summary", "forget"))
    parser.add_argument("stack", nargs="?", default="local")
    parser.add_argument("--make", default="", help="summary: the variables that make was given")
    parser.add_argument("--mirror", action="store_true", help="prepare: fill one in any case")
    arguments = parser.parse_args()
    try:
        if arguments.verb == "prepare":
            choice = prepare(arguments.stack, mirrored=arguments.mirror)
            paths.state().mkdir(mode=0o700, parents=True, exist_ok=True)
            _choice_file().write_text(json.dumps(asdict(choice)))
        elif arguments.verb == "env":
            print(exports())
        elif arguments.verb == "summary":
            summary(arguments.stack, arguments.make)
        else:
            forget(arguments.stack)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    except subprocess.CalledProcessError:
        return 1  # the command has said why
    return 0


if __name__ == "__main__":
    sys.exit(main())
