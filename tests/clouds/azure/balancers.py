"""Load balancers, and the network interfaces that are their backends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.clouds.azure.ids import (
    ADDRESS,
    BALANCER,
    INTERFACE,
    MACHINE,
    ROLE,
    SUBNET,
    find,
    identify,
    look_up,
    part,
    same,
    users,
)
from tests.clouds.azure.networks import address_faults, free_address, static_faults
from tests.clouds.azure.table import row
from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.core.kind import Request

LEAST_MINUTES, MOST_MINUTES = 4, 30
LEAST_SECONDS = 5
DYNAMIC, STATIC = "Dynamic", "Static"  # how an interface comes by its address
# {what refers: [(path, the collection that it means)]}, all within one load balancer.
_WITHIN = {
    "loadBalancingRules": [
        ("frontendIPConfiguration", "frontendIPConfigurations"),
        ("backendAddressPools", "backendAddressPools"),
        ("probe", "probes"),
    ],
    "outboundRules": [
        ("frontendIPConfigurations", "frontendIPConfigurations"),
        ("backendAddressPool", "backendAddressPools"),
    ],
}


def ids_of(value: Any) -> list[str]:
    """The ids in one reference or in several."""
    references = value if isinstance(value, list) else [value]
    return [reference["id"] for reference in references if reference]


def _balancer_check(inputs: Inputs) -> Iterator[str]:
    for probe in inputs.get("probes") or ():
        if probe.get("intervalInSeconds", LEAST_SECONDS) < LEAST_SECONDS:
            yield f"ProbeIntervalOutOfRange: at least {LEAST_SECONDS} seconds."
        if (probe.get("protocol") == "Tcp") == bool(probe.get("requestPath")):
            yield "ProbeRequestPath: Http and Https need a requestPath, Tcp has none."
    for kind in _WITHIN:
        for rule in inputs.get(kind) or ():
            minutes = rule.get("idleTimeoutInMinutes", LEAST_MINUTES)
            if not LEAST_MINUTES <= minutes <= MOST_MINUTES:
                yield f"IdleTimeoutOutOfRange: {minutes} of {rule.get('name')}"


def _balancer_rules(request: Request) -> Iterator[str]:
    identity = identify(BALANCER)(request)
    yield from address_faults(request, identity)
    if (request.inputs.get("sku") or {}).get("name") != "Standard":
        yield (
            "DifferentSkuLoadBalancersAndPublicIPAddressNotAllowed: Different sku load balancer "
            f"{identity} and public IP addresses are not allowed."
        )
    if not request.inputs.get("frontendIPConfigurations"):
        yield f"LoadBalancerWithoutFrontendIPCantHaveChildResources: {identity}"
    balancer = Thing(id=identity, token=BALANCER, inputs=request.inputs)
    for kind, references in _WITHIN.items():
        for rule in request.inputs.get(kind) or ():
            for name, collection in references:
                for reference in ids_of(rule.get(name)):
                    if part(balancer, collection, reference) is None:
                        yield (
                            f"InvalidResourceReference: Resource {reference} referenced by "
                            f"resource {identity}/{kind}/{rule['name']} was not found."
                        )
    yield from _snat_faults(balancer)


def _snat_faults(balancer: Thing) -> Iterator[str]:
    """One frontend cannot translate the same machines' addresses twice."""
    out = {
        reference.lower()
        for rule in balancer["outboundRules"] or ()
        for reference in ids_of(rule["frontendIPConfigurations"])
    }
    for rule in balancer["loadBalancingRules"] or ():
        shared = rule["frontendIPConfiguration"]["id"].lower() in out
        if shared and not rule.get("disableOutboundSnat"):
            yield (
                "LoadBalancingRuleMustDisableSNATSinceSameFrontendIPConfigurationIsReferencedBy"
                f"OutboundRule: Load balancing rule {balancer.id}/loadBalancingRules/"
                f"{rule['name']} must disable SNAT."
            )


def balancer_of(account: Account, pool_id: str) -> Thing | None:
    """The load balancer whose pool this is, if it has it."""
    balancer = find(account, BALANCER, pool_id.partition("/backendAddressPools/")[0])
    return balancer if part(balancer, "backendAddressPools", pool_id) else None


def _interface_check(inputs: Inputs) -> Iterator[str]:
    configurations = inputs.get("ipConfigurations")
    if configurations is not None and len(configurations) != 1:
        yield "ipConfigurations: the simulation has interfaces with exactly one"
    for configuration in configurations or ():
        static = configuration.get("privateIPAllocationMethod", DYNAMIC) == STATIC
        if static and "privateIPAddress" not in configuration:
            yield (
                "PrivateIPAddressMissing: Private IP address is required when "
                f"privateIPAllocationMethod is {STATIC} in IP configuration."
            )
        if not static and "privateIPAddress" in configuration:
            yield "privateIPAddress: the simulation gives dynamic addresses itself"


