"""The simulated account as networks, machines, ways out and balancers on this computer."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network
from typing import Any

from tests.clouds.azure.balancers import ids_of
from tests.clouds.azure.ids import (
    ADDRESS,
    BALANCER,
    DISK,
    INTERFACE,
    MACHINE,
    NETWORK,
    SUBNET,
    find,
    look_up,
    parent_of,
    part,
)
from tests.clouds.azure.machines import interface_ids
from tests.clouds.azure.mishaps import is_running
from tests.clouds.azure.networks import prefixes
from tests.clouds.azure.offers import SIZES
from tests.clouds.azure.security import PLATFORM, View, passing
from tests.clouds.core.account import Account, Thing
from tests.clouds.fabric.model import Balancer, Disk, Fabric, Machine, Nat, Network, Probe

MTU = 1500
# Where a machine finds a disk, by what it is attached with.
DISK_PATHS: Mapping[str, str] = {
    "SCSI": "/dev/disk/azure/scsi1/lun{lun}",
    "NVMe": "/dev/disk/azure/data/by-lun/{lun}",
}


def fabric(account: Account) -> Fabric:
    """All of an account that packets meet."""
    found = {machine.id: machine for machine in _machines(account)}
    return Fabric(
        networks={network.id: network for network in _networks(account)},
        machines=found,
        nats=dict(_nats(account, found)),
        balancers={balancer.id: balancer for balancer in _balancers(account, found)},
        detached=tuple(_detached(account)),
    )


def _home(account: Account, subnet: Thing) -> Thing:
    """The virtual network that a subnet is in."""
    network = find(account, NETWORK, parent_of(subnet.id))
    if network is None:
        raise LookupError(f"{subnet.id} is in no network")
    return network


def _networks(account: Account) -> Iterator[Network]:
    """Only those with subnets, and of a network's ranges the one that is used."""
    for subnet in account.of(SUBNET):
        network, range_ = _home(account, subnet), IPv4Network(subnet["addressPrefix"])
        cidr = next(space for space in prefixes(network) if range_.subnet_of(space))
        yield Network(id=network.id, cidr=str(cidr), mtu=MTU, internet=True)


def _configuration(account: Account, machine: Thing) -> Mapping[str, Any]:
    """The one IP configuration of a machine's one interface."""
    (identity,) = interface_ids(machine.inputs)
    interface = find(account, INTERFACE, identity)
    found: Mapping[str, Any] = interface["ipConfigurations"][0] if interface else {}
    return found


def _text_of(account: Account, reference: Mapping[str, str] | None) -> str | None:
    """The public address that a reference to one means."""
    address = find(account, ADDRESS, reference["id"]) if reference else None
    return None if address is None else str(address["ipAddress"])


def _members(account: Account) -> Mapping[str, tuple[str, ...]]:
    """The private addresses in each application security group."""
    found: dict[str, tuple[str, ...]] = {}
    for interface in account.of(INTERFACE):
        for configuration in interface["ipConfigurations"]:
            for role in ids_of(configuration.get("applicationSecurityGroups") or []):
                members = found.get(role.lower(), ())
                found[role.lower()] = (*members, configuration["privateIPAddress"])
    return found


def _machines(account: Account) -> Iterator[Machine]:
    members = _members(account)
    for machine in account.of(MACHINE):
        configuration = _configuration(account, machine)
        subnet = look_up(account, configuration.get("subnet", {}).get("id"))
        if subnet is not None:
            yield _machine(account, machine, configuration, subnet, members)


def _machine(
    account: Account,
    machine: Thing,
    configuration: Mapping[str, Any],
    subnet: Thing,
    members: Mapping[str, tuple[str, ...]],
) -> Machine:
    network, profile = _home(account, subnet), machine["osProfile"]
    roles = ids_of(configuration.get("applicationSecurityGroups") or [])
    view = View(
        address=configuration["privateIPAddress"],
        roles=frozenset(role.lower() for role in roles),
        members=members,
        network=tuple(prefixes(network)),
    )
    group = (subnet["networkSecurityGroup"] or {}).get("id")
    keys = profile["linuxConfiguration"]["ssh"]["publicKeys"]
    return Machine(
        id=machine.id,
        name=profile["computerName"],
        network=network.id,
        address=view.address,
        public_address=_text_of(account, configuration.get("publicIPAddress")),
        mtu=MTU,
        login_keys={profile["adminUsername"]: tuple(key["keyData"] for key in keys)},
        user_data=base64.b64decode(profile.get("customData") or "").decode(),
        inbound=passing(account, group, "Inbound", view),
        outbound=passing(account, group, "Outbound", view),
        disks=tuple(_disks(account, machine)),
        running=is_running(machine),
    )


