"""What makes and removes the local platform's containers, as a program of its own.

`python -m components.local.docker VERB` reads a request as one JSON object from standard input and
prints one JSON object. Errors are words on standard error. The requests are in
`containers/requests.py`; delete verbs need only `name` of them. No verb ever prints a key.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping

from components.local.containers.balancers import configure_balancer, create_balancer
from components.local.containers.containers import delete
from components.local.containers.machines import create_machine
from components.local.containers.mirrors import create_mirror
from components.local.containers.networks import create_network, delete_network
from components.local.containers.requests import (
    BackendsRequest,
    BalancerRequest,
    MachineRequest,
    MirrorRequest,
    Named,
    NetworkRequest,
    parse,
)
from components.local.containers.shell import CommandError, say

Verb = Callable[[object], dict[str, object]]


def _delete_container(data: object) -> dict[str, object]:
    return delete(parse(Named, data, strict=False).name)


VERBS: Mapping[str, Verb] = {
    "create-network": lambda data: create_network(parse(NetworkRequest, data)),
    "create-machine": lambda data: create_machine(parse(MachineRequest, data)),
    "create-load-balancer": lambda data: create_balancer(parse(BalancerRequest, data)),
    "configure-load-balancer": lambda data: configure_balancer(parse(BackendsRequest, data)),
    "create-mirror": lambda data: create_mirror(parse(MirrorRequest, data)),
    "delete-machine": _delete_container,
    "delete-load-balancer": _delete_container,
    "delete-mirror": _delete_container,
    "delete-network": lambda data: delete_network(parse(Named, data, strict=False)),
}


def main() -> int:
    """Entry point: run one verb."""
    name = " ".join(sys.argv[1:])
    verb = VERBS.get(name)
    if verb is None:
        say(f"components.local.docker: name one verb of {', '.join(VERBS)}")
        return 2
    try:
        sys.stdout.write(f"{json.dumps(verb(json.load(sys.stdin)))}\n")
    except json.JSONDecodeError as error:
        # Only where: the text may hold keys.
        say(f"{name}: the request on standard input is no JSON (line {error.lineno})")
        return 1
    except CommandError as error:
        say(f"{name}: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
