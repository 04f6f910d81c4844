"""Which name servers a machine asks."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path

from components.local.containers.engine import docker, shares_our_network
from components.local.containers.networks import NetworkState

# A stub that listens on a loopback address names its real servers in the second file.
_FILES = (Path("/etc/resolv.conf"), Path("/run/systemd/resolve/resolv.conf"))


def name_servers(text: str) -> list[str]:
    """The servers in a resolv.conf that another machine can use: none on a loopback address."""
    found = []
    for line in text.splitlines():
        words = line.split()
        if len(words) >= 2 and words[0] == "nameserver" and not _loopback(words[1]):
            found.append(words[1])
    return found


def _loopback(text: str) -> bool:
    try:
        return ip_address(text.split("%")[0]).is_loopback
    except ValueError:
        return True  # no address at all is of no use either


def upstream(files: tuple[Path, ...] = _FILES) -> list[str]:
    """The name servers that this computer itself uses."""
    for path in files:
        servers = name_servers(path.read_text()) if path.is_file() else []
        if servers:
            return servers
    return []


def machine_name_servers(network: NetworkState, image: str) -> list[str]:
    """The servers for a machine on the network.

    Where nothing may leave, the bridge's address is named: nobody listens there, so a question is
    refused at once, while any other address would let it hang.
    """
    if network.internal:
        return [str(network.gateway)]
    if shares_our_network():
        return upstream()
    # The engine's virtual machine has servers of its own; its default bridge hands them on as they are.
    shown = docker("run", "--rm", "--network", "bridge", "--entrypoint", "cat", image, "/etc/resolv.conf")
    return name_servers(shown)
