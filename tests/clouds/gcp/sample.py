"""Small accounts for tests, and what may come into them."""

from __future__ import annotations

from typing import Any

from tests.clouds.bench import SETTINGS, make
from tests.clouds.core.account import Account, Thing
from tests.clouds.gcp import links

REGION = SETTINGS["gcp"]["region"]
ZONE, OTHER_ZONE = f"{REGION}-a", f"{REGION}-b"
IMAGE = f"{links.API}projects/ubuntu-os-cloud/global/images/ubuntu-2404-noble-amd64-v20260401"
ARM_IMAGE = IMAGE.replace("amd64", "arm64")
USER_DATA = "#cloud-config\nssh_deletekeys: true\nbootcmd:\n- [iptables]\n"


def network(account: Account) -> Thing:
    """The subnet 10.0.0.0/24 in a network of its own."""
    made = make(account, links.NETWORK, name="net", autoCreateSubnetworks=False, mtu=1460)
    return make(
        account,
        links.SUBNETWORK,
        name="subnet",
        network=made["selfLink"],
        ipCidrRange="10.0.0.0/24",
    )


def instance(account: Account, name: str, **more: Any) -> Thing:
    """A machine in that subnet, in the first zone; `public` gives it a reserved address."""
    (subnet,) = account.find(links.SUBNETWORK, "name", "subnet")
    interface: dict[str, Any] = {"subnetwork": subnet["selfLink"]}
    if more.pop("public", False):
        address = make(account, links.ADDRESS, name=name)
        interface["accessConfigs"] = [{"natIp": address["address"]}]
    defaults = {
        "zone": ZONE,
        "machineType": "e2-medium",
        "bootDisk": {"initializeParams": {"image": IMAGE, "type": "pd-balanced", "size": 30}},
        "networkInterfaces": [interface],
        "metadata": {"ssh-keys": "ubuntu:ssh-ed25519 AAAA", "user-data": USER_DATA},
    }
    return make(account, links.INSTANCE, name=name, **{**defaults, **more})


def group(account: Account, name: str = "group", zone: str = ZONE) -> Thing:
    """An instance group for that network."""
    (parent,) = account.find(links.NETWORK, "name", "net")
    return make(account, links.GROUP, name=name, zone=zone, network=parent["selfLink"])


def join(account: Account, of: Thing, machine: Thing) -> Thing:
    """Put a machine into a group."""
    return make(
        account,
        links.MEMBERSHIP,
        zone=of["zone"],
        instance=machine["selfLink"],
        instanceGroup=of["name"],
    )


def balancer(account: Account, *groups: Thing) -> Thing:
    """A load balancer for the groups, with all that it consists of."""
    check = make(
        account,
        links.HEALTH_CHECK,
        name="check",
        httpsHealthCheck={"port": 6443, "requestPath": "/readyz"},
    )
    service = make(
        account,
        links.BACKEND_SERVICE,
        name="service",
        loadBalancingScheme="EXTERNAL",
        protocol="TCP",
        healthChecks=check["selfLink"],
        backends=[{"group": one["selfLink"], "balancingMode": "CONNECTION"} for one in groups],
    )
    address = make(account, links.ADDRESS, name="api")
    return make(
        account,
        links.FORWARDING_RULE,
        name="rule",
        loadBalancingScheme="EXTERNAL",
        backendService=service["selfLink"],
        ipAddress=address["address"],
        ipProtocol="TCP",
        ports=["6443"],
    )


def allow(account: Account, name: str, port: str, protocol: str = "tcp", **more: Any) -> Thing:
    """A firewall rule of that network."""
    (parent,) = account.find(links.NETWORK, "name", "net")
    allows = [{"protocol": protocol, "ports": [port]}]
    return make(account, links.FIREWALL, name=name, network=parent.id, allows=allows, **more)
