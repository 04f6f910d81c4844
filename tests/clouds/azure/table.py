"""How a row of Azure's tables is made: what all types have in common stands here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from tests.clouds.azure.ids import (
    GROUP,
    identify,
    inside,
    leaves,
    look_up,
    name_input,
    parent_of,
    same,
)
from tests.clouds.azure.offers import REGIONS
from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.core.kind import Kind, Request

Check = Callable[[Inputs], Iterable[str]]
Rules = Callable[[Request], Iterable[str]]

# "Naming rules and restrictions for Azure resources".
NAME_FORM = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,78}[A-Za-z0-9_])?")
TAGS, TAG_NAME, TAG_VALUE = 50, 512, 256
NOT_IN_TAG_NAMES = re.compile(r"[<>%&\\?/]")


def row(
    token: str,
    properties: str,
    *,
    form: re.Pattern[str] = NAME_FORM,
    references: Mapping[str, str] | None = None,
    check: Check = lambda _inputs: (),
    rules: Rules = lambda _request: (),
    computed: Callable[[Request], Inputs] = lambda _request: {},
    immutable: str = "",
    sent: Mapping[str, object] | None = None,
    **more: Any,
) -> Kind:
    """A type.

    `properties` are the paths of inputs, without indices and with spaces between them: inputs that
    hold anything else are refused. `references` says which of them are ids, and of what type.
    `sent` are inputs that the SDK sends by itself, of which no other value is simulated.
    """
    usual = sent or {}
    paths = frozenset({*properties.split(), *usual})
    name = name_input(token)
    meant = references or {}

    def checked(inputs: Inputs) -> Iterator[str]:
        yield from _name_faults(inputs, name, form)
        yield from _tag_faults(inputs.get("tags") or {})
        for path, value in leaves({key: value for key, value in inputs.items() if key != "tags"}):
            if path not in paths or usual.get(path, value) != value:
                yield f"{path}: the simulation does not act on it"
        yield from check(inputs)

    def ruled(request: Request) -> Iterator[str]:
        identity = identify(token)(request)
        faults = [*_place_faults(request, identity), *_reference_faults(request, identity, meant)]
        # What refers to nothing is not looked at any further.
        yield from faults or rules(request)

    def outputs(request: Request) -> Inputs:
        identity = identify(token)(request)
        return {
            "name": request.inputs[name],
            "type": _type_of(identity),
            "provisioningState": "Succeeded",
            **computed(request),
        }

    return Kind(
        token=token,
        sdk=token.replace("azure-native", "pulumi_azure_native").replace(":", "."),
        supported=frozenset(path.partition(".")[0] for path in paths),
        identify=identify(token),
        immutable=frozenset({"resourceGroupName", "location", name, *immutable.split()}),
        check=checked,
        rules=ruled,
        computed=outputs,
        updated=computed,
        **more,
    )


def nested(account: Account, thing: Thing) -> str | None:
    """Why a thing with parts cannot go. (The real one would take some of them along.)"""
    parts = inside(account, thing.id)
    if not parts:
        return None
    return (
        "CannotDeleteResource: Can not delete resource before nested resources are deleted: "
        f"{parts[0].id}"
    )


def _type_of(identity: str) -> str:
    words = identity.split("/")[6:]
    return "/".join([words[0], *words[1::2]]) if words else "Microsoft.Resources/resourceGroups"


def _name_faults(inputs: Inputs, name: str, form: re.Pattern[str]) -> Iterator[str]:
    value = inputs.get(name)
    if value is not None and not form.fullmatch(value):
        yield f"InvalidResourceName: Resource name {value} is invalid."


def _tag_faults(tags: Mapping[str, Any]) -> Iterator[str]:
    if len(tags) > TAGS:
        yield f"TooManyTags: {len(tags)} tags, more than {TAGS}"
    names = [key.lower() for key in tags]
    for key, value in tags.items():
        if NOT_IN_TAG_NAMES.search(key) or not 1 <= len(key) <= TAG_NAME:
            yield f"InvalidTagNameCharacters: The tag name '{key}' is not valid."
        if key.lower().startswith(("microsoft", "azure", "windows")):
            yield f"ReservedTagNamePrefix: The tag name '{key}' has a reserved prefix."
        if names.count(key.lower()) > 1 or len(str(value)) > TAG_VALUE:
            yield f"InvalidTag: '{key}' is there twice, or its value is too long."


def _place_faults(request: Request, identity: str) -> Iterator[str]:
    """What is wrong with where a thing is to be."""
    parent = parent_of(identity)
    if not same(parent, identity) and look_up(request.account, parent) is None:
        yield from _no_parent(parent)
    if request.old is None and any(same(identity, other) for other in request.account.things):
        yield f"cannot create already existing resource '{identity}'"
    location = request.inputs.get("location")
    if location is not None and location not in REGIONS:
        yield (
            f"LocationNotAvailableForResourceType: The provided location '{location}' is not "
            f"available for resource type '{_type_of(identity)}'. (The simulation has "
            f"{', '.join(REGIONS)}.)"
        )
    yield from _zone_faults(request, identity)


def _no_parent(parent: str) -> Iterator[str]:
    name = parent.rpartition("/")[2]
    if _type_of(parent) == "Microsoft.Resources/resourceGroups":
        yield f"ResourceGroupNotFound: Resource group '{name}' could not be found."
    else:
        yield f"ParentResourceNotFound: the parent resource '{parent}' could not be found."


def _zone_faults(request: Request, identity: str) -> Iterator[str]:
    zones, location = request.inputs.get("zones") or [], request.inputs.get("location") or ""
    known = REGIONS.get(location, ())
    if zones and not known:
        yield (
            f"LocationNotSupportAvailabilityZones: The resource '{identity}' does not support "
            f"availability zones at location '{location}'."
        )
    elif not set(zones) <= set(known):
        yield (
            f"InvalidAvailabilityZone: The zone(s) '{','.join(zones)}' for resource '{identity}' "
            f"is not supported. The supported zones for location '{location}' are "
            f"'{','.join(known)}'"
        )


def _reference_faults(
    request: Request, identity: str, references: Mapping[str, str]
) -> Iterator[str]:
    """Ids that mean nothing, or something of another type, or something elsewhere."""
    location = request.inputs.get("location")
    for path, value in leaves(request.inputs):
        if path not in references:
            continue
        found = look_up(request.account, value)
        there = found and (found["location"] or location)
        if found is None or found.token != references[path] or location not in {None, there}:
            yield (
                f"InvalidResourceReference: Resource {value} referenced by resource {identity} was "
                "not found. Please make sure that the referenced resource exists, and that both "
                "resources are in the same region."
            )


GROUP_FORM = re.compile(r"[\w().-]{0,89}[\w()-]")
RESOURCE_GROUPS = (row(GROUP, "resourceGroupName location tags", form=GROUP_FORM, blocks=nested),)
