"""What packets meet in a simulated Azure account: no Docker, no engine, only the pure function."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clouds.azure.fabric import fabric
from tests.clouds.azure.ids import MACHINE, SUBNET
from tests.clouds.azure.mishaps import MISHAPS
from tests.clouds.azure.offers import EXISTING, EXISTING_CIDR, EXISTING_GROUP
from tests.clouds.azure.sample import KEY, Cluster, passes
from tests.clouds.bench import SUBSCRIPTION
from tests.clouds.core.kind import CloudError
from tests.clouds.fabric.model import Fabric, Machine, Nat, Network, Probe, Rule

OUTSIDE, ADMINISTRATOR = "8.8.8.8", "203.0.113.7"
PLATFORM = "168.63.129.16"


def named(found: Fabric, name: str) -> Machine:
    (machine,) = (machine for machine in found.machines.values() if machine.name == name)
    return machine


def reaches(found: Fabric, source: str, target: str, port: int, protocol: str = "tcp") -> bool:
    """Whether `source`, a machine's name or an address, reaches a machine."""
    sender = {machine.name: machine.address for machine in found.machines.values()}
    return passes(named(found, target).inbound, protocol, port, sender.get(source, source))


@pytest.fixture
def cluster() -> Cluster:
    """A master and two nodes, and no rule but Azure's own."""
    made = Cluster()
    made.make_machine("m", "master")
    made.make_machine("n1", "node")
    made.make_machine("n2", "node")
    return made


def role(cluster: Cluster, name: str) -> list[dict[str, str]]:
    return [{"id": cluster.roles[name].id}]


def test_a_network_with_its_machines(cluster: Cluster) -> None:
    found = fabric(cluster.account)
    home = cluster.network.id
    assert found.networks == {home: Network(id=home, cidr="10.10.0.0/24", mtu=1500, internet=True)}
    machine = named(found, "n1")
    assert (machine.network, machine.address, machine.mtu) == (home, "10.10.0.5", 1500)
    assert machine.public_address is not None
    assert machine.public_address.startswith("198.18.48.")
    assert machine.login_keys == {"ubuntu": (KEY,)}
    assert machine.user_data == "#cloud-config\n"
    assert (machine.running, machine.forwards, machine.local_addresses) == (True, False, ())


def test_an_empty_account_is_an_empty_fabric() -> None:
    assert fabric(Cluster().account).machines == {}
    empty = Cluster()
    empty.account.things.clear()
    assert fabric(empty.account) == Fabric()


def test_without_rules_of_ours_the_network_talks_and_nobody_else(cluster: Cluster) -> None:
    found = fabric(cluster.account)
    assert reaches(found, "n1", "m", 6443)
    assert reaches(found, "n1", "n2", 8472, "udp")
    assert reaches(found, PLATFORM, "m", 6443)
    assert not reaches(found, OUTSIDE, "m", 22)
    assert not reaches(found, OUTSIDE, "m", 0, "icmp")


def test_a_machine_may_send_anything_anywhere(cluster: Cluster) -> None:
    expected = (Rule(protocol="any", ports=None, peers=("0.0.0.0/0",)),)
    assert named(fabric(cluster.account), "n1").outbound == expected


def test_a_last_rule_closes_what_azure_leaves_open(cluster: Cluster) -> None:
    cluster.refuse_others()
    found = fabric(cluster.account)
    assert named(found, "m").inbound == ()
    assert not reaches(found, PLATFORM, "m", 6443)
    assert passes(named(found, "m").outbound, "tcp", 443, OUTSIDE)


def test_a_role_s_rule_is_for_private_addresses_of_that_role(cluster: Cluster) -> None:
    cluster.refuse_others()
    cluster.make_rule(
        "api",
        200,
        sourceApplicationSecurityGroups=role(cluster, "node"),
        destinationApplicationSecurityGroups=role(cluster, "master"),
        destinationPortRange="6443",
    )
    found = fabric(cluster.account)
    assert named(found, "m").inbound == (
        Rule(protocol="tcp", ports=(6443, 6443), peers=("10.10.0.5/32", "10.10.0.6/32")),
    )
    assert reaches(found, "n2", "m", 6443)
    assert not reaches(found, "n2", "n1", 6443)
    assert not reaches(found, "m", "m", 6443)
    outside = named(found, "n1").public_address
    assert outside is not None
    assert not reaches(found, outside, "m", 6443)


