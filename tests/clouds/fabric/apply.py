"""Makes this computer what a fabric says, and takes away what it does not say.

It may be called after every single change of an account: what is as it should be is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

from components.local.containers.containers import delete
from components.local.containers.engine import CLUSTER, listed, remove
from components.local.containers.mirrors import create_mirror
from components.local.containers.requests import MirrorRequest
from components.local.image.build import image_tag
from tests.clouds.fabric import disks, memory
from tests.clouds.fabric.health import backends
from tests.clouds.fabric.look import There, look
from tests.clouds.fabric.machines import MACHINE, identity, keep_machine, keep_router
from tests.clouds.fabric.model import Fabric, Machine
from tests.clouds.fabric.networks import make_internet, make_networks, remove_networks
from tests.clouds.fabric.place import Place
from tests.clouds.fabric.router import router
from tests.clouds.fabric.scripts import digest, machine_script, router_script

_Item = TypeVar("_Item")


def apply(fabric: Fabric, place: Place) -> None:
    """Converge. The caller sees to it that one call runs at a time.

    Returns when all containers run; machines boot after that. Needs Docker on Linux, and root for
    disks. Raises CommandError with what failed, and what to do; another call then tries again.
    """
    place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    known = memory.recall(place).get("scripts", {})
    memory.forget(place)
    there = _without_superfluous(fabric, look(place))
    disks.release(fabric, place)
    there = remove_networks(fabric, place, there)
    if not fabric.networks:
        for volume in listed("volume", f"label={CLUSTER}={place.prefix}"):
            remove("volume", volume)  # of a container that somebody else has removed
        return
    make_internet(place, there)
    _keep_mirror(place, there)
    make_networks(fabric, place, there)
    devices = disks.attach(fabric, place)
    found = router(fabric, place.internet)
    scripts = {place.router: router_script(found, place.router_address)}
    keep_router(
        fabric,
        place,
        scripts[place.router],
        there.containers.get(place.router),
        known.get(place.router),
    )
    for machine in fabric.machines.values():
        network = fabric.networks[machine.network]
        scripts[machine.name] = machine_script(machine, network, devices)

    def keep(machine: Machine) -> None:
        name = machine.name
        keep_machine(machine, place, scripts[name], there.containers.get(name), known.get(name))

    _all_at_once(keep, fabric.machines.values())
    ran = {name: digest(script) for name, script in scripts.items()}
    memory.remember(place, {"scripts": ran, "balancers": backends(found)})


def _without_superfluous(fabric: Fabric, there: There) -> There:
    """Remove the containers that the fabric does not have; returns what stays."""
    wanted = {machine.name: identity(machine) for machine in fabric.machines.values()}
    gone = {
        name
        for name, found in there.containers.items()
        if not (fabric.networks and found.whole)
        or (found.role == MACHINE and wanted.get(name) != found.identity)
    }
    _all_at_once(delete, gone)
    stay = {name: found for name, found in there.containers.items() if name not in gone}
    return replace(there, containers=stay)


def _keep_mirror(place: Place, there: There) -> None:
    found = there.containers.get(place.mirror)
    if place.mirror_directory is None or (found and found.running):
        return
    create_mirror(
        MirrorRequest(
            name=place.mirror,
            network=place.bridge,
            image=image_tag(),
            address=str(place.mirror_address),
            cluster=place.prefix,
            directory=place.mirror_directory,
        )
    )


def _all_at_once(act: Callable[[_Item], object], items: Iterable[_Item]) -> None:
    """Each of them mostly waits for the engine."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(act, items))
