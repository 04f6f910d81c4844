"""What happens to a simulated account behind everybody's back."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.clouds.azure.ids import MACHINE, RULE, same
from tests.clouds.core.account import Account, Thing
from tests.clouds.core.kind import CloudError

# Where the API says whether a machine runs.
STOPPED = {"statuses": [{"code": "PowerState/stopped"}]}


def is_running(machine: Thing) -> bool:
    """Whether nothing has stopped it."""
    return bool(machine["instanceView"] != STOPPED)


def _meant(account: Account, token: str, text: str) -> Thing:
    """The thing of that type and id, or of that name."""
    for thing in account.of(token):
        if same(thing.id, text) or same(thing["name"], text):
            return thing
    raise CloudError(f"the simulated account has no {token} {text}")


def terminate(account: Account, machine: str) -> None:
    """Somebody deletes a machine; its interface and etcd's disk stay."""
    del account.things[_meant(account, MACHINE, machine).id]


def reclaim(account: Account, machine: str) -> None:
    """Azure takes a Spot machine back, as its eviction policy says."""
    found = _meant(account, MACHINE, machine)
    if (found["priority"], found["evictionPolicy"]) != ("Spot", "Delete"):
        raise CloudError(f"{machine} is no Spot machine that goes when Azure needs the room")
    del account.things[found.id]


def fail_zone(account: Account, zone: str) -> None:
    """All machines of a zone stop."""
    for machine in account.of(MACHINE):
        if machine["zones"] == [zone]:
            machine.computed["instanceView"] = STOPPED


def revoke(account: Account, rule: str) -> None:
    """Somebody deletes a security rule."""
    del account.things[_meant(account, RULE, rule).id]


MISHAPS: Mapping[str, Callable[[Account, str], None]] = {
    "terminate": terminate,
    "reclaim": reclaim,
    "fail-zone": fail_zone,
    "revoke": revoke,
}
