"""A container with a pinned address: made, finished, started again, found, removed."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import TYPE_CHECKING, Any

from components.local.containers.engine import (
    ADDRESS,
    CLUSTER,
    NETWORK,
    ROLE,
    create,
    docker,
    inspect,
    label_options,
    listed,
    put_files,
    remove,
)
from components.local.containers.networks import (
    NetworkState,
    free_address,
    pinned_addresses,
    wanted_network,
)
from components.local.containers.shell import CommandError, locked, state_folder

if TYPE_CHECKING:
    from components.local.containers.requests import ContainerRequest

LOOK_EVERY = 1.0  # seconds between questions whether a container still runs
LOOPBACK = "127.0.0.1"
Files = Mapping[str, tuple[int, str]]  # {path: (mode, text)}


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A container of some role."""

    request: ContainerRequest
    role: str
    port: int  # where it is reached; published where its address cannot be reached
    options: Callable[[NetworkState, IPv4Address], Sequence[str]]  # of `docker create`
    files: Files = field(repr=False)
    keep_files: bool = False  # a container that is there already keeps what it has
    volume_path: str = ""  # the container's only volume, named after it
    labels: Mapping[str, str] = field(default_factory=dict)
    command: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Running:
    """A container that runs: its address for other machines, and where this computer reaches it."""

    name: str
    address: str
    host: str
    port: int
    found: bool  # whether it ran before


def ensure(spec: Spec) -> Running:
    """Make and start the container, or finish and start the one that is there."""
    name = spec.request.name
    found = inspect("container", name)
    if found and _never_ran(found):  # half made: it holds nothing yet
        remove("container", name)
        found = None
    if not found:
        place = _create(spec)
        put_files(name, spec.files)
        docker("start", name)
        return place
    _check(found, spec)
    place = _place(found, spec.port)
    if not place.found:
        put_files(name, {} if spec.keep_files else spec.files)
        docker("unpause" if found["State"]["Paused"] else "start", name)
    return place


def _never_ran(found: Mapping[str, Any]) -> bool:
    return found["State"]["Status"] in ("created", "removing", "dead")


def _check(found: Mapping[str, Any], spec: Spec) -> None:
    """An existing container is kept, with what it holds, so it must be the one that is meant."""
    labels = found["Config"]["Labels"] or {}
    wanted = {ROLE: spec.role, NETWORK: spec.request.network, **spec.labels}
    if spec.request.address:
        wanted[ADDRESS] = spec.request.address
    different = [
        f"{key.rsplit('.', 1)[-1]} {labels.get(key, 'unset')} instead of {value}"
        for key, value in wanted.items()
        if labels.get(key) != value
    ]
    if different:
        raise CommandError(
            f"a container {spec.request.name} is there already, with {', '.join(different)}: "
            f"delete it first (`docker rm -f {spec.request.name}`), or choose another name"
        )


def _create(spec: Spec) -> Running:
    """Choose an address and create the container with it, so that no other gets the same."""
    if spec.volume_path:  # one of a machine that died would bring its data back
        remove("volume", volume_name(spec.request.name))
    with locked(state_folder() / "addresses.lock"):
        network = wanted_network(spec.request.network)
        address = _address(spec.request, network)
        published = _free_port() if network.published else None
        create(create_arguments(spec, network, address, published), spec.request.image)
    return Running(
        name=spec.request.name,
        address=str(address),
        host=LOOPBACK if published else str(address),
        port=published or spec.port,
        found=False,
    )


def _address(request: ContainerRequest, network: NetworkState) -> IPv4Address:
    if not request.address:
        return free_address(network, pinned_addresses(network.name))
    address = IPv4Address(request.address)
    if address not in network.cidr:
        raise CommandError(f"the address {address} of {request.name} is not in {network.cidr}")
    return address


def _free_port() -> int:
    """A free port of this computer. One that the engine chooses would change at each restart."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def volume_name(container: str) -> str:
    """The volume that belongs to a container."""
    return f"{container}-var"


def create_arguments(
    spec: Spec,
    network: NetworkState,
    address: IPv4Address,
    published: int | None,
) -> list[str]:
    """The arguments of `docker create` that make the container."""
    request = spec.request
    owner = {
        CLUSTER: request.cluster or network.labels.get(CLUSTER, network.name),
        NETWORK: network.name,
        ROLE: spec.role,
    }
    labels = {**request.labels, **spec.labels, **owner, ADDRESS: str(address)}
    return [
        *("--name", request.name, "--hostname", request.name),
        *("--network", network.name, "--ip", str(address)),
        "--restart=unless-stopped",
        *label_options(labels),
        *(_volume_option(spec, owner) if spec.volume_path else []),
        *(["--publish", f"{LOOPBACK}:{published}:{spec.port}"] if published else []),
        *spec.options(network, address),
        request.image,
        *spec.command,
    ]


def _volume_option(spec: Spec, labels: Mapping[str, str]) -> list[str]:
    parts = [
        *("type=volume", f"source={volume_name(spec.request.name)}", f"target={spec.volume_path}"),
        *(f"volume-label={key}={labels[key]}" for key in sorted(labels)),
    ]
    return ["--mount", ",".join(parts)]


def _place(found: Mapping[str, Any], port: int) -> Running:
    """Where an existing container is reached."""
    address = found["Config"]["Labels"][ADDRESS]
    published = (found["HostConfig"]["PortBindings"] or {}).get(f"{port}/tcp")
    return Running(
        name=found["Name"].lstrip("/"),
        address=address,
        host=LOOPBACK if published else address,
        port=int(published[0]["HostPort"]) if published else port,
        found=bool(found["State"]["Running"] and not found["State"]["Paused"]),
    )


def running(name: str, port: int) -> Running:
    """Where the container of that name is reached."""
    found = inspect("container", name)
    if found is None:
        raise CommandError(f"there is no container {name}")
    return _place(found, port)


def wait_for(place: Running, answers: Callable[[socket.socket], bool], limit: float = 60.0) -> None:
    """Wait until what runs in the container answers."""
    until = time.monotonic() + limit
    look = time.monotonic() + LOOK_EVERY
    while not _answers(place, answers):
        now = time.monotonic()
        if now > look:  # asking the engine costs more than asking the container
            look = now + LOOK_EVERY
            state = (inspect("container", place.name) or {}).get("State", {})
            if not state.get("Running") or now > until:
                raise CommandError(_why(place, state, limit))
        time.sleep(0.05)


def _answers(place: Running, answers: Callable[[socket.socket], bool]) -> bool:
    try:
        with socket.create_connection((place.host, place.port), timeout=2) as connection:
            return answers(connection)
    except OSError:
        return False


def _why(place: Running, state: Mapping[str, Any], limit: float) -> str:
    words = (
        f"does not answer at {place.host}:{place.port} within {limit:g} s"
        if state.get("Running")
        else f"ended (state {state.get('Status', 'gone')}, code {state.get('ExitCode')})"
    )
    logs = docker("logs", "--tail", "20", place.name) if state else ""
    return f"the container {place.name} {words}; the end of its log:\n{logs.strip() or '(empty)'}"


def delete(name: str) -> dict[str, object]:
    """Remove the container and its volume, however little of them there is."""
    remove("container", name)
    for volume in listed("volume", f"name=^{volume_name(name)}$", f"label={NETWORK}"):
        remove("volume", volume)
    return {"name": name}
