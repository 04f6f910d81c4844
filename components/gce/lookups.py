"""What Google is asked before anything is made, so that a config that does not fit fails by then.

What `rules` cannot know from the config alone: which zones, images and networks there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from pulumi import InvokeOptions
from pulumi_gcp import compute

from components.asking import answer, choose_zones, refusal, refuse_taken, virtual_ranges
from components.gce import facts
from components.naming import physical
from config import ClusterConfig
from versions import Arch

Image = tuple[str | None, Arch]  # as a config has it; None: Ubuntu
_CLOUD = "Google"  # which is asked


def find_zones(config: ClusterConfig, ask: InvokeOptions) -> tuple[str, ...]:
    """The config's zones, or the region's first three by name: they do not change by themselves.

    So zones that are in trouble count, too, and zones that have not the machines are refused, not
    passed over: the day they get them, machines would move there.
    """
    region = config.region or ""
    question = partial(compute.get_zones, region=region, opts=ask)
    remedy = "write a region that the project has"
    known = sorted(answer(_CLOUD, "region", region, remedy, question).names)
    zones = choose_zones(config, known, facts.ZONES, "project")
    _check_offers(config, known, zones, ask)
    return zones


def _check_offers(
    config: ClusterConfig, known: list[str], zones: tuple[str, ...], ask: InvokeOptions
) -> None:
    """Not every zone has every machine."""
    needed = {(facts.machine_type(spec), facts.zone_of(spec, zones)) for spec in config.hosts}
    if config.access.private:
        needed.add((facts.BASTION_TYPE, zones[0]))
    types = {kind for kind, _ in needed}
    offers = {zone: _offered(types, zone, ask) for zone in sorted({zone for _, zone in needed})}
    for kind, zone in sorted(needed):
        if kind not in offers[zone]:
            whole = [other for other in known if types <= _offered(types, other, ask)]
            listed = f"write zones: [{', '.join(whole[: facts.ZONES])}]"
            message = f"is not offered in the zone {zone}"
            raise refusal("machineType", kind, message, listed if whole else "write another type")


def _offered(types: set[str], zone: str, ask: InvokeOptions) -> set[str]:
    """Which of the types a zone has."""
    which = " OR ".join(f'(name = "{kind}")' for kind in sorted(types))
    found = compute.get_machine_types(zone=zone, filter=which, opts=ask)
    return {kind.name for kind in found.machine_types}


def find_images(config: ClusterConfig, ask: InvokeOptions) -> Mapping[Image, str]:
    """The self link of each image that a machine would start from if it were made now."""
    wanted = {(spec.image, spec.arch) for spec in config.hosts}
    if config.access.private:
        wanted.add((None, facts.BASTION_ARCH))
    return {(image, arch): _image(image, arch, ask) for image, arch in sorted(wanted, key=str)}


def _image(image: str | None, arch: Arch, ask: InvokeOptions) -> str:
    wanted = facts.image(image, arch)
    question = partial(
        compute.get_image,
        project=wanted.project,
        family=wanted.family,
        name=wanted.name,
        opts=ask,
    )
    remedy = "write an image that the project may use"
    found: str = answer(_CLOUD, "image", image or wanted.family or "", remedy, question).self_link
    return found


def find_network(config: ClusterConfig, ask: InvokeOptions) -> str | None:
    """The self link of the network that the config names, with room for the cluster in it.

    Only subnets of the region are looked at. If one elsewhere is in the way of the hosts, Google
    refuses ours; if one is in the way of pods or Services, those do not reach it.
    """
    existing = config.network.existing
    if existing is None:
        return None
    name = existing.rpartition("/")[2]
    network = answer(
        _CLOUD,
        "network.existing",
        existing,
        "write a network that the project has, or leave it out",
        partial(compute.get_network, name=name, opts=ask),
    )
    own = physical(config.name, facts.NAME_LIMIT)
    subnets = compute.get_subnetworks(region=config.region, opts=ask).subnetworks
    refuse_taken(
        {"network.hostCidr": config.network.host_cidr, **virtual_ranges(config)},
        [
            (other.ip_cidr_range, f"the subnet {other.name} of {existing}")
            for other in subnets
            if other.network_name == name and other.name != own and other.ip_cidr_range
        ],
    )
    found: str = network.self_link
    return found
