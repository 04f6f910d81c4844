"""What happens to a simulated Google account behind everybody's back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tests.clouds.core.kind import CloudError
from tests.clouds.gcp import links
from tests.clouds.gcp.links import path_of
from tests.clouds.gcp.machines import TERMINATED

if TYPE_CHECKING:
    from tests.clouds.core.account import Account, Thing


def _named(account: Account, token: str, identity: str) -> Thing:
    """The one thing of that type and of that id or name."""
    found = [thing for thing in account.of(token) if identity in {thing.id, thing["name"]}]
    if len(found) != 1:
        raise CloudError(f"there are {len(found)} of {identity}")
    return found[0]


def terminate(account: Account, identity: str) -> None:
    """Delete an instance; with it goes its place in an instance group."""
    instance = _named(account, links.INSTANCE, identity)
    for membership in account.of(links.MEMBERSHIP):
        if path_of(membership["instance"]) == instance.id:
            del account.things[membership.id]
    del account.things[instance.id]


def reclaim(account: Account, identity: str) -> None:
    """Take a spot machine back: it is deleted or stopped, as it was made to be."""
    instance = _named(account, links.INSTANCE, identity)
    scheduling = instance["scheduling"]
    if scheduling["provisioningModel"] != "SPOT":
        raise CloudError(f"{instance.id} is no spot machine, and stays")
    if scheduling.get("instanceTerminationAction") == "DELETE":
        terminate(account, instance.id)
    else:
        instance.computed["currentStatus"] = TERMINATED


def fail_zone(account: Account, zone: str) -> None:
    """Stop everything in a zone."""
    for instance in account.of(links.INSTANCE):
        if instance["zone"] == zone:
            instance.computed["currentStatus"] = TERMINATED


def revoke(account: Account, identity: str) -> None:
    """Delete a firewall rule."""
    del account.things[_named(account, links.FIREWALL, identity).id]


MISHAPS: Mapping[str, Callable[[Account, str], None]] = {
    "terminate": terminate,
    "reclaim": reclaim,
    "fail-zone": fail_zone,
    "revoke": revoke,
}
