"""What an account means on this computer: machines, who may reach them, and the load balancers.

A security group that a rule names stands for the private addresses of its members. So what comes by
way of the internet, from a member's public address, does not match; but whatever comes by way of a
load balancer that has the group does, whoever sent it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.clouds.aws import world
from tests.clouds.aws.balancers import HEALTH_CHECK
from tests.clouds.aws.machines import LOGIN_KEYS
from tests.clouds.aws.shared import find
from tests.clouds.aws.tokens import (
    BALANCER,
    EGRESS,
    INGRESS,
    INSTANCE,
    LISTENER,
    NAT,
    SUBNET,
    TARGET,
    VOLUME,
    VOLUME_ATTACHMENT,
    VPC,
)
from tests.clouds.aws.ways import faces_internet, gateway_of, way_out
from tests.clouds.fabric.model import (
    BALANCED,
    Balancer,
    Disk,
    Fabric,
    Machine,
    Nat,
    Network,
    Probe,
    Rule,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Literal

    from tests.clouds.core.account import Account, Thing

MTU = 9001  # within a VPC
_PROTOCOLS: Mapping[str, Literal["tcp", "udp", "icmp", "any"]] = {
    "tcp": "tcp",
    "udp": "udp",
    "icmp": "icmp",
    "-1": "any",
}


def fabric(account: Account) -> Fabric:
    """All of it."""
    return Fabric(
        networks=_networks(account),
        machines={thing.id: _machine(account, thing) for thing in account.of(INSTANCE)},
        nats=_nats(account),
        balancers=dict(_balancers(account)),
        detached=tuple(_detached(account)),
    )


def _networks(account: Account) -> dict[str, Network]:
    """The account's own networks, and somebody else's where it has a subnet in it."""
    used = {subnet["vpcId"] for subnet in account.of(SUBNET)}
    identities = sorted({thing.id for thing in account.of(VPC)} | used)
    found = [thing for identity in identities if (thing := find(account, VPC, identity))]
    return {
        vpc.id: Network(
            id=vpc.id,
            cidr=vpc["cidrBlock"],
            mtu=MTU,
            internet=gateway_of(account, vpc.id) is not None,
        )
        for vpc in found
    }


def _machine(account: Account, thing: Thing) -> Machine:
    subnet, image = account.things[thing["subnetId"]], world.image(thing["ami"])
    groups = thing["vpcSecurityGroupIds"]
    # A public address that no gateway's route leads to is one in name only.
    public = thing["publicIp"] if faces_internet(account, subnet.id) else None
    return Machine(
        id=thing.id,
        name=(thing["tags"] or {}).get("Name", thing.id),
        network=subnet["vpcId"],
        address=thing["privateIp"],
        public_address=public or None,
        mtu=MTU,
        login_keys={image.user: tuple(thing[LOGIN_KEYS])} if image else {},
        user_data=thing["userData"] or "",
        inbound=tuple(_rules(account, INGRESS, groups)),
        outbound=tuple(_rules(account, EGRESS, groups)),
        disks=tuple(_disks(account, thing)),
    )


def _disks(account: Account, instance: Thing) -> Iterator[Disk]:
    """By their serial, as NVMe disks have it: the attachment's own name for it counts nothing."""
    for attachment in account.find(VOLUME_ATTACHMENT, "instanceId", instance.id):
        yield _disk(account.things[attachment["volumeId"]])


def _detached(account: Account) -> Iterator[Disk]:
    for volume in account.of(VOLUME):
        if not account.find(VOLUME_ATTACHMENT, "volumeId", volume.id):
            yield _disk(volume)


def _disk(volume: Thing) -> Disk:
    serial = volume.id.replace("-", "")
    return Disk(
        id=volume.id,
        size_gb=int(volume["size"]),
        path=f"/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_{serial}",
    )


def _rules(account: Account, token: str, groups: Sequence[str]) -> Iterator[Rule]:
    """What the rules of these groups let through, each as long as there is anybody it is about."""
    for thing in account.of(token):
        peers = _peers(account, thing) if thing["securityGroupId"] in groups else ()
        if peers:
            yield Rule(protocol=_PROTOCOLS[thing["ipProtocol"]], ports=_ports(thing), peers=peers)


def _ports(rule: Thing) -> tuple[int, int] | None:
    if rule["fromPort"] is None:
        return None
    return int(rule["fromPort"]), int(rule["toPort"])


