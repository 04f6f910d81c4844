"""Networks, subnets, firewall rules, addresses, and NAT, as the simulated Google has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import IPv4Address, IPv4Network
from typing import TYPE_CHECKING

from tests.clouds.core.addresses import public
from tests.clouds.gcp import links
from tests.clouds.gcp.links import find, in_use, subnetworks
from tests.clouds.gcp.table import invalid, missing, name_faults, row

if TYPE_CHECKING:
    from tests.clouds.core.account import Account, Inputs, Thing
    from tests.clouds.core.kind import Request

SMALLEST, LARGEST = 29, 4
SMALLEST_MTU, LARGEST_MTU = 1300, 8896
RESERVED_FIRST, RESERVED_LAST = 2, 2
_PROHIBITED = [
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "199.36.153.4/30",
        "199.36.153.8/30",
        "224.0.0.0/4",
    )
]
_WITH_PORTS = frozenset({"tcp", "udp"})
_PROTOCOLS = _WITH_PORTS | {"icmp", "all"}
LAST_PORT = 65535


def network_of(range_: str) -> IPv4Network | None:
    """A range as Google takes it; None for what is none."""
    try:
        return IPv4Network(range_)
    except ValueError:
        return None


def ports_of(text: str) -> tuple[int, int] | None:
    """First and last port of `22` or `80-90`; None for what is neither."""
    first, dash, last = text.partition("-")
    if not first.isdecimal() or not (last.isdecimal() if dash else True):
        return None
    ports = (int(first), int(last) if dash else int(first))
    return ports if 0 < ports[0] <= ports[1] <= LAST_PORT else None


# --- networks and subnets


def _network_check(inputs: Inputs) -> Iterator[str]:
    mtu = inputs.get("mtu")
    if mtu is not None and not SMALLEST_MTU <= mtu <= LARGEST_MTU:
        yield invalid("mtu", mtu, f"Must be between {SMALLEST_MTU} and {LARGEST_MTU}")


def _network_blocks(account: Account, thing: Thing) -> str | None:
    uses = ((token, "network") for token in (links.SUBNETWORK, links.FIREWALL, links.ROUTER))
    return in_use(account, thing, *uses)


NETWORK = row(
    links.NETWORK,
    "pulumi_gcp.compute.Network",
    "name autoCreateSubnetworks mtu",
    immutable="name autoCreateSubnetworks",
    defaults={"autoCreateSubnetworks": True, "mtu": 1460, "routingMode": "REGIONAL"},
    check=_network_check,
    blocks=_network_blocks,
)


def _subnetwork_check(inputs: Inputs) -> Iterator[str]:
    text = inputs.get("ipCidrRange")
    if text is None:
        return
    range_ = network_of(text)
    if range_ is None:
        yield invalid("ipCidrRange", text, "Must be a network with its first address")
    elif not LARGEST <= range_.prefixlen <= SMALLEST:
        yield invalid("ipCidrRange", text, f"Must be of a size from /{LARGEST} to /{SMALLEST}")
    elif any(range_.overlaps(taken) for taken in _PROHIBITED):
        yield invalid("ipCidrRange", text, "Overlaps a range that cannot be used")


def _subnetwork_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    range_ = IPv4Network(inputs["ipCidrRange"])
    network = find(request, links.NETWORK, inputs["network"])
    if network is None:
        yield missing(request, links.NETWORK, inputs["network"])
        return
    if network["autoCreateSubnetworks"]:
        yield invalid("network", network.id, "Its subnets are made automatically")
    for other, taken in subnetworks(request, network):
        if range_.overlaps(IPv4Network(taken)):
            words = f"Invalid IPCidrRange: {range_} conflicts with existing subnetwork '{other}'"
            yield f"Error 400: {words}, invalid"
    if request.old and not range_.supernet_of(IPv4Network(request.old["ipCidrRange"])):
        yield invalid("ipCidrRange", range_, "A subnet can only be widened where it is")


def _subnetwork_computed(request: Request) -> Inputs:
    return {"gatewayAddress": str(IPv4Network(request.inputs["ipCidrRange"])[1])}


SUBNETWORK = row(
    links.SUBNETWORK,
    "pulumi_gcp.compute.Subnetwork",
    "name network ipCidrRange",
    needs="ipCidrRange",
    immutable="name network",
    check=_subnetwork_check,
    rules=_subnetwork_rules,
    computed=_subnetwork_computed,
    blocks=lambda account, thing: in_use(
        account,
        thing,
        (links.INSTANCE, "networkInterfaces.subnetwork"),
        (links.ROUTER_NAT, "subnetworks.name"),
        (links.ADDRESS, "subnetwork"),
    ),
)


def range_faults(field: str, subnet: Thing, address: str) -> Iterator[str]:
    """What is against an address in a subnet, whoever wants it."""
    range_, wanted = IPv4Network(subnet["ipCidrRange"]), IPv4Address(address)
    if wanted not in range_:
        yield invalid(field, address, "Requested internal IP is outside the subnetwork CIDR range.")
    elif not range_[RESERVED_FIRST] <= wanted < range_[-RESERVED_LAST]:
        yield invalid(field, address, "Requested internal IP is one that Google keeps.")


# --- firewall rules


def _firewall_check(inputs: Inputs) -> Iterator[str]:
    for range_ in inputs.get("sourceRanges") or ():
        if network_of(range_) is None:
            yield invalid("sourceRanges", range_, "Must be a network with its first address")
    for key in ("sourceTags", "targetTags"):
        for tag in inputs.get(key) or ():
            yield from name_faults(key, tag)
    for allow in inputs.get("allows") or ():
        yield from _allow_faults(allow)


def _allow_faults(allow: Mapping[str, object]) -> Iterator[str]:
    protocol, ports = allow.get("protocol"), allow.get("ports") or ()
    if protocol not in _PROTOCOLS:
        yield invalid("allowed[0].IPProtocol", protocol, "Must be a protocol")
    assert isinstance(ports, list | tuple)
    if ports and protocol not in _WITH_PORTS:
        yield invalid("allowed[0].ports", ports, f"{protocol} has no ports")
    for port in ports:
        if ports_of(port) is None:
            yield invalid("allowed[0].ports[0]", port, "Must be a port or a range of ports")


def _firewall_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    if not (inputs.get("sourceRanges") or inputs.get("sourceTags")):
        yield (
            "one of source_tags, source_ranges, or source_service_accounts must be defined for "
            "an INGRESS firewall"
        )
    if find(request, links.NETWORK, inputs["network"]) is None:
        yield missing(request, links.NETWORK, inputs["network"])


FIREWALL = row(
    links.FIREWALL,
    "pulumi_gcp.compute.Firewall",
    "name network description allows.protocol allows.ports sourceRanges sourceTags targetTags",
    needs="allows",
    defaults={"direction": "INGRESS", "priority": 1000},
    check=_firewall_check,
    rules=_firewall_rules,
)


# --- addresses, and the way out

_ADDRESS_USES = (
    (links.INSTANCE, "networkInterfaces.accessConfigs.natIp"),
    (links.INSTANCE, "networkInterfaces.networkIp"),
    (links.FORWARDING_RULE, "ipAddress"),
    (links.ROUTER_NAT, "natIps"),
)

EXTERNAL, INTERNAL = "EXTERNAL", "INTERNAL"


def reserved(request: Request, subnet: Thing) -> Iterator[Thing]:
    """The addresses of a subnet that are reserved: no machine gets one that does not ask for it."""
    for address in request.account.of(links.ADDRESS):
        if find(request, links.SUBNETWORK, address["subnetwork"]) == subnet:
            yield address


def _address_check(inputs: Inputs) -> Iterator[str]:
    kind = inputs.get("addressType", EXTERNAL)
    if kind not in {EXTERNAL, INTERNAL}:
        yield invalid("addressType", kind, f"Must be {EXTERNAL} or {INTERNAL}")
    elif kind == EXTERNAL and ("address" in inputs or "subnetwork" in inputs):
        yield "the simulation gives external addresses itself"


def _address_rules(request: Request) -> Iterator[str]:
    """One that a machine has already can be reserved: it is promoted then."""
    inputs = request.inputs
    if inputs["addressType"] == EXTERNAL:
        return
    subnet = find(request, links.SUBNETWORK, inputs.get("subnetwork"))
    if subnet is None:
        yield missing(request, links.SUBNETWORK, inputs.get("subnetwork"))
        return
    if "address" not in inputs:
        yield "the simulation chooses no internal address to be reserved"
        return
    yield from range_faults("address", subnet, inputs["address"])
    for other in reserved(request, subnet):
        if other["address"] == inputs["address"] and other.id != request.id:
            yield in_use_elsewhere(inputs["address"])


def in_use_elsewhere(address: str) -> str:
    """Google's words for a private address that something else has."""
    words = f"IP '{address}' is already being used by another resource."
    return f"Error 400: {words}, IP_IN_USE_BY_ANOTHER_RESOURCE"


