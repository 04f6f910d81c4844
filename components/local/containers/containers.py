"""A container with a pinned address: made, finished, started again, found, removed."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import Any

from components.local.containers.engine import (
    ADDRESS,
    CLUSTER,
    NETWORK,
    ROLE,
    docker,
    ensure_image,
    inspect,
    label_options,
    listed,
    put_files,
    remove,
    shares_our_network,
)
from components.local.containers.networks import (
    NetworkState,
    free_address,
    pinned_addresses,
    wanted_network,
)
from components.local.containers.requests import ContainerRequest
from components.local.containers.shell import CommandError, locked, state_folder

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A container of some role."""

    request: ContainerRequest
    role: str
    port: int  # where it is reached; published where its address cannot be reached
    files: Mapping[str, tuple[int, str]] = field(repr=False)
    volume_path: str = ""  # the container's only volume, named after it
    labels: Mapping[str, str] = field(default_factory=dict)
    options: Callable[[NetworkState], Sequence[str]] = lambda network: ()
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
    if found:
        _check(found, spec)
    else:
        ensure_image(spec.request.image)
        _create(spec)
    was_running = bool(found and found["State"]["Running"])
    if not was_running:
        put_files(name, spec.files)
        docker("unpause" if found and found["State"]["Paused"] else "start", name)
    return running(name, spec.port, found=was_running)


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


def _create(spec: Spec) -> None:
    """Choose an address and create the container with it, so that no other gets the same."""
    if spec.volume_path:  # one of a machine that died would bring its data back
        remove("volume", volume_name(spec.request.name))
    network = wanted_network(spec.request.network)
    options = list(spec.options(network))
    with locked(state_folder() / "addresses.lock"):
        address = _address(spec.request, network)
        published = None if shares_our_network() else _free_port()
        docker(*create_arguments(spec, network, address, options, published))


def _address(request: ContainerRequest, network: NetworkState) -> IPv4Address:
    if not request.address:
        return free_address(wanted_network(network.name), pinned_addresses(network.name))
    address = IPv4Address(request.address)
    if address not in network.cidr:
        raise CommandError(f"the address {address} of {request.name} is not in {network.cidr}")
    return address


def _free_port() -> int:
    """A port of this computer; chosen by us, since the engine would choose another at each restart."""
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
    options: Sequence[str],
    published: int | None,
) -> list[str]:
    """The docker CLI's arguments that create the container."""
    request = spec.request
    owner = {
        CLUSTER: request.cluster or network.labels.get(CLUSTER, network.name),
        NETWORK: network.name,
        ROLE: spec.role,
    }
    labels = {**request.labels, **spec.labels, **owner, ADDRESS: str(address)}
    return [
        "create",
        *("--name", request.name, "--hostname", request.name),
        *("--network", network.name, "--ip", str(address)),
        "--restart=unless-stopped",
        *label_options(labels),
        *(_volume_option(spec, owner) if spec.volume_path else []),
        *(["--publish", f"{LOOPBACK}:{published}:{spec.port}"] if published else []),
        *options,
        request.image,
        *spec.command,
    ]


def _volume_option(spec: Spec, labels: Mapping[str, str]) -> list[str]:
    parts = [
        *("type=volume", f"source={volume_name(spec.request.name)}", f"target={spec.volume_path}"),
        *(f"volume-label={key}={labels[key]}" for key in sorted(labels)),
    ]
    return ["--mount", ",".join(parts)]


def running(name: str, port: int, *, found: bool = True) -> Running:
    """Where a container is reached."""
    state = inspect("container", name)
    if state is None:
        raise CommandError(f"there is no container {name}")
    address = state["Config"]["Labels"][ADDRESS]
    published = (state["HostConfig"]["PortBindings"] or {}).get(f"{port}/tcp")
    if published:
        return Running(
            name=name, address=address, host=LOOPBACK, port=int(published[0]["HostPort"]), found=found
        )
    return Running(name=name, address=address, host=address, port=port, found=found)


def wait_for(place: Running, answers: Callable[[socket.socket], bool], limit: float = 60.0) -> None:
    """Wait until what runs in the container answers."""
    until = time.monotonic() + limit
    while True:
        try:
            with socket.create_connection((place.host, place.port), timeout=2) as connection:
                if answers(connection):
                    return
        except OSError:
            pass
        state = (inspect("container", place.name) or {}).get("State", {})
        if not state.get("Running") or time.monotonic() > until:
            raise CommandError(_why(place, state, limit))
        time.sleep(0.05)


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
