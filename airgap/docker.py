"""Finds a Docker engine, or installs and starts one where that is allowed.

`python -m airgap.docker` says what it found and did. It uses the standard library only, since it
may be the first thing that runs on a machine.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from components.local.containers.shell import (
    CommandError,
    apt_install,
    can_apt,
    is_root,
    run,
    say,
    state_folder,
)

START_LIMIT = 60.0  # seconds until the engine must answer; an idle machine needs about two
INOTIFY = {"max_user_instances": 8192, "max_user_watches": 1_048_576}
_ADMIN_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin"


def ensure_engine() -> str:
    """Make sure that a Docker engine answers; says what was found and done."""
    version = _version()
    if version:
        return "; ".join([f"Docker engine {version} answers", *raise_inotify_limits()])
    did = []
    if not _dockerd():
        _install()
        did.append("docker.io installed")
    if not _version():  # the package may have started it
        did.append(_start())
    return "; ".join([f"Docker engine {_version()} answers", *did, *raise_inotify_limits()])


def raise_inotify_limits(folder: Path = Path("/proc/sys/fs/inotify")) -> list[str]:
    """Raise the limits that all machines of this kernel share; says what changed or should.

    With the usual 128 instances the kubelet of about the ninth machine cannot start.
    """
    said = []
    for name, wanted in INOTIFY.items():
        path = folder / name
        if not path.is_file() or int(path.read_text()) >= wanted:
            continue
        try:
            path.write_text(f"{wanted}\n")
            said.append(f"fs.inotify.{name} raised to {wanted}")
        except OSError:
            said.append(f"fs.inotify.{name} is {path.read_text().strip()}: have it set to {wanted}")
    return said


def _version() -> str | None:
    """The engine's version, if one answers."""
    try:
        found = run(["docker", "version", "--format", "{{.Server.Version}}"], timeout=20)
    except CommandError:
        return None
    return found.strip() or None


def _dockerd() -> str | None:
    """Where the engine is installed; a user's PATH often lacks the folders of administration."""
    return shutil.which("dockerd") or shutil.which("dockerd", path=_ADMIN_PATH)


def _install() -> None:
    if sys.platform != "linux":
        raise CommandError("no Docker engine answers: install and start Docker Desktop first")
    if not can_apt():
        raise CommandError(
            "no Docker engine answers, and only root on Debian or Ubuntu can install one here: "
            "install Docker by your distribution's way, start it and let this user reach its socket"
        )
    say("docker: installing the package docker.io")
    apt_install("docker.io")


def _start() -> str:
    if not is_root():
        raise CommandError(
            "the Docker engine does not answer this user: start it (`sudo systemctl start docker`) "
            "and let this user reach its socket (group docker), or run this as root"
        )
    if os.environ.get("DOCKER_HOST"):
        raise CommandError(
            "no Docker engine answers at DOCKER_HOST: start it there, or unset DOCKER_HOST"
        )
    if Path("/run/systemd/system").is_dir():
        run(["systemctl", "enable", "--now", "docker"])
        _wait(None, "`journalctl -u docker` tells more")
        return "started by systemd"
    return _start_detached()


def _start_detached() -> str:
    """Start the engine as a process of its own, for machines without a service manager."""
    log, pidfile = state_folder() / "dockerd.log", state_folder() / "dockerd.pid"
    command = [_dockerd() or "dockerd", "--pidfile", str(pidfile)]
    with log.open("ab") as out:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
            env={**os.environ, "PATH": f"{os.environ.get('PATH', '')}:{_ADMIN_PATH}"},
        )
    _wait(process, f"the end of {log}:\n{{tail}}", log)
    return f"started as process {process.pid}, log in {log}"


def _wait(process: subprocess.Popen[bytes] | None, hint: str, log: Path | None = None) -> None:
    """Wait until the engine answers, it ended, or the limit has passed."""
    limit = time.monotonic() + START_LIMIT
    while not _version():
        ended = process is not None and process.poll() is not None
        if ended or time.monotonic() > limit:
            tail = log.read_text(errors="replace")[-2000:] if log else ""
            why = "ended at once" if ended else f"did not answer within {START_LIMIT:g} s"
            raise CommandError(f"the Docker engine {why}; {hint.format(tail=tail)}")
        time.sleep(0.2)


def main() -> int:
    """Entry point: say what was found and done."""
    try:
        sys.stdout.write(f"docker: {ensure_engine()}\n")
    except CommandError as error:
        say(f"docker: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