def _address_computed(request: Request) -> Inputs:
    internal = request.inputs["addressType"] == INTERNAL
    return {} if internal else {"address": public("gcp", request.account)}


ADDRESS = row(
    links.ADDRESS,
    "pulumi_gcp.compute.Address",
    "name labels.* addressType subnetwork address",
    immutable="name addressType subnetwork address",
    defaults={"addressType": EXTERNAL, "networkTier": "PREMIUM"},
    check=_address_check,
    rules=_address_rules,
    computed=_address_computed,
    blocks=lambda account, thing: in_use(account, thing, *_ADDRESS_USES),
)


def _router_rules(request: Request) -> Iterator[str]:
    if find(request, links.NETWORK, request.inputs["network"]) is None:
        yield missing(request, links.NETWORK, request.inputs["network"])


ROUTER = row(
    links.ROUTER,
    "pulumi_gcp.compute.Router",
    "name network",
    immutable="name network",
    rules=_router_rules,
)


def _nat_check(inputs: Inputs) -> Iterator[str]:
    if len(inputs.get("name") or "xx") == 1:
        yield invalid("nats[0].name", inputs["name"], "Must have 2 characters or more")
    if inputs.get("natIpAllocateOption", "MANUAL_ONLY") != "MANUAL_ONLY":
        yield "the simulation does not act on natIpAllocateOption but MANUAL_ONLY"
    if inputs.get("sourceSubnetworkIpRangesToNat", "LIST_OF_SUBNETWORKS") != "LIST_OF_SUBNETWORKS":
        yield "the simulation does not act on sourceSubnetworkIpRangesToNat but LIST_OF_SUBNETWORKS"


