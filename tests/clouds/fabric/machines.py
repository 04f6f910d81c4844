"""The containers: machines, and the router that they all use."""

from __future__ import annotations

from collections.abc import Mapping

from components.local.containers.containers import Spec, ensure
from components.local.containers.engine import docker
from components.local.containers.privileges import machine_options
from components.local.containers.requests import ContainerRequest
from components.local.image.build import ENTRYPOINT, image_tag
from tests.clouds.fabric.boot import FOLDER, boot_files, text
from tests.clouds.fabric.look import IDENTITY, Found
from tests.clouds.fabric.model import Fabric, Machine
from tests.clouds.fabric.place import Place, gateway, key
from tests.clouds.fabric.router import router
from tests.clouds.fabric.scripts import RUN, SETUP, digest, router_script, run

MACHINE, ROUTER = "machine", "router"  # containers' roles
SSH_PORT = 22
# Where udev finds devices, systemd mounts what is in the table of file systems: here is no udev.
_START = f"{RUN} && {{ mount --all || true; }} && exec {ENTRYPOINT}"
_STOP_SECONDS = 5  # until a machine that is told to power off is cut off


def identity(machine: Machine) -> str:
    """What a container cannot change: with another one, it is another machine."""
    return key(f"{machine.id} {machine.network} {machine.address}")


def make_machine(machine: Machine, place: Place, script: str, found: Found | None) -> None:
    """Make the machine or start it again; it boots after this has returned."""
    boot = {} if found else boot_files(machine.user_data)
    ensure(
        Spec(
            request=ContainerRequest(
                name=machine.name,
                network=place.network(machine.network),
                image=image_tag(),
                address=machine.address,
                cluster=place.prefix,
            ),
            role=MACHINE,
            port=SSH_PORT,
            labels={IDENTITY: identity(machine)},
            files={**boot, SETUP: (0o700, script)},
            volume_path="/var",
            options=lambda _network, address: (
                *machine_options(in_vm=False),
                *("--stop-signal", "SIGRTMIN+3"),  # systemd's way to be told to power off
                # No name is known in a simulated cloud: it asks itself, and is refused at once.
                *("--env", f"MACHINE_NAMESERVERS={address}"),
                *("--entrypoint", "sh"),
            ),
            command=("-c", _START),
        )
    )


def keep_machine(
    machine: Machine, place: Place, script: str, found: Found | None, known: str | None
) -> None:
    """Bring a machine to what it should be; `known` is its last script's digest."""
    runs = found is not None and found.running
    if not machine.running:
        if runs:
            docker("stop", "--time", str(_STOP_SECONDS), machine.name)
    elif not runs:
        make_machine(machine, place, script, found)
    elif known != digest(script):
        run(machine.name, script)


def keep_router(
    fabric: Fabric, place: Place, script: str, found: Found | None, known: str | None
) -> None:
    """Bring the router to what it should be: on all networks, with the fabric's rules."""
    if found is None or not found.running:
        _make_router(place)
        known = None
    missing = _networks(fabric, place, found)
    for name, address in missing.items():
        docker("network", "connect", "--ip", address, name, place.router)
    if missing or known != digest(script):
        run(place.router, script)


def _networks(fabric: Fabric, place: Place, found: Found | None) -> Mapping[str, str]:
    """The networks that the router is not on, with its address there."""
    there = found.networks if found else frozenset()
    wanted = {
        place.network(network.id): str(gateway(network)) for network in fabric.networks.values()
    }
    return {name: address for name, address in wanted.items() if name not in there}


def _make_router(place: Place) -> None:
    """It starts with nothing to do, since it is on no network of the cloud yet."""
    nothing = router_script(router(Fabric(), place.internet), place.router_address)
    ensure(
        Spec(
            request=ContainerRequest(
                name=place.router,
                network=place.bridge,
                image=image_tag(),
                address=str(place.router_address),
                cluster=place.prefix,
            ),
            role=ROUTER,
            port=0,
            files={
                SETUP: (0o700, nothing),
                f"{FOLDER}/pick.sh": (0o700, text("pick.sh")),
                f"{FOLDER}/health.sh": (0o700, text("health.sh")),
            },
            options=lambda _network, _address: (
                *machine_options(in_vm=False),
                *("--entrypoint", "bash"),
            ),
            command=(f"{FOLDER}/health.sh",),
        )
    )
