"""No machine of ours asks for an address that a simulated network needs for itself."""

from __future__ import annotations

from ipaddress import IPv4Network

import pytest

from tests.clouds.environment import PLATFORMS
from tests.clouds.fabric.place import gateway
from tests.clouds.mocked import deploy


@pytest.mark.parametrize("platform", sorted(PLATFORMS))
def test_no_machine_has_the_router_s_address_or_the_bridge_s(platform: str) -> None:
    fabric = deploy(platform).fabric
    for machine in fabric.machines.values():
        network = fabric.networks[machine.network]
        kept = {str(gateway(network.cidr)), str(IPv4Network(network.cidr)[network.kept])}
        assert machine.address not in kept, machine.name