def _peers(account: Account, rule: Thing) -> tuple[str, ...]:
    group = rule["referencedSecurityGroupId"]
    if group is None:
        return (str(rule["cidrIpv4"]),)
    balancers = [item for item in account.of(BALANCER) if group in (item["securityGroups"] or ())]
    own = [item["privateIpv4Address"] for found in balancers for item in found["subnetMappings"]]
    members = [
        item["privateIp"] for item in account.of(INSTANCE) if group in item["vpcSecurityGroupIds"]
    ]
    return (*(f"{address}/32" for address in (*members, *own)), *((BALANCED,) if balancers else ()))


def _nats(account: Account) -> dict[str, Nat]:
    """The gateways that have a way out themselves, for the subnets whose way out they are."""
    found = {}
    for gateway in account.of(NAT):
        sources = tuple(
            str(subnet["cidrBlock"])
            for subnet in account.of(SUBNET)
            if (route := way_out(account, subnet.id)) and route["natGatewayId"] == gateway.id
        )
        if sources and faces_internet(account, gateway["subnetId"]):
            found[gateway.id] = Nat(
                network=account.things[gateway["subnetId"]]["vpcId"],
                sources=sources,
                address=gateway["publicIp"],
            )
    return found


def _balancers(account: Account) -> Iterator[tuple[str, Balancer]]:
    """One for each listener whose load balancer has a way to the internet."""
    for listener in account.of(LISTENER):
        balancer = account.get(listener["loadBalancerArn"])
        group = account.get(listener["defaultActions"][0]["targetGroupArn"])
        if balancer is None or group is None:
            continue
        if not any(faces_internet(account, subnet) for subnet in balancer["subnets"]):
            continue
        identity = f"{balancer['name']}-{listener['port']}"
        yield (
            identity,
            Balancer(
                id=identity,
                network=balancer["vpcId"],
                address=balancer["dnsName"],
                port=int(listener["port"]),
                backend_port=int(group["port"]),
                backends=tuple(_backends(account, balancer, group)),
                translate=True,
                clients=_clients(account, balancer, int(listener["port"])),
                probe=_probe(balancer, group),
            ),
        )


def _clients(account: Account, balancer: Thing, port: int) -> tuple[str, ...] | None:
    """Whom its own group lets in; without a group, everybody."""
    groups = balancer["securityGroups"]
    if not groups:
        return None
    return tuple(
        peer
        for rule in _rules(account, INGRESS, groups)
        if _covers(rule, port)
        for peer in rule.peers
        if peer != BALANCED
    )


def _covers(rule: Rule, port: int) -> bool:
    first, last = rule.ports or (0, 65535)
    return rule.protocol in {"tcp", "any"} and first <= port <= last


def _backends(account: Account, balancer: Thing, group: Thing) -> Iterator[str]:
    """The targets that it can reach: in its zones, and by its own group's rules for what goes out.

    The one address that it has here stands for that of the first zone; unless it balances across
    zones, that one serves the targets of its own zone only.
    """
    zones = [account.things[subnet]["availabilityZone"] for subnet in balancer["subnets"]]
    served = zones if balancer["enableCrossZoneLoadBalancing"] else zones[:1]
    reached = _reached(account, balancer, int(group["port"]))
    for target in account.find(TARGET, "targetGroupArn", group.id):
        instance = account.get(target["targetId"])
        if instance is None or instance["availabilityZone"] not in served:
            continue
        if reached is None or f"{instance['privateIp']}/32" in reached:
            yield instance.id


def _reached(account: Account, balancer: Thing, port: int) -> set[str] | None:
    """The single addresses that its group lets it send to; None: all."""
    groups = balancer["securityGroups"]
    if not groups:
        return None
    rules = [rule for rule in _rules(account, EGRESS, groups) if _covers(rule, port)]
    peers = {peer for rule in rules for peer in rule.peers}
    return None if "0.0.0.0/0" in peers else peers


def _probe(balancer: Thing, group: Thing) -> Probe:
    check = {**HEALTH_CHECK, **(group["healthCheck"] or {})}
    return Probe(
        protocol="https" if check["protocol"] == "HTTPS" else "tcp",
        port=int(group["port"]),
        path=check["path"],
        source=balancer["subnetMappings"][0]["privateIpv4Address"],
        interval_seconds=int(check["interval"]),
        healthy=int(check["healthyThreshold"]),
        unhealthy=int(check["unhealthyThreshold"]),
    )
