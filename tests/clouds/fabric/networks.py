"""The Docker networks: one that stands for the internet, and one for each network of the cloud.

A cloud's network leads nowhere but to the router, also not to this computer: its bridge has no
address here. It is none of Docker's `--internal` ones, since the engine drops what carries other
addresses than the network's own there, even between two containers where bridged packets are
filtered (net.bridge.bridge-nf-call-iptables).
"""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Network

from components.local.containers import networks as engine
from components.local.containers.engine import (
    CLUSTER,
    NETWORK,
    docker,
    label_options,
    needs_published_ports,
    remove,
)
from components.local.containers.shell import CommandError
from tests.clouds.fabric.look import IDENTITY, There
from tests.clouds.fabric.model import Fabric, Network
from tests.clouds.fabric.place import Place, key, unused

_ISOLATED = (
    *("--opt", "com.docker.network.bridge.inhibit_ipv4=true"),
    *("--opt", "com.docker.network.bridge.enable_ip_masquerade=false"),
)


def identity(network: Network) -> str:
    """What a Docker network cannot change."""
    return key(f"{network.id} {network.cidr} {network.mtu} {network.kept}")


def make_internet(place: Place, there: There) -> None:
    """Make the bridge that stands for the internet. This computer is on it, and nothing beyond."""
    if place.bridge in there.networks:
        return
    if needs_published_ports():
        raise CommandError(
            "simulated clouds need Docker on Linux: Docker Desktop keeps the addresses of "
            "containers, and the disks of their machines, in a virtual machine"
        )
    options = ("--gateway", str(place.computer_address), "--internal")
    _create(place.bridge, place, place.internet, options, key(place.internet))


def wanted(fabric: Fabric, place: Place) -> dict[str, str]:
    """The Docker networks that a fabric asks for, with their identities."""
    own = {place.network(network.id): identity(network) for network in fabric.networks.values()}
    return {**own, place.bridge: key(place.internet)} if own else {}


def remove_networks(fabric: Fabric, place: Place, there: There) -> There:
    """Remove what is not wanted or is another by now; returns what stays."""
    asked = wanted(fabric, place)
    stay = {name: found for name, found in there.networks.items() if asked.get(name) == found}
    for name in there.networks.keys() - stay.keys():
        on_it = [who for who, found in there.containers.items() if name in found.networks]
        machines = set(on_it) - {place.router, place.mirror}
        if machines:
            raise CommandError(
                f"the network {name} of a simulated cloud is another now (its range or its MTU), "
                f"while machines are on it: take {', '.join(sorted(machines))} away first"
            )
        for container in on_it:
            docker("network", "disconnect", "--force", name, container)
        remove("network", name)
    containers = {
        name: replace(found, networks=found.networks & stay.keys())
        for name, found in there.containers.items()
    }
    return There(containers=containers, networks=stay)


def make_networks(fabric: Fabric, place: Place, there: There) -> None:
    """Make the cloud's networks that are not there."""
    for network in fabric.networks.values():
        name = place.network(network.id)
        if name not in there.networks:
            options = (
                *("--gateway", str(unused(network)), *_ISOLATED),
                *("--opt", f"com.docker.network.driver.mtu={network.mtu}"),
            )
            _create(name, place, network.cidr, options, identity(network))


def _create(name: str, place: Place, cidr: str, options: tuple[str, ...], identity: str) -> None:
    range_ = IPv4Network(cidr)
    clash = engine.overlap(range_, [*engine._engine_networks(), *engine._host_routes()])
    if clash:
        raise CommandError(
            f"{cidr} of a simulated cloud overlaps {clash}: give the cluster another network range"
        )
    docker(
        *("network", "create", "--driver", "bridge", "--subnet", cidr, *options),
        *label_options({CLUSTER: place.prefix, NETWORK: name, IDENTITY: identity}),
        name,
    )