def _interface_rules(request: Request) -> Iterator[str]:
    identity = identify(INTERFACE)(request)
    yield from address_faults(request, identity)
    for configuration in request.inputs.get("ipConfigurations") or ():
        pools = ids_of(configuration.get("loadBalancerBackendAddressPools") or [])
        balancers = [balancer_of(request.account, pool) for pool in pools]
        if None in balancers:
            yield (
                f"InvalidResourceReference: Resource {pools[balancers.index(None)]} referenced by "
                f"resource {identity} was not found."
            )
        if len({balancer.id for balancer in balancers if balancer}) > 1:
            yield (
                "NetworkInterfaceCannotBeInMultiplePublicLoadBalancers: Network interface "
                f"{identity} references pools of more than one public load balancer."
            )
        subnet = find(request.account, SUBNET, configuration["subnet"]["id"])
        static = configuration.get("privateIPAddress")
        if subnet and static:
            yield from static_faults(request, identity, subnet, static)
        elif request.old is None and subnet and free_address(request.account, subnet) is None:
            yield (
                f"SubnetIsFull: Subnet {subnet['subnetName']} with address prefix "
                f"{subnet['addressPrefix']} does not have enough capacity for 1 IP addresses."
            )


def _interface_computed(request: Request) -> Inputs:
    """The interface has the address that it asks for, or keeps its own while in the subnet."""
    (configuration,) = request.inputs["ipConfigurations"]
    subnet = look_up(request.account, configuration["subnet"]["id"])
    old = request.old["ipConfigurations"][0] if request.old else None
    stays = old is not None and same(old["subnet"]["id"], configuration["subnet"]["id"])
    kept = old["privateIPAddress"] if old and stays else None
    address = configuration.get("privateIPAddress") or kept
    if address is None and subnet is not None:
        address = free_address(request.account, subnet)
    return {"ipConfigurations": [{**configuration, "privateIPAddress": address}]}


def _interface_blocks(account: Account, interface: Thing) -> str | None:
    found = users(account, interface.id, MACHINE)
    if not found:
        return None
    return (
        f"NicInUse: Network Interface {interface.id} is used by existing resource {found[0].id}. "
        "In order to delete the network interface, it must be dissociated from the resource."
    )


BALANCERS = (
    row(
        BALANCER,
        "resourceGroupName loadBalancerName location sku.name tags "
        "frontendIPConfigurations.name frontendIPConfigurations.publicIPAddress.id "
        "backendAddressPools.name "
        "probes.name probes.protocol probes.port probes.requestPath probes.intervalInSeconds "
        "probes.probeThreshold "
        "loadBalancingRules.name loadBalancingRules.protocol loadBalancingRules.frontendPort "
        "loadBalancingRules.backendPort loadBalancingRules.frontendIPConfiguration.id "
        "loadBalancingRules.backendAddressPools.id loadBalancingRules.probe.id "
        "loadBalancingRules.disableOutboundSnat loadBalancingRules.enableTcpReset "
        "loadBalancingRules.idleTimeoutInMinutes "
        "outboundRules.name outboundRules.protocol outboundRules.frontendIPConfigurations.id "
        "outboundRules.backendAddressPool.id outboundRules.enableTcpReset "
        "outboundRules.idleTimeoutInMinutes",
        references={"frontendIPConfigurations.publicIPAddress.id": ADDRESS},
        check=_balancer_check,
        rules=_balancer_rules,
        immutable="sku",
    ),
    row(
        INTERFACE,
        "resourceGroupName networkInterfaceName location tags "
        "ipConfigurations.name ipConfigurations.primary ipConfigurations.subnet.id "
        "ipConfigurations.privateIPAllocationMethod ipConfigurations.privateIPAddress "
        "ipConfigurations.publicIPAddress.id "
        "ipConfigurations.applicationSecurityGroups.id "
        "ipConfigurations.loadBalancerBackendAddressPools.id",
        references={
            "ipConfigurations.subnet.id": SUBNET,
            "ipConfigurations.publicIPAddress.id": ADDRESS,
            "ipConfigurations.applicationSecurityGroups.id": ROLE,
        },
        check=_interface_check,
        rules=_interface_rules,
        computed=_interface_computed,
        blocks=_interface_blocks,
    ),
)
