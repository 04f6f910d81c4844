"""How the backends of the balancers are, as the router's health checks find them."""

from __future__ import annotations

from components.local.containers.engine import docker
from tests.clouds.fabric.memory import recall
from tests.clouds.fabric.place import Place, key
from tests.clouds.fabric.router import Router

# The files that files/health.sh makes: KEY/ADDRESS for each backend that is well.
_LIST = "cd /run/simulated-cloud && mkdir -p healthy && find healthy -type f -printf '%P\\n'"


def backends(router: Router) -> dict[str, object]:
    """What has to be remembered to know whom an address belongs to."""
    return {
        key(balancer.id): {
            "id": balancer.id,
            "machines": {machine.address: machine.id for machine in machines},
        }
        for balancer, machines in router.balancers
    }


def healthy(place: Place) -> dict[str, list[str]]:
    """The ids of the machines that each balancer finds well, by the balancer's id."""
    balancers = recall(place).get("balancers", {})
    well = docker("exec", place.router, "sh", "-c", _LIST).split() if balancers else []
    return {
        balancer["id"]: sorted(
            machine
            for address, machine in balancer["machines"].items()
            if f"{short}/{address}" in well
        )
        for short, balancer in balancers.items()
    }
