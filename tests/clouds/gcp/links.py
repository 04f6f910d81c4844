"""What things are called there, and how one refers to another: by name, id or link."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.core.kind import CloudError, Request
from tests.clouds.gcp.offers import (
    EXISTING,
    EXISTING_NETWORK,
    EXISTING_REGION,
    EXISTING_SUBNETWORK,
)

API = "https://www.googleapis.com/compute/v1/"

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
FIREWALL = "gcp:compute/firewall:Firewall"
ADDRESS = "gcp:compute/address:Address"
ROUTER = "gcp:compute/router:Router"
ROUTER_NAT = "gcp:compute/routerNat:RouterNat"
HEALTH_CHECK = "gcp:compute/regionHealthCheck:RegionHealthCheck"
GROUP = "gcp:compute/instanceGroup:InstanceGroup"
MEMBERSHIP = "gcp:compute/instanceGroupMembership:InstanceGroupMembership"
BACKEND_SERVICE = "gcp:compute/regionBackendService:RegionBackendService"
FORWARDING_RULE = "gcp:compute/forwardingRule:ForwardingRule"
DISK = "gcp:compute/disk:Disk"
INSTANCE = "gcp:compute/instance:Instance"

# {type: its ids, without the name at the end}
COLLECTIONS: Mapping[str, str] = {
    NETWORK: "projects/{project}/global/networks",
    FIREWALL: "projects/{project}/global/firewalls",
    SUBNETWORK: "projects/{project}/regions/{region}/subnetworks",
    ADDRESS: "projects/{project}/regions/{region}/addresses",
    ROUTER: "projects/{project}/regions/{region}/routers",
    HEALTH_CHECK: "projects/{project}/regions/{region}/healthChecks",
    BACKEND_SERVICE: "projects/{project}/regions/{region}/backendServices",
    FORWARDING_RULE: "projects/{project}/regions/{region}/forwardingRules",
    GROUP: "projects/{project}/zones/{zone}/instanceGroups",
    DISK: "projects/{project}/zones/{zone}/disks",
    INSTANCE: "projects/{project}/zones/{zone}/instances",
}


def place(request: Request) -> Mapping[str, str]:
    """Project, region and zone of what is asked for, as far as they are said."""
    said = {**request.settings, **request.inputs}
    if not said.get("project"):
        raise CloudError("project: required field is not set")
    return {key: said.get(key) or "" for key in ("project", "region", "zone")}


def collection(token: str, where: Mapping[str, str]) -> str:
    """What the ids of a type begin with in a place."""
    if "{region}" in COLLECTIONS[token] and not where["region"]:
        raise CloudError("region: required field is not set")
    return COLLECTIONS[token].format_map(where)


def path_of(reference: str) -> str:
    """A link or an id as id."""
    return reference.removeprefix(API)


def name_of(reference: str) -> str:
    """The name at the end of a link or an id."""
    return reference.rpartition("/")[2]


def identity_of(request: Request, token: str, reference: str) -> str:
    """The id that a reference means in this request: a link, an id, or a name in the same place."""
    path = path_of(reference)
    return path if "/" in path else f"{collection(token, place(request))}/{path}"


def find(request: Request, token: str, reference: object) -> Thing | None:
    """What a reference means in this request."""
    if not isinstance(reference, str):
        return None
    found = look_up(request.account, identity_of(request, token, reference))
    return found if found and found.token == token else None


def look_up(account: Account, identity: str) -> Thing | None:
    """The thing of that id, be it in the account or there from the beginning."""
    return account.get(identity) or there_already(identity)


def there_already(identity: str) -> Thing | None:
    """The network that every project has."""
    project = identity.split("/")[1] if identity.startswith("projects/") else ""
    if identity != f"projects/{project}/global/networks/{EXISTING}":
        return None
    return Thing(
        id=identity,
        token=NETWORK,
        inputs=dict(EXISTING_NETWORK),
        computed={"selfLink": f"{API}{identity}", "project": project},
    )


def subnetworks(request: Request, network: Thing) -> Iterator[tuple[str, str]]:
    """(id, range) of every subnet of a network but the one that is asked for."""
    for other in request.account.of(SUBNETWORK):
        parent = find(request, NETWORK, other["network"])
        if parent is not None and parent.id == network.id and other.id != request.id:
            yield other.id, other["ipCidrRange"]
    if network["name"] == EXISTING:
        name = EXISTING_SUBNETWORK["name"]
        beginning = f"projects/{network['project']}/regions/{EXISTING_REGION}/subnetworks"
        yield f"{beginning}/{name}", EXISTING_SUBNETWORK["ipCidrRange"]


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, value) of everything in some inputs that is neither an object nor a list."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from leaves(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member, path)
    else:
        yield path, value


def users(account: Account, thing: Thing, *uses: tuple[str, str]) -> Iterator[Thing]:
    """What refers to a thing in one of these: (type, path of an input)."""
    meant = {thing.id, thing["address"]}
    for token, wanted in uses:
        for other in account.of(token):
            if any(
                path == wanted and isinstance(value, str) and path_of(value) in meant
                for path, value in leaves(other.inputs)
            ):
                yield other


def in_use(account: Account, thing: Thing, *uses: tuple[str, str]) -> str | None:
    """Google's words for why a thing cannot be deleted."""
    for user in users(account, thing, *uses):
        return (
            f"Error 400: The resource '{thing.id}' is already being used by '{user.id}', "
            "resourceInUseByAnotherResource"
        )
    return None


def labels_of(inputs: Inputs) -> Inputs:
    """The outputs that a labelled thing has."""
    labels = inputs.get("labels") or {}
    return {"effectiveLabels": labels, "pulumiLabels": labels}
