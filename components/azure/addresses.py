"""Public addresses, of hosts, of the API's load balancer and of the NAT gateway."""

from __future__ import annotations

from pulumi import ComponentResource, Output, ResourceOptions
from pulumi_azure_native.network import PublicIPAddress
from pulumi_azure_native.resources import ResourceGroup

from components.azure import facts
from components.naming import physical, tags
from config import ClusterConfig


def make_address(
    parent: ComponentResource, name: str, config: ClusterConfig, resource_group: ResourceGroup
) -> PublicIPAddress:
    """A public address: in all zones, so that what has it may move from one to another."""
    return PublicIPAddress(
        name,
        public_ip_address_name=physical(name, facts.NAME),
        resource_group_name=resource_group.name,
        location=config.region,
        sku={"name": "Standard"},
        public_ip_allocation_method="Static",
        zones=list(facts.zones(config.region)) or None,
        idle_timeout_in_minutes=facts.IDLE_MINUTES,
        tags=tags(config),
        opts=ResourceOptions(parent=parent, delete_before_replace=True),
    )


def text_of(address: PublicIPAddress) -> Output[str]:
    """The address itself, which a static one has as soon as it is made."""
    found: Output[str] = address.ip_address.apply(lambda text: text or "")
    return found
