"""What happens to machines and rules behind the program's back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from tests.clouds.aws.tokens import EGRESS, INGRESS, INSTANCE, TARGET, VOLUME_ATTACHMENT
from tests.clouds.core.kind import CloudError

if TYPE_CHECKING:
    from tests.clouds.core.account import Account, Thing


def _the(account: Account, identity: str, *tokens: str) -> Thing:
    thing = account.get(identity)
    if thing is None or thing.token not in tokens:
        raise CloudError(f"there is no {identity} of the type {' or '.join(tokens)}")
    return thing


def terminate(account: Account, identity: str) -> None:
    """An instance is gone, with its attachments to disks and load balancers. The disks stay."""
    instance = _the(account, identity, INSTANCE)
    gone = [
        *account.find(VOLUME_ATTACHMENT, "instanceId", instance.id),
        *account.find(TARGET, "targetId", instance.id),
        instance,
    ]
    for thing in gone:
        del account.things[thing.id]


def reclaim(account: Account, identity: str) -> None:
    """The spot market takes an instance back."""
    options = _the(account, identity, INSTANCE)["instanceMarketOptions"] or {}
    if options.get("marketType") != "spot":
        raise CloudError(f"{identity} is no spot instance: nobody can take it back")
    terminate(account, identity)


def fail_zone(account: Account, zone: str) -> None:
    """A zone loses all its instances."""
    lost = account.find(INSTANCE, "availabilityZone", zone)
    if not lost:
        raise CloudError(f"there is no instance in the zone {zone}")
    for instance in lost:
        terminate(account, instance.id)


def revoke(account: Account, identity: str) -> None:
    """Somebody takes a rule away from a security group."""
    del account.things[_the(account, identity, INGRESS, EGRESS).id]


MISHAPS: Mapping[str, Callable[[Account, str], None]] = {
    "terminate": terminate,
    "reclaim": reclaim,
    "fail-zone": fail_zone,
    "revoke": revoke,
}
