"""What a program can ask the simulated Google. Its own account is not known here: of networks and
subnets, only those that every project has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.clouds.core.kind import CloudError, Invoke
from tests.clouds.gcp.links import API, NETWORK, SUBNETWORK, collection, name_of, there_already
from tests.clouds.gcp.offers import (
    EXISTING_REGION,
    EXISTING_SUBNETWORK,
    IMAGES,
    MACHINE_TYPES,
    ZONES,
)
from tests.clouds.gcp.table import not_found

if TYPE_CHECKING:
    from tests.clouds.core.account import Inputs

Settings = Mapping[str, Any]


def _zones(arguments: Inputs, settings: Settings) -> Inputs:
    region = arguments.get("region") or settings["region"]
    if region not in ZONES:
        raise CloudError(not_found(f"projects/{settings['project']}/regions/{region}"))
    return {**arguments, "id": region, "region": region, "names": list(ZONES[region])}


def _machine_types(arguments: Inputs, _settings: Settings) -> Inputs:
    """Only filters of names, joined by OR, are understood."""
    wanted = re.findall(r'name = "([^"]+)"', arguments["filter"])
    found = [
        {"name": name, "architecture": kind.architecture}
        for name, kind in MACHINE_TYPES.items()
        if name in wanted and arguments["zone"] in kind.zones
    ]
    return {**arguments, "id": arguments["zone"], "machineTypes": found}


def _image(arguments: Inputs, _settings: Settings) -> Inputs:
    key = "family" if arguments.get("family") else "name"
    found = [
        image
        for image in IMAGES
        if (image.project, getattr(image, key)) == (arguments["project"], arguments[key])
    ]
    if not found:
        raise CloudError(not_found(f"projects/{arguments['project']}/{arguments[key]}"))
    image = found[-1]
    return {
        "id": image.id,
        "name": image.name,
        "family": image.family,
        "project": image.project,
        "selfLink": f"{API}{image.id}",
    }


def _network(arguments: Inputs, settings: Settings) -> Inputs:
    name = arguments.get("name") or name_of(arguments["selfLink"])
    identity = f"{collection(NETWORK, settings)}/{name}"
    found = there_already(identity)
    if found is None:
        raise CloudError(not_found(identity))
    return {"id": found.id, "name": name, "selfLink": found["selfLink"]}


def _subnetworks(arguments: Inputs, settings: Settings) -> Inputs:
    region = arguments.get("region") or settings["region"]
    where = {**settings, "region": region}
    here = [EXISTING_SUBNETWORK] if region == EXISTING_REGION else []
    found = [
        {
            "name": subnet["name"],
            "ipCidrRange": subnet["ipCidrRange"],
            "networkName": subnet["network"],
            "selfLink": f"{API}{collection(SUBNETWORK, where)}/{subnet['name']}",
        }
        for subnet in here
    ]
    return {**arguments, "id": region, "subnetworks": found}


FUNCTIONS: Mapping[str, Invoke] = {
    "gcp:compute/getZones:getZones": _zones,
    "gcp:compute/getMachineTypes:getMachineTypes": _machine_types,
    "gcp:compute/getImage:getImage": _image,
    "gcp:compute/getNetwork:getNetwork": _network,
    "gcp:compute/getSubnetworks:getSubnetworks": _subnetworks,
}
