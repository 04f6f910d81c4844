"""Which name servers a machine asks."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from components.local.containers.engine import docker

if TYPE_CHECKING:
    from ipaddress import IPv4Address

    from components.local.containers.networks import NetworkState

# A stub that listens on a loopback address names its real servers in the second file.
_FILES = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))


def name_servers(text: str) -> list[str]:
    """The servers in a resolv.conf that another machine can use: none on a loopback address."""
    found = []
    for line in text.splitlines():
        match line.split():
            case ["nameserver", server, *_] if not _loopback(server):
                found.append(server)
            case _:
                pass
    return found


def _loopback(text: str) -> bool:
    try:
        return ip_address(text.partition("%")[0]).is_loopback
    except ValueError:
        return True  # no address at all is of no use either


def upstream(files: tuple[Path, ...] = _FILES) -> list[str]:
    """The name servers that this computer itself uses."""
    for path in files:
        servers = name_servers(path.read_text()) if path.is_file() else []
        if servers:
            return servers
    return []


def machine_name_servers(network: NetworkState, address: IPv4Address, image: str) -> list[str]:
    """The servers for a machine on the network.

    Where nothing may leave, it asks itself: nobody listens there, so a question is refused at once.
    The bridge's address would do for one question a second, as often as the kernel tells another
    host that nobody listens; any address further away would let all questions hang. A loopback
    address would be another one in each pod.
    """
    if network.internal:
        return [str(address)]
    if not network.published:
        return upstream()
    # The engine's virtual machine has servers of its own, which its default bridge hands on as they
    # are.
    command = ("--entrypoint", "cat", image, "/etc/resolv.conf")
    return name_servers(docker("run", "--rm", "--network", "bridge", *command))