def _detached(account: Account) -> Iterator[Disk]:
    """Disks that no machine has keep what is on them."""
    attached = {disk.id for machine in account.of(MACHINE) for disk in _disks(account, machine)}
    for disk in account.of(DISK):
        if disk.id not in attached:
            yield Disk(id=disk.id, size_gb=int(disk["diskSizeGB"]), path="")


def _disks(account: Account, machine: Thing) -> Iterator[Disk]:
    controller = SIZES[machine["hardwareProfile"]["vmSize"]].controller
    for attached in machine["storageProfile"].get("dataDisks") or ():
        disk = find(account, DISK, attached["managedDisk"]["id"])
        if disk is not None:
            path = DISK_PATHS[controller].format(lun=int(attached["lun"]))
            yield Disk(id=disk.id, size_gb=int(disk["diskSizeGB"]), path=path)


def _nats(account: Account, machines: Mapping[str, Machine]) -> Iterator[tuple[str, Nat]]:
    """NAT gateways, and balancers' outbound rules for machines that have no better way out."""
    served = set()
    for subnet in account.of(SUBNET):
        gateway = look_up(account, (subnet["natGateway"] or {}).get("id"))
        for reference in gateway["publicIpAddresses"] if gateway else ():
            address = _text_of(account, reference)
            if address is not None:
                range_ = subnet["addressPrefix"]
                served.add(IPv4Network(range_))
                network = _home(account, subnet).id
                yield subnet.id, Nat(network=network, sources=(range_,), address=address)
    for balancer in account.of(BALANCER):
        for rule in balancer["outboundRules"] or ():
            backends = [
                machine
                for machine in _backends(account, machines, ids_of(rule["backendAddressPool"]))
                if machine.public_address is None
                and not any(IPv4Network(machine.address).subnet_of(range_) for range_ in served)
            ]
            frontends = ids_of(rule["frontendIPConfigurations"])
            address = _frontend(account, balancer, frontends[0])
            if backends and address is not None:
                sources = tuple(f"{machine.address}/32" for machine in backends)
                identity = f"{balancer.id}/outboundRules/{rule['name']}"
                yield identity, Nat(network=backends[0].network, sources=sources, address=address)


def _backends(account: Account, machines: Mapping[str, Machine], pools: list[str]) -> list[Machine]:
    """The machines whose interfaces are in one of the pools."""
    wanted = {pool.lower() for pool in pools}

    def is_in(machine: Machine) -> bool:
        configuration = _configuration(account, account.things[machine.id])
        joined = ids_of(configuration.get("loadBalancerBackendAddressPools") or [])
        return bool(wanted & {pool.lower() for pool in joined})

    return [machine for machine in machines.values() if is_in(machine)]


def _frontend(account: Account, balancer: Thing, identity: str) -> str | None:
    frontend = part(balancer, "frontendIPConfigurations", identity) or {}
    return _text_of(account, frontend.get("publicIPAddress"))


def _balancers(account: Account, machines: Mapping[str, Machine]) -> Iterator[Balancer]:
    """One for each rule of a load balancer that has backends, since they say in which network."""
    for balancer in account.of(BALANCER):
        for rule in balancer["loadBalancingRules"] or ():
            backends = _backends(account, machines, ids_of(rule.get("backendAddressPools")))
            address = _frontend(account, balancer, rule["frontendIPConfiguration"]["id"])
            probe = part(balancer, "probes", (rule.get("probe") or {}).get("id"))
            if not backends or address is None or probe is None:
                continue
            yield Balancer(
                id=f"{balancer.id}/loadBalancingRules/{rule['name']}",
                network=backends[0].network,
                address=address,
                port=int(rule["frontendPort"]),
                backend_port=int(rule.get("backendPort") or rule["frontendPort"]),
                backends=tuple(machine.id for machine in backends),
                translate=True,
                clients=None,  # the backends' own security group decides
                probe=_probe(probe),
            )


def _probe(probe: Mapping[str, Any]) -> Probe:
    answers = int(probe.get("probeThreshold") or 1)
    return Probe(
        protocol="https" if probe["protocol"] == "Https" else "tcp",
        port=int(probe["port"]),
        path=probe.get("requestPath") or "",
        source=str(PLATFORM.network_address),
        interval_seconds=int(probe.get("intervalInSeconds") or 15),
        healthy=answers,
        unhealthy=answers,
    )
