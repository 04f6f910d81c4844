"""What things are called in Azure, and how one refers to another: by id, capitals or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.clouds.azure.offers import EXISTING, EXISTING_GROUP, EXISTING_NETWORK
from tests.clouds.core.account import Account, Thing
from tests.clouds.core.kind import Request

GROUP = "azure-native:resources:ResourceGroup"
NETWORK = "azure-native:network:VirtualNetwork"
SUBNET = "azure-native:network:Subnet"
NAT = "azure-native:network:NatGateway"
ADDRESS = "azure-native:network:PublicIPAddress"
ROLE = "azure-native:network:ApplicationSecurityGroup"
SECURITY_GROUP = "azure-native:network:NetworkSecurityGroup"
RULE = "azure-native:network:SecurityRule"
BALANCER = "azure-native:network:LoadBalancer"
INTERFACE = "azure-native:network:NetworkInterface"
DISK = "azure-native:compute:Disk"
MACHINE = "azure-native:compute:VirtualMachine"

_IN_GROUP = "resourceGroups/{resourceGroupName}"
_NET = f"{_IN_GROUP}/providers/Microsoft.Network"
_COMPUTE = f"{_IN_GROUP}/providers/Microsoft.Compute"
# {type: its id within a subscription}; the last word is the input that is its name.
PATHS: Mapping[str, str] = {
    GROUP: _IN_GROUP,
    NETWORK: f"{_NET}/virtualNetworks/{{virtualNetworkName}}",
    SUBNET: f"{_NET}/virtualNetworks/{{virtualNetworkName}}/subnets/{{subnetName}}",
    NAT: f"{_NET}/natGateways/{{natGatewayName}}",
    ADDRESS: f"{_NET}/publicIPAddresses/{{publicIpAddressName}}",
    ROLE: f"{_NET}/applicationSecurityGroups/{{applicationSecurityGroupName}}",
    SECURITY_GROUP: f"{_NET}/networkSecurityGroups/{{networkSecurityGroupName}}",
    RULE: f"{_NET}/networkSecurityGroups/{{networkSecurityGroupName}}"
    "/securityRules/{securityRuleName}",
    BALANCER: f"{_NET}/loadBalancers/{{loadBalancerName}}",
    INTERFACE: f"{_NET}/networkInterfaces/{{networkInterfaceName}}",
    DISK: f"{_COMPUTE}/disks/{{diskName}}",
    MACHINE: f"{_COMPUTE}/virtualMachines/{{vmName}}",
}


def name_input(token: str) -> str:
    """The input that is the name of things of this type."""
    return PATHS[token].rpartition("{")[2].removesuffix("}")


def identify(token: str) -> Callable[[Request], str]:
    """How things of a type are called."""

    def identity(request: Request) -> str:
        subscription = request.settings["subscriptionId"]
        return f"/subscriptions/{subscription}/{PATHS[token].format_map(request.inputs)}"

    return identity


def same(one: str, other: str) -> bool:
    """Whether two ids mean the same thing."""
    return one.lower() == other.lower()


def parent_of(identity: str) -> str:
    """What a thing is part of: its network, its security group, or else its resource group."""
    words = identity.split("/")
    # /subscriptions/S/resourceGroups/G/providers/NAMESPACE/TYPE/NAME[/TYPE/NAME]
    return "/".join(words[:-2] if len(words) > 9 else words[:5])


def look_up(account: Account, identity: object) -> Thing | None:
    """The thing of that id, be it in the account or there from the beginning."""
    if not isinstance(identity, str):
        return None
    found = (thing for thing in account.things.values() if same(thing.id, identity))
    return next(found, None) or there_already(identity)


def find(account: Account, token: str, identity: object) -> Thing | None:
    """The thing of that type and id."""
    found = look_up(account, identity)
    return found if found and found.token == token else None


def there_already(identity: str) -> Thing | None:
    """The network that is in each subscription, made by somebody else, whatever that one's id."""
    words = identity.split("/")
    path = PATHS[NETWORK].format(resourceGroupName=EXISTING_GROUP, virtualNetworkName=EXISTING)
    if len(words) < 4 or not same("/".join(words[3:]), path):
        return None
    return Thing(id=identity, token=NETWORK, inputs=dict(EXISTING_NETWORK))


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path without indices, value) of everything that is neither an object nor a list."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from leaves(member, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for member in value:
            yield from leaves(member, path)
    elif value is not None:
        yield path, value


def users(account: Account, identity: str, *tokens: str) -> list[Thing]:
    """The things of these types that refer to a thing, or to a part of it."""
    wanted = identity.lower()

    def refers(thing: Thing) -> bool:
        return any(
            isinstance(value, str) and f"{value.lower()}/".startswith(f"{wanted}/")
            for _, value in leaves(thing.inputs)
        )

    return [
        thing
        for token in tokens
        for thing in account.of(token)
        if not same(thing.id, identity) and refers(thing)
    ]


def inside(account: Account, identity: str) -> list[Thing]:
    """The things whose ids begin with this one's."""
    beginning = f"{identity.lower()}/"
    return [thing for thing in account.things.values() if thing.id.lower().startswith(beginning)]


def part(balancer: Thing | None, collection: str, reference: object) -> dict[str, Any] | None:
    """The part of a load balancer that an id means: a pool, a probe, a frontend."""
    if balancer is None or not isinstance(reference, str):
        return None
    for item in balancer[collection] or ():
        if same(f"{balancer.id}/{collection}/{item['name']}", reference):
            found: dict[str, Any] = item
            return found
    return None
