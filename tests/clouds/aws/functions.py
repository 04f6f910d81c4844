"""What AWS can be asked: zones, types, images, and the network that somebody else has made.

None of them sees the account: what the program makes it knows already.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from tests.clouds.aws import tokens, world
from tests.clouds.core.kind import CloudError, Invoke

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.clouds.core.account import Inputs

Filters = Mapping[str, tuple[str, ...]]


def _filters(arguments: Inputs, known: Iterable[str]) -> Filters:
    """{name: values}, all of which have to match."""
    found = {item["name"]: tuple(item["values"]) for item in arguments.get("filters") or ()}
    for name in found.keys() - set(known):
        raise CloudError(f"InvalidParameterValue: The filter '{name}' is invalid")
    return found


def _matches(value: str, patterns: tuple[str, ...] | None) -> bool:
    return patterns is None or any(fnmatchcase(value, pattern) for pattern in patterns)


def _region(settings: Mapping[str, Any]) -> str:
    """The provider's region, if the account is one that the provider may use."""
    allowed = settings.get("allowedAccountIds") or [world.ACCOUNT_ID]
    accounts = json.loads(allowed) if isinstance(allowed, str) else allowed
    if world.ACCOUNT_ID not in accounts:
        raise CloudError(f"AWS account ID not allowed: {world.ACCOUNT_ID}")
    region = str(settings.get("region"))
    if region not in world.REGIONS:
        raise CloudError(f"invalid AWS Region: {region}")
    return region


def _get_zones(arguments: Inputs, settings: Mapping[str, Any]) -> Inputs:
    region = _region(settings)
    opt_in = _filters(arguments, ["opt-in-status"]).get("opt-in-status")
    local = () if opt_in else world.LOCAL_ZONES.get(region, ())
    names = sorted([*world.zones(region), *local])
    if opt_in not in {None, ("opt-in-not-required",)}:
        raise CloudError(f"the simulation has no zones of the status {opt_in}")
    return {"id": region, "names": names, "zoneIds": [], "groupNames": [region], "region": region}


def _get_offerings(arguments: Inputs, settings: Mapping[str, Any]) -> Inputs:
    region = _region(settings)
    if arguments.get("locationType") != "availability-zone":
        raise CloudError("the simulation knows offers by availability-zone only")
    wanted = _filters(arguments, ["instance-type"]).get("instance-type")
    offers = [
        (kind, zone)
        for zone in world.zones(region)
        for types in world.TYPES.values()
        for kind in types
        if _matches(kind, wanted) and world.offered(kind, zone)
    ]
    return {
        "id": region,
        "instanceTypes": [kind for kind, _ in offers],
        "locations": [zone for _, zone in offers],
        "locationTypes": ["availability-zone" for _ in offers],
        "region": region,
    }


def _get_image(arguments: Inputs, settings: Mapping[str, Any]) -> Inputs:
    _region(settings)
    filters = _filters(arguments, ["name", "image-id", "architecture"])
    owners, deprecated = arguments.get("owners"), arguments.get("includeDeprecated")
    found = [
        image
        for image in world.IMAGES
        if _matches(image.name, filters.get("name"))
        and _matches(image.id, filters.get("image-id"))
        and _matches(image.architecture, filters.get("architecture"))
        and (owners is None or image.owner in owners)
        and (deprecated or not image.deprecated)
    ]
    if not found:
        raise CloudError(
            "Your query returned no results. Please change your search criteria and try again."
        )
    if len(found) > 1 and not arguments.get("mostRecent"):
        raise CloudError("Your query returned more than one result.")
    image = max(found, key=lambda item: item.created)
    return {
        "id": image.id,
        "imageId": image.id,
        "name": image.name,
        "ownerId": image.owner,
        "architecture": image.architecture,
        "creationDate": image.created,
    }


def _get_vpc(arguments: Inputs, settings: Mapping[str, Any]) -> Inputs:
    _region(settings)
    thing = world.THINGS.get(arguments.get("id", ""))
    if thing is None or thing.token != tokens.VPC:
        raise CloudError("no matching EC2 VPC found")
    association = {
        "associationId": "vpc-cidr-assoc-existing",
        "cidrBlock": thing["cidrBlock"],
        "state": "associated",
    }
    return {
        "id": thing.id,
        "cidrBlock": thing["cidrBlock"],
        "cidrBlockAssociations": [association],
        "state": "available",
    }


def _get_gateway(arguments: Inputs, settings: Mapping[str, Any]) -> Inputs:
    _region(settings)
    networks = _filters(arguments, ["attachment.vpc-id"]).get("attachment.vpc-id")
    for thing in world.THINGS.values():
        if thing.token == tokens.GATEWAY and _matches(thing["vpcId"], networks):
            attached = {"state": "available", "vpcId": thing["vpcId"]}
            return {"id": thing.id, "internetGatewayId": thing.id, "attachments": [attached]}
    raise CloudError("no matching EC2 Internet Gateway found")


FUNCTIONS: Mapping[str, Invoke] = {
    "aws:index/getAvailabilityZones:getAvailabilityZones": _get_zones,
    "aws:ec2/getInstanceTypeOfferings:getInstanceTypeOfferings": _get_offerings,
    "aws:ec2/getAmi:getAmi": _get_image,
    "aws:ec2/getVpc:getVpc": _get_vpc,
    "aws:ec2/getInternetGateway:getInternetGateway": _get_gateway,
}
