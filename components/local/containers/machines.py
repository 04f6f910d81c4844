"""Machines: system containers that run systemd and answer SSH."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.local.containers.containers import Spec, ensure, wait_for
from components.local.containers.engine import docker, inspect, put_files
from components.local.containers.privileges import machine_options
from components.local.containers.resolvers import machine_name_servers

if TYPE_CHECKING:
    import socket
    from ipaddress import IPv4Address

    from components.local.containers.networks import NetworkState
    from components.local.containers.requests import MachineRequest

SSH_PORT = 22
HOST_KEY = "/etc/ssh/ssh_host_ed25519_key"


def create_machine(request: MachineRequest) -> dict[str, object]:
    """Make the machine and wait until its sshd answers."""
    files = key_files(request)
    place = ensure(
        Spec(
            request=request,
            role="machine",
            port=SSH_PORT,
            files=files,
            volume_path="/var",  # containerd's overlay does not work on the container's own
            options=lambda network, address: options(request, network, address),
        )
    )
    if place.found:
        _update(request)
    wait_for(place, _is_ssh)
    return {
        "name": place.name,
        "id": (inspect("container", place.name) or {}).get("Id", ""),
        "address": place.address,
        "sshHost": place.host,
        "sshPort": place.port,
    }


def key_files(request: MachineRequest) -> dict[str, tuple[int, str]]:
    """What lets us in, and what the machine is known by."""
    return {
        "/root/.ssh/authorized_keys": (0o600, _line(request.authorized_key)),
        HOST_KEY: (0o600, _line(request.host_key_private)),
        f"{HOST_KEY}.pub": (0o644, _line(request.host_key_public)),
    }


def _line(text: str) -> str:
    return f"{text.strip()}\n"


def options(request: MachineRequest, network: NetworkState, address: IPv4Address) -> list[str]:
    """What only machines get."""
    servers = machine_name_servers(network, address, request.image)
    return [
        *machine_options(in_vm=network.published),
        *("--stop-signal", "SIGRTMIN+3"),  # systemd's way to be told to power off
        *("--env", f"MACHINE_NAMESERVERS={' '.join(servers)}"),
        *("--env", f"MACHINE_GATEWAY={network.gateway}"),
        *limits(request),
    ]


def limits(request: MachineRequest) -> list[str]:
    """Memory and processors; as much swap as memory would be memory twice."""
    wanted = {
        "--memory": request.memory,
        "--memory-swap": request.memory,
        "--cpus": request.cpus,
        "--cpu-shares": request.cpu_shares,
    }
    return [word for option in wanted.items() if option[1] for word in option]


def _update(request: MachineRequest) -> None:
    """Bring a running machine to what is asked now, without restarting it."""
    put_files(request.name, key_files(request))
    docker("exec", request.name, "systemctl", "reload-or-restart", "ssh")
    if limits(request):
        docker("update", *limits(request), request.name)


def _is_ssh(connection: socket.socket) -> bool:
    return connection.recv(4) == b"SSH-"
