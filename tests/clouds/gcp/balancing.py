"""The passthrough load balancer and what it consists of, as the simulated Google has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.clouds.gcp import links
from tests.clouds.gcp.links import API, find, in_use, look_up, name_of, path_of, place
from tests.clouds.gcp.networks import taken_by_another
from tests.clouds.gcp.offers import ZONES
from tests.clouds.gcp.table import invalid, missing, row

if TYPE_CHECKING:
    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Request

MOST_PORTS = 5

# What Google fills in.
CHECK_DEFAULTS: Mapping[str, Any] = {
    "checkIntervalSec": 5,
    "timeoutSec": 5,
    "healthyThreshold": 2,
    "unhealthyThreshold": 2,
}

HEALTH_CHECK = row(
    links.HEALTH_CHECK,
    "pulumi_gcp.compute.RegionHealthCheck",
    "name httpsHealthCheck.port httpsHealthCheck.requestPath",
    needs="httpsHealthCheck",
    defaults=CHECK_DEFAULTS,
    computed=lambda _request: {"type": "HTTPS"},
    blocks=lambda account, thing: in_use(account, thing, (links.BACKEND_SERVICE, "healthChecks")),
)


# --- groups of masters


def zone_faults(request: Request) -> Iterator[str]:
    """A zone that there is, in the region that the provider is for."""
    zone, region = request.inputs["zone"], place(request)["region"]
    if zone not in ZONES.get(region, ()):
        yield invalid("zone", zone, f"Unknown zone of {region}")


def _group_rules(request: Request) -> Iterator[str]:
    yield from zone_faults(request)
    if find(request, links.NETWORK, request.inputs["network"]) is None:
        yield missing(request, links.NETWORK, request.inputs["network"])


def members(account: Account, group: Thing) -> list[Thing]:
    """The instances in a group."""
    found = [
        look_up(account, path_of(membership["instance"]))
        for membership in account.of(links.MEMBERSHIP)
        if (name_of(membership["instanceGroup"]), membership["zone"])
        == (group["name"], group["zone"])
    ]
    return [instance for instance in found if instance is not None]


GROUP = row(
    links.GROUP,
    "pulumi_gcp.compute.InstanceGroup",
    "name zone network",
    needs="zone network",
    immutable="name zone network",
    rules=_group_rules,
    computed=lambda _request: {"instances": [], "size": 0},
    blocks=lambda account, thing: in_use(account, thing, (links.BACKEND_SERVICE, "backends.group")),
)


def _membership_id(request: Request) -> str:
    inputs = request.inputs
    group, instance = name_of(inputs["instanceGroup"]), path_of(inputs["instance"])
    return f"{place(request)['project']}/{inputs.get('zone')}/{group}/{instance}"


def _membership_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    group = find(request, links.GROUP, inputs["instanceGroup"])
    instance = find(request, links.INSTANCE, inputs["instance"])
    if group is None:
        yield missing(request, links.GROUP, inputs["instanceGroup"])
    if instance is None:
        yield missing(request, links.INSTANCE, inputs["instance"])
    if group is None or instance is None:
        return
    if instance["zone"] != group["zone"]:
        yield invalid("instances[0].instance", instance.id, f"Is not in the zone {group['zone']}")
    if network_of_instance(request, instance) != find(request, links.NETWORK, group["network"]):
        yield invalid("instances[0].instance", instance.id, "Is not in the group's network")
    others = [one for one in request.account.of(links.GROUP) if one.id != group.id]
    if any(instance in members(request.account, one) for one in others):
        words = f"Instance '{instance.id}' is in more than one load-balanced instance group"
        yield f"Error 400: {words}, instanceInMultipleLoadBalancedIgs"


def network_of_instance(request: Request, instance: Thing) -> Thing | None:
    """The network that an instance is in."""
    subnet = find(request, links.SUBNETWORK, instance["networkInterfaces"][0]["subnetwork"])
    return None if subnet is None else find(request, links.NETWORK, subnet["network"])


MEMBERSHIP = row(
    links.MEMBERSHIP,
    "pulumi_gcp.compute.InstanceGroupMembership",
    "zone instance instanceGroup",
    needs="zone",
    identify=_membership_id,
    immutable="zone instance instanceGroup",
    rules=_membership_rules,
)


# --- from an address to the groups


def _backend_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    if (inputs["loadBalancingScheme"], inputs["protocol"]) != ("EXTERNAL", "TCP"):
        yield "the simulation acts on EXTERNAL backend services of TCP only"
    if find(request, links.HEALTH_CHECK, inputs["healthChecks"]) is None:
        yield missing(request, links.HEALTH_CHECK, inputs["healthChecks"])
    backends = inputs.get("backends") or []
    for backend in backends:
        yield from _one_backend_faults(request, backend)
    if len({path_of(backend["group"]) for backend in backends}) < len(backends):
        yield invalid("backends", len(backends), "Two of them are the same group")


def _one_backend_faults(request: Request, backend: Mapping[str, Any]) -> Iterator[str]:
    link = backend["group"]
    group = find(request, links.GROUP, link)
    mode = backend.get("balancingMode") or "UTILIZATION"
    if mode != "CONNECTION":
        words = "An EXTERNAL backend service of TCP takes CONNECTION only"
        yield invalid("backends[0].balancingMode", mode, words)
    if not link.startswith(API):
        yield invalid("backends[0].group", link, "Must be a full link")
    if group is None:
        yield missing(request, links.GROUP, link)
    elif group["zone"] not in ZONES[place(request)["region"]]:
        yield invalid("backends[0].group", link, "Is in another region")


BACKEND_SERVICE = row(
    links.BACKEND_SERVICE,
    "pulumi_gcp.compute.RegionBackendService",
    "name loadBalancingScheme protocol healthChecks backends.group backends.balancingMode",
    needs="healthChecks",
    immutable="name loadBalancingScheme",
    defaults={"loadBalancingScheme": "INTERNAL", "protocol": "TCP"},
    rules=_backend_rules,
    blocks=lambda account, thing: in_use(account, thing, (links.FORWARDING_RULE, "backendService")),
)


def _forwarding_check(inputs: Inputs) -> Iterator[str]:
    ports = inputs.get("ports") or []
    if len(ports) > MOST_PORTS:
        yield invalid("ports", len(ports), f"At most {MOST_PORTS}")
    for port in ports:
        if not port.isdecimal():
            yield invalid("ports[0]", port, "Must be a port")


def _forwarding_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    service = find(request, links.BACKEND_SERVICE, inputs["backendService"])
    if service is None:
        yield missing(request, links.BACKEND_SERVICE, inputs["backendService"])
    elif service["loadBalancingScheme"] != inputs["loadBalancingScheme"]:
        words = "Differs from the backend service's"
        yield invalid("loadBalancingScheme", inputs["loadBalancingScheme"], words)
    elif service["protocol"] != inputs["ipProtocol"]:
        yield invalid("IPProtocol", inputs["ipProtocol"], "Differs from the backend service's")
    addresses = request.account.find(links.ADDRESS, "address", inputs["ipAddress"])
    if not addresses:
        yield invalid("IPAddress", inputs["ipAddress"], "Is no address of this region")
    elif taken_by_another(request, addresses[0]):
        words = f"The resource '{addresses[0].id}' is already being used by another resource"
        yield f"Error 400: {words}, resourceInUseByAnotherResource"


FORWARDING_RULE = row(
    links.FORWARDING_RULE,
    "pulumi_gcp.compute.ForwardingRule",
    "name loadBalancingScheme backendService ipAddress ipProtocol ports labels.*",
    needs="backendService ipAddress ports",
    immutable="name loadBalancingScheme backendService ipAddress ipProtocol ports",
    defaults={"loadBalancingScheme": "EXTERNAL", "ipProtocol": "TCP", "networkTier": "PREMIUM"},
    check=_forwarding_check,
    rules=_forwarding_rules,
)
