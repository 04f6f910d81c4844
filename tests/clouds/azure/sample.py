"""A simulated account in memory, changed as the plugin changes it, and a small cluster in it."""

from __future__ import annotations

import base64
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from tests.clouds import bench
from tests.clouds.azure.ids import (
    ADDRESS,
    BALANCER,
    DISK,
    GROUP,
    INTERFACE,
    MACHINE,
    NAT,
    NETWORK,
    ROLE,
    RULE,
    SECURITY_GROUP,
    SUBNET,
    name_input,
)
from tests.clouds.core.account import Account, Inputs, Thing
from tests.clouds.fabric.model import Rule

KEY = "ssh-ed25519 AAAA"


class Bench:
    """An account, and the way to it: by names, and with what all things in it have."""

    def __init__(self) -> None:
        self.account = Account()

    def faults(self, token: str, inputs: Inputs) -> list[str]:
        """What is said against a new thing with these inputs."""
        return bench.against(self.account, token, inputs)

    def make(self, token: str, name: str, **inputs: Any) -> Thing:
        """A new thing, in the resource group `test`."""
        return bench.make(self.account, token, **self.inputs(token, name, **inputs))

    def change(self, thing: Thing, **inputs: Any) -> list[str]:
        """Change a thing; what is said against it, and if nothing is, it is done."""
        found = bench.against(self.account, thing.token, {**thing.inputs, **inputs}, thing)
        if not found:
            bench.change(self.account, thing, **inputs)
        return found

    def blocks(self, thing: Thing) -> str | None:
        """Why a thing cannot go."""
        return bench.kind_of(thing.token).blocks(self.account, thing)

    def inputs(self, token: str, name: str, **inputs: Any) -> Inputs:
        """Inputs with what all have."""
        location = bench.SETTINGS["azure-native"]["location"]
        common: Inputs = {"resourceGroupName": "test", "location": location, "tags": {"a": "b"}}
        supported = bench.kind_of(token).supported
        known = {key: value for key, value in common.items() if key in supported}
        return {**known, name_input(token): name, **inputs}


