"""What a simulated Google account means as networks, machines and balancers.

Everything may go out. What comes in needs a rule: by its source's range, or by its private address
if the rule names a tag. Packets keep their addresses on the way through a load balancer, so nothing
but a client's own range lets it in there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tests.clouds.fabric.model import (
    Balancer,
    Disk,
    Fabric,
    Machine,
    Nat,
    Network,
    Probe,
    Rule,
)
from tests.clouds.gcp import links
from tests.clouds.gcp.balancing import members
from tests.clouds.gcp.links import look_up, path_of
from tests.clouds.gcp.machines import RUNNING
from tests.clouds.gcp.networks import ports_of

if TYPE_CHECKING:
    from tests.clouds.core.account import Account, Thing

PROBER = "35.191.0.1"  # of the ranges that Google's health checks come from
_ANYWHERE = "0.0.0.0/0"
_FREE = (Rule(protocol="any", ports=None, peers=(_ANYWHERE,)),)
_PROTOCOLS: Mapping[str, Any] = {"all": "any"}  # by another name


def fabric(account: Account) -> Fabric:
    """The account as what is to be made on this computer."""
    balancers = {one.id: one for one in _balancers(account)}
    return Fabric(
        networks={subnet.id: _network(account, subnet) for subnet in account.of(links.SUBNETWORK)},
        machines={
            instance.id: _machine(account, instance, balancers)
            for instance in account.of(links.INSTANCE)
        },
        nats={nat.network: nat for nat in _nats(account)},
        balancers=balancers,
        detached=tuple(_detached(account)),
    )


def _parent(account: Account, thing: Thing) -> Thing | None:
    """The network of a subnet, a rule or a router: by link, id, or name."""
    path = path_of(thing["network"])
    project = thing["project"]
    return look_up(account, path if "/" in path else f"projects/{project}/global/networks/{path}")


def _network(account: Account, subnet: Thing) -> Network:
    network = _parent(account, subnet)
    assert network is not None, f"{subnet.id} has no network"
    return Network(
        id=subnet.id,
        cidr=subnet["ipCidrRange"],
        mtu=int(network["mtu"]),
        internet=True,
        kept=(1, -2),  # the third is a machine's already
    )


# --- machines


def _subnet(instance: Thing) -> str:
    return path_of(instance["networkInterfaces"][0]["subnetwork"])


def _network_id(account: Account, instance: Thing) -> str | None:
    subnet = account.get(_subnet(instance))
    network = subnet and _parent(account, subnet)
    return network.id if network else None


def _machine(account: Account, instance: Thing, balancers: Mapping[str, Balancer]) -> Machine:
    interface = instance["networkInterfaces"][0]
    metadata = instance["metadata"] or {}
    configs = interface.get("accessConfigs") or []
    return Machine(
        id=instance.id,
        name=instance["name"],
        network=_subnet(instance),
        address=interface["networkIp"],
        public_address=configs[0]["natIp"] if configs else None,
        mtu=_network(account, account.things[_subnet(instance)]).mtu,
        login_keys=_login_keys(metadata),
        user_data=metadata.get("user-data", ""),
        inbound=tuple(_inbound(account, instance)),
        outbound=_FREE,
        disks=tuple(_disks(account, instance)),
        local_addresses=tuple(
            one.address for one in balancers.values() if instance.id in one.backends
        ),
        running=instance["currentStatus"] == RUNNING,
    )


def _login_keys(metadata: Mapping[str, str]) -> Mapping[str, tuple[str, ...]]:
    """The keys of the metadata, which count for nothing with OS Login."""
    if metadata.get("enable-oslogin", "FALSE").upper() == "TRUE":
        return {}
    keys: dict[str, tuple[str, ...]] = {}
    for line in metadata.get("ssh-keys", "").splitlines():
        user, _, key = line.partition(":")
        keys[user] = (*keys.get(user, ()), key)
    return keys


def _detached(account: Account) -> Iterator[Disk]:
    """Disks that no instance has keep what is on them."""
    attached = {disk.id for item in account.of(links.INSTANCE) for disk in _disks(account, item)}
    for disk in account.of(links.DISK):
        if disk.id not in attached:
            yield Disk(id=disk.id, size_gb=int(disk["size"]), path="")


def _disks(account: Account, instance: Thing) -> Iterator[Disk]:
    for number, attached in enumerate(instance["attachedDisks"] or (), start=1):
        disk = account.things[path_of(attached["source"])]
        name = attached.get("deviceName") or f"persistent-disk-{number}"
        yield Disk(id=disk.id, size_gb=int(disk["size"]), path=f"/dev/disk/by-id/google-{name}")


def _inbound(account: Account, instance: Thing) -> Iterator[Rule]:
    """What the rules of its network let in, tags looked up."""
    own, network = set(instance["tags"] or ()), _network_id(account, instance)
    for firewall in account.of(links.FIREWALL):
        parent = _parent(account, firewall)
        targets = set(firewall["targetTags"] or ())
        if parent is None or parent.id != network or (targets and not targets & own):
            continue
        peers = (
            *(firewall["sourceRanges"] or ()),
            *_tagged(account, network, set(firewall["sourceTags"] or ())),
        )
        if peers:
            yield from _allowed(firewall, peers)


def _tagged(account: Account, network: str, tags: set[str]) -> Iterator[str]:
    """The private addresses of the machines that have one of the tags; no public one ever."""
    for other in account.of(links.INSTANCE):
        if tags & set(other["tags"] or ()) and _network_id(account, other) == network:
            yield f"{other['networkInterfaces'][0]['networkIp']}/32"


def _allowed(firewall: Thing, peers: tuple[str, ...]) -> Iterator[Rule]:
    for allow in firewall["allows"]:
        protocol = _PROTOCOLS.get(allow["protocol"], allow["protocol"])
        for ports in [ports_of(port) for port in allow.get("ports") or ()] or [None]:
            yield Rule(protocol=protocol, ports=ports, peers=peers)


# --- the way out, and the way in


def _nats(account: Account) -> Iterator[Nat]:
    for nat in account.of(links.ROUTER_NAT):
        for listed in nat["subnetworks"]:
            subnet = account.things[path_of(listed["name"])]
            address = account.things[path_of(nat["natIps"][0])]
            yield Nat(
                network=subnet.id, sources=(subnet["ipCidrRange"],), address=address["address"]
            )


def _balancers(account: Account) -> Iterator[Balancer]:
    for rule in account.of(links.FORWARDING_RULE):
        service = account.things[path_of(rule["backendService"])]
        backends = list(_backends(account, service))
        if not backends:
            continue  # nobody answers there, and there is no network that it would belong to
        check = account.things[path_of(service["healthChecks"])]
        for port in rule["ports"]:
            yield Balancer(
                id=f"{rule.id}:{port}",
                network=_subnet(backends[0]),
                address=rule["ipAddress"],
                port=int(port),
                backend_port=int(port),
                backends=tuple(backend.id for backend in backends),
                translate=False,
                clients=None,
                probe=_probe(check),
            )


def _backends(account: Account, service: Thing) -> Iterator[Thing]:
    for backend in service["backends"] or ():
        group = account.get(path_of(backend["group"]))
        yield from members(account, group) if group else ()


def _probe(check: Thing) -> Probe:
    https = check["httpsHealthCheck"]
    return Probe(
        protocol="https",
        port=int(https.get("port", 443)),
        path=https.get("requestPath", "/"),
        source=PROBER,
        interval_seconds=int(check["checkIntervalSec"]),
        healthy=int(check["healthyThreshold"]),
        unhealthy=int(check["unhealthyThreshold"]),
    )