def test_the_probe_is_let_in_by_its_tag(cluster: Cluster) -> None:
    cluster.refuse_others()
    cluster.make_rule(
        "probe",
        200,
        sourceAddressPrefix="AzureLoadBalancer",
        destinationApplicationSecurityGroups=role(cluster, "master"),
        destinationPortRange="6443",
    )
    found = fabric(cluster.account)
    assert reaches(found, PLATFORM, "m", 6443)
    assert not reaches(found, PLATFORM, "n1", 6443)
    assert not reaches(found, "n1", "m", 6443)


@pytest.mark.parametrize(
    ("allowed", "denied", "open_"), [(200, 300, True), (300, 200, False)], ids=["first", "second"]
)
def test_the_smaller_number_decides(
    cluster: Cluster, allowed: int, denied: int, *, open_: bool
) -> None:
    anybody = {"sourceAddressPrefix": "Internet", "destinationAddressPrefix": "*"}
    cluster.make_rule("allow", allowed, destinationPortRange="20-30", **anybody)
    cluster.make_rule("deny", denied, access="Deny", destinationPortRange="22", **anybody)
    found = fabric(cluster.account)
    assert reaches(found, OUTSIDE, "m", 22) is open_
    assert reaches(found, OUTSIDE, "m", 21)
    assert reaches(found, OUTSIDE, "m", 30)
    assert not reaches(found, OUTSIDE, "m", 31)


def test_a_hole_in_a_range_is_a_hole(cluster: Cluster) -> None:
    cluster.refuse_others()
    target = {"destinationAddressPrefix": "*", "destinationPortRange": "22"}
    cluster.make_rule("deny", 200, access="Deny", sourceAddressPrefix=ADMINISTRATOR, **target)
    ranges = ["203.0.113.0/29", "198.51.100.0/24"]
    cluster.make_rule("allow", 300, sourceAddressPrefixes=ranges, **target)
    found = fabric(cluster.account)
    assert [reaches(found, f"203.0.113.{last}", "n1", 22) for last in (0, 6, 7, 8)] == [
        True,
        True,
        False,
        False,
    ]
    assert reaches(found, "198.51.100.200", "n1", 22)


def test_a_rule_about_ports_says_nothing_of_ping(cluster: Cluster) -> None:
    cluster.refuse_others()
    anybody = {"sourceAddressPrefix": "*", "destinationAddressPrefix": "*"}
    cluster.make_rule("some", 200, protocol="*", destinationPortRange="53", **anybody)
    found = fabric(cluster.account)
    assert reaches(found, OUTSIDE, "m", 53, "udp")
    assert reaches(found, OUTSIDE, "m", 53)
    assert not reaches(found, OUTSIDE, "m", 53, "icmp")
    cluster.make_rule("ping", 201, protocol="Icmp", **anybody)
    assert reaches(fabric(cluster.account), OUTSIDE, "m", 0, "icmp")


def test_a_rule_for_the_way_out_closes_nothing_on_the_way_in(cluster: Cluster) -> None:
    anybody = {"sourceAddressPrefix": "*", "destinationAddressPrefix": "Internet"}
    cluster.make_rule("out", 200, access="Deny", direction="Outbound", protocol="*", **anybody)
    machine = named(fabric(cluster.account), "m")
    assert not passes(machine.outbound, "tcp", 443, OUTSIDE)
    assert passes(machine.outbound, "tcp", 6443, "10.10.0.5")
    assert passes(machine.inbound, "tcp", 6443, "10.10.0.5")


def test_a_subnet_without_a_security_group_has_azure_s_own_rules(cluster: Cluster) -> None:
    before = named(fabric(cluster.account), "m").inbound
    cluster.refuse_others()
    del cluster.subnet.inputs["networkSecurityGroup"]
    assert named(fabric(cluster.account), "m").inbound == before


def test_without_address_gateway_or_outbound_rule_there_is_no_way_out() -> None:
    cluster = Cluster()
    cluster.make_machine("m", "master", public=False)
    found = fabric(cluster.account)
    assert named(found, "m").public_address is None
    assert found.nats == {}


def test_a_nat_gateway_is_the_way_out_of_its_subnet() -> None:
    cluster = Cluster(private=True)
    cluster.make_balancer()
    cluster.make_machine("m", "master", public=False, pools=(cluster.pool,))
    (nat,) = fabric(cluster.account).nats.values()
    address = next(t for t in cluster.account.things.values() if t["name"] == "nat-address")
    assert nat == Nat(
        network=cluster.network.id, sources=("10.10.0.0/24",), address=address["ipAddress"]
    )


def test_an_outbound_rule_is_the_way_out_of_backends_that_have_no_other() -> None:
    cluster = Cluster()
    cluster.make_balancer()
    cluster.make_machine("m1", "master", public=False, pools=(cluster.pool,))
    cluster.make_machine("m2", "master", pools=(cluster.pool,))
    cluster.make_machine("n", "node", public=False)
    found = fabric(cluster.account)
    (nat,) = found.nats.values()
    (balancer,) = found.balancers.values()
    assert (nat.sources, nat.address) == (("10.10.0.4/32",), balancer.address)