class Cluster(Bench):
    """A network with two roles; machines, rules and the rest as a test wants them."""

    def __init__(self, *, cidr: str = "10.10.0.0/24", private: bool = False) -> None:
        super().__init__()
        self.make(GROUP, "test")
        self.network = self.make(NETWORK, "net", addressSpace={"addressPrefixes": [cidr]})
        self.security_group = self.make(SECURITY_GROUP, "wall")
        self.roles = {name: self.make(ROLE, name) for name in ("master", "node")}
        self.gateway = None
        if private:
            address = self.make_address("nat-address")
            self.gateway = self.make(
                NAT, "nat", sku={"name": "Standard"}, publicIpAddresses=[{"id": address.id}]
            )
        self.subnet = self.make(
            SUBNET,
            "hosts",
            virtualNetworkName="net",
            addressPrefix=cidr,
            defaultOutboundAccess=False,
            networkSecurityGroup={"id": self.security_group.id},
            **({"natGateway": {"id": self.gateway.id}} if self.gateway else {}),
        )

    def make_address(self, name: str) -> Thing:
        """A public address."""
        return self.make(
            ADDRESS,
            name,
            sku={"name": "Standard"},
            publicIPAllocationMethod="Static",
            zones=["1", "2", "3"],
        )

    def make_rule(self, name: str, priority: int, **inputs: Any) -> Thing:
        """A rule that allows something to come in, unless the inputs say otherwise."""
        return self.make(RULE, name, **self.rule(priority, **inputs))

    @staticmethod
    def rule(priority: int, **inputs: Any) -> Inputs:
        """The inputs of such a rule."""
        return {
            "networkSecurityGroupName": "wall",
            "access": "Allow",
            "direction": "Inbound",
            "priority": priority,
            "protocol": "Tcp",
            "sourcePortRange": "*",
            "destinationPortRange": "*",
            **inputs,
        }

    def refuse_others(self) -> Thing:
        """The rule that leaves nothing for Azure's own."""
        anything = {"sourceAddressPrefix": "*", "destinationAddressPrefix": "*"}
        return self.make_rule("others", 4096, access="Deny", protocol="*", **anything)

    def make_interface(
        self, name: str, role: str, *, public: bool = True, pools: tuple[str, ...] = ()
    ) -> Thing:
        """A network interface in the subnet."""
        configuration: Inputs = {
            "name": "primary",
            "subnet": {"id": self.subnet.id},
            "applicationSecurityGroups": [{"id": self.roles[role].id}],
        }
        if public:
            configuration["publicIPAddress"] = {"id": self.make_address(f"{name}-address").id}
        if pools:
            configuration["loadBalancerBackendAddressPools"] = [{"id": pool} for pool in pools]
        return self.make(INTERFACE, f"{name}-nic", ipConfigurations=[configuration])

    def make_machine(
        self, name: str, role: str, *, public: bool = True, pools: tuple[str, ...] = (), **more: Any
    ) -> Thing:
        """A machine with an interface of its own."""
        interface = self.make_interface(name, role, public=public, pools=pools)
        return self.make(MACHINE, name, **{**self.machine(name, interface), **more})

    def machine(self, name: str, interface: Thing, disk: Thing | None = None) -> Inputs:
        """The inputs of a machine."""
        return {
            "hardwareProfile": {"vmSize": "Standard_B2als_v2"},
            "osProfile": {
                "computerName": name,
                "adminUsername": "ubuntu",
                "customData": base64.b64encode(b"#cloud-config\n").decode(),
                "linuxConfiguration": {
                    "disablePasswordAuthentication": True,
                    "ssh": {
                        "publicKeys": [
                            {"path": "/home/ubuntu/.ssh/authorized_keys", "keyData": KEY}
                        ]
                    },
                },
            },
            "storageProfile": {
                "imageReference": {
                    "publisher": "Canonical",
                    "offer": "ubuntu-24_04-lts",
                    "sku": "server",
                    "version": "latest",
                },
                "osDisk": {"createOption": "FromImage", "deleteOption": "Delete"},
                **({"dataDisks": [attached(disk)]} if disk else {}),
            },
            "networkProfile": {"networkInterfaces": [{"id": interface.id}]},
        }

    def make_disk(self, name: str, **inputs: Any) -> Thing:
        """A data disk."""
        common = {"creationData": {"createOption": "Empty"}, "sku": {"name": "Premium_LRS"}}
        return self.make(DISK, name, **{**common, "diskSizeGB": 10, **inputs})

    def make_balancer(self, **inputs: Any) -> Thing:
        """A load balancer for port 6443, with the pool `masters` and a way out for it."""
        address = self.make_address("api-address")
        return self.make(BALANCER, "api", **{**self.balancer(address), **inputs})

    def balancer(self, address: Thing) -> Inputs:
        """The inputs of such a load balancer."""
        frontend = {"id": self.part("frontendIPConfigurations", "public")}
        pool = {"id": self.pool}
        return {
            "sku": {"name": "Standard"},
            "frontendIPConfigurations": [{"name": "public", "publicIPAddress": {"id": address.id}}],
            "backendAddressPools": [{"name": "masters"}],
            "probes": [
                {
                    "name": "ready",
                    "protocol": "Https",
                    "port": 6443,
                    "requestPath": "/readyz",
                    "intervalInSeconds": 5,
                    "probeThreshold": 2,
                }
            ],
            "loadBalancingRules": [
                {
                    "name": "api",
                    "protocol": "Tcp",
                    "frontendPort": 6443,
                    "backendPort": 6443,
                    "frontendIPConfiguration": frontend,
                    "backendAddressPools": [pool],
                    "probe": {"id": self.part("probes", "ready")},
                    "disableOutboundSnat": True,
                }
            ],
            "outboundRules": [
                {
                    "name": "out",
                    "protocol": "All",
                    "frontendIPConfigurations": [frontend],
                    "backendAddressPool": pool,
                }
            ],
        }

    @property
    def pool(self) -> str:
        """The id of the pool."""
        return self.part("backendAddressPools", "masters")

    @staticmethod
    def part(collection: str, name: str) -> str:
        """The id of a part of the load balancer."""
        group = f"/subscriptions/{bench.SUBSCRIPTION}/resourceGroups/test"
        return f"{group}/providers/Microsoft.Network/loadBalancers/api/{collection}/{name}"


def attached(disk: Thing) -> Inputs:
    """A disk as a machine has it."""
    return {"lun": 0, "createOption": "Attach", "managedDisk": {"id": disk.id}}


def passes(rules: tuple[Rule, ...], protocol: str, port: int, peer: str) -> bool:
    """Whether a packet of that kind, from or to that address, gets through."""
    return any(
        rule.protocol in {"any", protocol}
        and (rule.ports is None or rule.ports[0] <= port <= rule.ports[1])
        and any(IPv4Address(peer) in IPv4Network(cidr) for cidr in rule.peers)
        for rule in rules
    )
