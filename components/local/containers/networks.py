"""Networks: made, and removed with all that is on them; and the addresses on them."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import TYPE_CHECKING

from components.local.containers.engine import (
    ADDRESS,
    CLUSTER,
    NETWORK,
    PUBLISHED,
    docker,
    inspect,
    label_options,
    listed,
    needs_published_ports,
    remove,
)
from components.local.containers.shell import CommandError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from components.local.containers.requests import Named, NetworkRequest

CONFIG_KEY = "network.hostCidr"


@dataclass(frozen=True, kw_only=True)
class NetworkState:
    """A network as the engine has it."""

    name: str
    cidr: IPv4Network
    gateway: IPv4Address
    internal: bool
    labels: Mapping[str, str]
    taken: frozenset[IPv4Address]  # by what runs

    @property
    def published(self) -> bool:
        """Whether this computer reaches the containers by published ports only."""
        return PUBLISHED in self.labels


def create_network(request: NetworkRequest) -> dict[str, object]:
    """Make the network, or find it as it should be."""
    try:
        cidr = IPv4Network(request.cidr)
    except ValueError as error:
        raise CommandError(
            f"{request.cidr} is not an IPv4 network ({error}): change {CONFIG_KEY}"
        ) from None
    found = network_state(request.name)
    if found is None:
        _create(request, cidr)
        found = wanted_network(request.name)
    elif (found.cidr, found.internal) != (cidr, request.internal) or CLUSTER not in found.labels:
        raise CommandError(
            f"a Docker network {request.name} is there already, with {found.cidr} and "
            f"internal={found.internal} instead of {cidr} and internal={request.internal}: "
            f"remove it (`docker network rm {request.name}`), or choose another name"
        )
    elif any(found.labels.get(key, value) != value for key, value in request.labels.items()):
        raise CommandError(
            f"the Docker network {request.name} is another stack's cluster: choose another `name` "
            f"and {CONFIG_KEY}"
        )
    return {"name": found.name, "gateway": str(found.gateway), "internal": found.internal}


def _create(request: NetworkRequest, cidr: IPv4Network) -> None:
    clash = overlap(cidr, [*_engine_networks(), *_host_routes()])
    if clash:
        raise CommandError(f"{cidr} overlaps {clash}: change {CONFIG_KEY} to a range that is free")
    published = needs_published_ports()
    if published and request.internal:
        raise CommandError(
            "a network without a way out cannot be reached here: Docker Desktop reaches "
            "containers by published ports only. Remove `mirror` from the config, or use Docker "
            "on Linux"
        )
    labels = {
        **request.labels,
        CLUSTER: request.cluster or request.name,
        NETWORK: request.name,
        **({PUBLISHED: "true"} if published else {}),
    }
    docker(
        *("network", "create", "--driver", "bridge"),
        *("--subnet", str(cidr), "--gateway", str(cidr[1])),
        *(["--internal"] if request.internal else []),
        *label_options(labels),
        request.name,
    )


def overlap(cidr: IPv4Network, others: Iterable[tuple[str, IPv4Network]]) -> str | None:
    """The first of the others that shares addresses with the network, in words."""
    for words, other in others:
        if other.prefixlen and cidr.overlaps(other):  # everything overlaps a default route
            return f"{words} ({other})"
    return None


def _engine_networks() -> list[tuple[str, IPv4Network]]:
    # One by one: somebody may remove a network meanwhile.
    found = [inspect("network", identity) for identity in listed("network")]
    return [
        (f"the Docker network {network['Name']}", IPv4Network(block["Subnet"]))
        for network in found
        if network
        for block in network["IPAM"]["Config"] or []
        if "." in block.get("Subnet", "")
    ]


def _host_routes() -> list[tuple[str, IPv4Network]]:
    table = Path("/proc/net/route")  # only on Linux; elsewhere containers' routes are in a VM
    return host_routes(table.read_text()) if table.is_file() else []


def host_routes(table: str) -> list[tuple[str, IPv4Network]]:
    """The routes in /proc/net/route, where addresses are little-endian hexadecimal numbers."""
    routes = []
    for line in table.splitlines()[1:]:
        interface, destination, *_, mask = line.split()[:8]
        address, bits = (IPv4Address(bytes.fromhex(text)[::-1]) for text in (destination, mask))
        network = IPv4Network(f"{address}/{bits}")
        routes.append((f"this computer's route through {interface}", network))
    return routes


def network_state(name: str) -> NetworkState | None:
    """The network of that name, if there is one."""
    found = inspect("network", name)
    if found is None:
        return None
    blocks = [block for block in found["IPAM"]["Config"] or [] if "." in block.get("Subnet", "")]
    if not blocks:
        raise CommandError(f"the Docker network {name} has no IPv4 addresses: remove it")
    cidr = IPv4Network(blocks[0]["Subnet"])
    return NetworkState(
        name=found["Name"],
        cidr=cidr,
        gateway=IPv4Address(blocks[0].get("Gateway") or cidr[1]),
        internal=found["Internal"],
        labels=found["Labels"] or {},
        taken=frozenset(
            IPv4Address(item["IPv4Address"].split("/")[0])
            for item in (found["Containers"] or {}).values()
            if item["IPv4Address"]
        ),
    )


def wanted_network(name: str) -> NetworkState:
    """The network of that name, which has to be there."""
    found = network_state(name)
    if found is None:
        raise CommandError(f"there is no Docker network {name}: create it first")
    return found


def free_address(network: NetworkState, pinned: Iterable[IPv4Address]) -> IPv4Address:
    """The first address that is neither pinned nor taken. The caller holds the lock."""
    taken = {network.gateway, *network.taken, *pinned}
    for address in network.cidr.hosts():
        if address not in taken:
            return address
    raise CommandError(f"no address is free in {network.cidr}: enlarge {CONFIG_KEY}")


def pinned_addresses(network: str) -> list[IPv4Address]:
    """The addresses that our containers on the network have, also when they do not run."""
    form = f'{{{{.Label "{ADDRESS}"}}}}'
    found = docker("ps", "--all", "--filter", f"label={NETWORK}={network}", "--format", form)
    return [IPv4Address(text) for text in found.split()]


def delete_network(request: Named) -> dict[str, object]:
    """Remove the network and whatever of ours is left on it."""
    for container in listed("container", f"label={NETWORK}={request.name}"):
        remove("container", container)
    for volume in listed("volume", f"label={NETWORK}={request.name}"):
        remove("volume", volume)
    # By id: a network that was made twice at the same moment is there twice under one name.
    for network in listed("network", f"name=^{request.name}$"):
        _disconnect_strangers(network)
        remove("network", network)
    return {"name": request.name}


def _disconnect_strangers(network: str) -> None:
    """Somebody's container on our network is not ours to remove, but must not keep the network."""
    found = inspect("network", network) or {}
    for item in (found.get("Containers") or {}).values():
        docker("network", "disconnect", "--force", network, item["Name"])