def test_a_balancer_sends_to_the_machines_of_its_pool() -> None:
    cluster = Cluster()
    cluster.make_balancer()
    assert fabric(cluster.account).balancers == {}
    masters = [cluster.make_machine(f"m{n}", "master", pools=(cluster.pool,)) for n in range(2)]
    cluster.make_machine("n", "node")
    (balancer,) = fabric(cluster.account).balancers.values()
    assert balancer.backends == tuple(master.id for master in masters)
    assert (balancer.port, balancer.backend_port) == (6443, 6443)
    assert (balancer.translate, balancer.clients) == (True, None)
    assert balancer.network == cluster.network.id
    assert balancer.probe == Probe(
        protocol="https",
        port=6443,
        path="/readyz",
        source=PLATFORM,
        interval_seconds=5,
        healthy=2,
        unhealthy=2,
    )


@pytest.mark.parametrize(
    ("size", "controller", "path"),
    [
        ("Standard_B2als_v2", None, "/dev/disk/azure/scsi1/lun0"),
        ("Standard_D2s_v6", "NVMe", "/dev/disk/azure/data/by-lun/0"),
    ],
)
def test_a_disk_is_where_its_size_has_it(size: str, controller: str | None, path: str) -> None:
    cluster = Cluster()
    disk = cluster.make_disk("d", diskSizeGB=12)
    inputs: Any = cluster.machine("m", cluster.make_interface("m", "master"), disk)
    inputs["hardwareProfile"] = {"vmSize": size}
    if controller:
        inputs["storageProfile"]["diskControllerType"] = controller
    cluster.make(MACHINE, "m", **inputs)
    (found,) = named(fabric(cluster.account), "m").disks
    assert (found.id, found.size_gb, found.path) == (disk.id, 12, path)


def test_a_subnet_in_somebody_s_network_is_in_that_one() -> None:
    cluster = Cluster()
    parent = (
        f"/subscriptions/{SUBSCRIPTION}/resourceGroups/{EXISTING_GROUP}"
        f"/providers/Microsoft.Network/virtualNetworks/{EXISTING}"
    )
    cluster.subnet = cluster.make(
        SUBNET,
        "ours",
        resourceGroupName=EXISTING_GROUP,
        virtualNetworkName=EXISTING,
        addressPrefix="10.60.7.0/24",
        defaultOutboundAccess=False,
        networkSecurityGroup={"id": cluster.security_group.id},
    )
    cluster.make_machine("m", "master")
    found = fabric(cluster.account)
    assert found.networks[parent].cidr == EXISTING_CIDR
    machine = named(found, "m")
    assert (machine.network, machine.address) == (parent, "10.60.7.4")
    assert reaches(found, "10.50.0.9", "m", 22), "the whole virtual network counts as inside"


def test_a_terminated_machine_leaves_its_interface(cluster: Cluster) -> None:
    MISHAPS["terminate"](cluster.account, "n1")
    found = fabric(cluster.account)
    assert {machine.name for machine in found.machines.values()} == {"m", "n2"}
    cluster.make_machine("n3", "node")
    assert named(fabric(cluster.account), "n3").address == "10.10.0.7"


def test_only_spot_machines_are_reclaimed(cluster: Cluster) -> None:
    spot = cluster.make_machine("s", "node", priority="Spot", evictionPolicy="Delete")
    with pytest.raises(CloudError, match="no Spot machine"):
        MISHAPS["reclaim"](cluster.account, "n1")
    MISHAPS["reclaim"](cluster.account, spot.id.upper())
    assert spot.id not in cluster.account.things


def test_a_zone_that_fails_takes_its_machines(cluster: Cluster) -> None:
    cluster.make_machine("z1", "node", zones=["1"])
    cluster.make_machine("z2", "node", zones=["2"])
    MISHAPS["fail-zone"](cluster.account, "1")
    running = {m.name: m.running for m in fabric(cluster.account).machines.values()}
    assert running == {"m": True, "n1": True, "n2": True, "z1": False, "z2": True}


def test_a_revoked_rule_no_longer_counts(cluster: Cluster) -> None:
    cluster.refuse_others()
    MISHAPS["revoke"](cluster.account, "others")
    assert reaches(fabric(cluster.account), "n1", "m", 6443)
    with pytest.raises(CloudError, match="has no"):
        MISHAPS["revoke"](cluster.account, "others")