def _nat_rules(request: Request) -> Iterator[str]:
    inputs = request.inputs
    router = find(request, links.ROUTER, inputs["router"])
    if router is None:
        yield missing(request, links.ROUTER, inputs["router"])
        return
    for link in inputs["natIps"]:
        yield from _nat_address_faults(request, link)
    parent = find(request, links.NETWORK, router["network"])
    for listed in inputs["subnetworks"]:
        subnet = find(request, links.SUBNETWORK, listed["name"])
        if subnet is None:
            yield missing(request, links.SUBNETWORK, listed["name"])
        elif find(request, links.NETWORK, subnet["network"]) != parent:
            yield invalid("nats[0].subnetworks", subnet.id, "Is not in the router's network")


def _nat_address_faults(request: Request, link: str) -> Iterator[str]:
    address = find(request, links.ADDRESS, link)
    if address is None:
        yield missing(request, links.ADDRESS, link)
    elif taken_by_another(request, address):
        yield f"Error 400: External IP address: {address['address']} is already in-use., invalid"


def taken_by_another(request: Request, address: Thing) -> bool:
    """Whether something else has this address already."""
    using = links.users(request.account, address, *_ADDRESS_USES)
    return any(user.id != request.id for user in using)


def _nat_id(request: Request) -> str:
    where = links.place(request)
    inputs = request.inputs
    return f"{where['project']}/{where['region']}/{inputs['router']}/{inputs['name']}"


ROUTER_NAT = row(
    links.ROUTER_NAT,
    "pulumi_gcp.compute.RouterNat",
    "name router natIpAllocateOption natIps sourceSubnetworkIpRangesToNat subnetworks.name "
    "subnetworks.sourceIpRangesToNats enableDynamicPortAllocation",
    needs="natIps subnetworks",
    identify=_nat_id,
    immutable="name router",
    check=_nat_check,
    rules=_nat_rules,
)
