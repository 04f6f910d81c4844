"""What an account of the simulated AWS comes to: who reaches whom, by which addresses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clouds.aws import tokens
from tests.clouds.aws.fabric import fabric
from tests.clouds.bench import change, make
from tests.clouds.core.account import Account, Thing
from tests.clouds.fabric.model import BALANCED, Fabric, Machine, Rule
from tests.clouds.mocked import ACCESS, Deployed, deploy


@pytest.fixture(scope="module")
def public() -> Deployed:
    return deploy("aws", masters=3)


@pytest.fixture(scope="module")
def private() -> Deployed:
    return deploy("aws", access={**ACCESS, "private": True})


def machines(found: Fabric) -> dict[str, Machine]:
    return {machine.name: machine for machine in found.machines.values()}


def peers(rules: tuple[Rule, ...], protocol: str, port: int) -> set[str]:
    """Who may use a port."""
    return {
        peer
        for rule in rules
        if rule.protocol == protocol and rule.ports == (port, port)
        for peer in rule.peers
    }


def addresses(found: Fabric, group: str) -> set[str]:
    named = machines(found).values()
    return {f"{m.address}/32" for m in named if m.name.startswith(f"test-{group}-")}


def copy(account: Account) -> Account:
    """An account that a test may spoil."""
    things = {
        thing.id: Thing(
            id=thing.id,
            token=thing.token,
            inputs=dict(thing.inputs),
            computed=dict(thing.computed),
        )
        for thing in account.things.values()
    }
    return Account(things=things, serial=account.serial)


def test_an_empty_account_is_an_empty_fabric() -> None:
    assert fabric(Account()) == Fabric()


def test_a_network_is_there_with_its_machines(public: Deployed) -> None:
    found = fabric(public.account)
    (network,) = found.networks.values()
    assert (network.cidr, network.mtu, network.internet) == ("172.30.0.0/24", 9001, True)
    assert set(machines(found)) == {
        *(f"test-master-{index}" for index in range(3)),
        *(f"test-node-{index}" for index in range(2)),
    }
    assert {machine.network for machine in found.machines.values()} == {network.id}
    assert found.nats == {}


def test_a_machine_has_its_key_its_user_data_and_its_disk(public: Deployed) -> None:
    found = machines(fabric(public.account))
    master, node = found["test-master-0"], found["test-node-0"]
    assert master.login_keys == {"ubuntu": ("ssh-ed25519 test-ssh",)}
    assert master.user_data.startswith("#cloud-config\n")
    (disk,) = master.disks
    assert disk.size_gb == 10
    assert disk.path in master.user_data
    assert node.disks == ()


def test_a_new_login_key_does_not_get_onto_machines_that_are_there(public: Deployed) -> None:
    account = copy(public.account)
    (key,) = account.of(tokens.KEY_PAIR)
    key.inputs["publicKey"] = "ssh-ed25519 another"
    assert fabric(account).machines == fabric(public.account).machines


def test_masters_let_in_the_balancer_and_roles_by_private_addresses_only(
    public: Deployed,
) -> None:
    found = fabric(public.account)
    masters, nodes = addresses(found, "master"), addresses(found, "node")
    inbound = machines(found)["test-master-0"].inbound
    own = {
        f"{mapping['privateIpv4Address']}/32"
        for mapping in public.account.of(tokens.BALANCER)[0]["subnetMappings"]
    }
    assert peers(inbound, "tcp", 22) == {"203.0.113.7/32"}
    assert peers(inbound, "tcp", 6443) == {BALANCED, *own, *masters, *nodes}
    assert peers(inbound, "tcp", 2380) == masters
    assert peers(inbound, "tcp", 2379) == masters
    assert peers(inbound, "udp", 8472) == masters | nodes
    assert {rule.ports for rule in inbound} == {
        (port, port) for port in (22, 6443, 2379, 2380, 10250, 8472)
    }
    assert machines(found)["test-master-0"].outbound == (
        Rule(protocol="any", ports=None, peers=("0.0.0.0/0",)),
    )


def test_the_balancer_lets_in_clients_and_nodes_by_their_public_addresses(
    public: Deployed,
) -> None:
    found = fabric(public.account)
    (balancer,) = found.balancers.values()
    named = machines(found)
    assert (balancer.port, balancer.backend_port, balancer.translate) == (6443, 6443, True)
    assert set(balancer.backends) == {named[f"test-master-{index}"].id for index in range(3)}
    assert balancer.clients is not None
    assert set(balancer.clients) == {
        "203.0.113.0/24",
        *(f"{named[f'test-node-{index}'].public_address}/32" for index in range(2)),
    }
    assert (balancer.probe.protocol, balancer.probe.path) == ("https", "/readyz")
    assert balancer.probe.interval_seconds == 10
    assert balancer.address == public.account.of(tokens.BALANCER)[0]["dnsName"]


def test_private_hosts_go_out_by_nat_and_come_in_by_the_bastion(private: Deployed) -> None:
    found = fabric(private.account)
    named = machines(found)
    (nat,) = found.nats.values()
    (balancer,) = found.balancers.values()
    subnets = [
        subnet["cidrBlock"]
        for subnet in private.account.of(tokens.SUBNET)
        if not subnet["mapPublicIpOnLaunch"]
    ]
    assert sorted(nat.sources) == sorted(subnets)
    assert balancer.clients is not None
    assert set(balancer.clients) == {"203.0.113.0/24", f"{nat.address}/32"}
    assert named["test-bastion"].public_address
    assert peers(named["test-bastion"].inbound, "tcp", 22) == {"203.0.113.7/32"}
    for name in ("test-master-0", "test-node-0"):
        assert named[name].public_address is None
        assert peers(named[name].inbound, "tcp", 22) == {f"{named['test-bastion'].address}/32"}


def test_without_a_route_public_addresses_and_nat_do_not_work(
    public: Deployed, private: Deployed
) -> None:
    for deployed in (public, private):
        account = copy(deployed.account)
        for route in account.of(tokens.ROUTE):
            if route["gatewayId"]:
                del account.things[route.id]
        found = fabric(account)
        assert {machine.public_address for machine in found.machines.values()} == {None}
        assert found.nats == {}
        assert found.balancers == {}


def spoilt(public: Deployed, token: str, **inputs: Any) -> Fabric:
    """The fabric with another input in all things of a type."""
    account = copy(public.account)
    for thing in account.of(token):
        thing.inputs.update(inputs)
    return fabric(account)


def test_a_balancer_serves_its_own_zone_only_unless_it_balances_across_zones(
    public: Deployed,
) -> None:
    found = spoilt(public, tokens.BALANCER, enableCrossZoneLoadBalancing=False)
    (balancer,) = found.balancers.values()
    assert balancer.backends == (machines(found)["test-master-0"].id,)


def test_a_balancer_reaches_no_target_that_its_group_does_not_let_it_send_to(
    public: Deployed,
) -> None:
    account = copy(public.account)
    groups = {group.id: group["name"] for group in account.of(tokens.GROUP)}
    for rule in account.of(tokens.EGRESS):
        if groups[rule["securityGroupId"]] == "test-api":
            del account.things[rule.id]
    (balancer,) = fabric(account).balancers.values()
    assert balancer.backends == ()


def test_a_target_in_a_zone_without_the_balancer_is_not_used(public: Deployed) -> None:
    account = copy(public.account)
    (balancer,) = account.of(tokens.BALANCER)
    balancer.inputs["subnets"] = balancer.inputs["subnets"][:1]
    (found,) = fabric(account).balancers.values()
    assert found.backends == (machines(fabric(account))["test-master-0"].id,)


def test_a_machine_without_a_rule_for_it_sends_nothing(public: Deployed) -> None:
    account = copy(public.account)
    for rule in account.of(tokens.EGRESS):
        del account.things[rule.id]
    assert {machine.outbound for machine in fabric(account).machines.values()} == {()}


def test_a_balancer_without_a_group_lets_everybody_in(public: Deployed) -> None:
    found = spoilt(public, tokens.BALANCER, securityGroups=None)
    (balancer,) = found.balancers.values()
    assert balancer.clients is None
    assert len(balancer.backends) == 3


def test_a_disk_that_no_machine_has_is_kept(public: Deployed) -> None:
    account = copy(public.account)
    (first, *_) = account.of(tokens.VOLUME_ATTACHMENT)
    del account.things[first.id]
    found = fabric(account)
    assert [disk.id for disk in found.detached] == [first["volumeId"]]
    assert sum(len(machine.disks) for machine in found.machines.values()) == 2


def test_a_rule_about_nobody_is_none() -> None:
    account = Account()
    vpc = make(account, tokens.VPC, cidrBlock="10.0.0.0/16")
    subnet = make(
        account,
        tokens.SUBNET,
        vpcId=vpc.id,
        cidrBlock="10.0.0.0/24",
        availabilityZone="us-east-1a",
    )
    groups = [
        make(account, tokens.GROUP, name=name, description=name, vpcId=vpc.id)
        for name in ("master", "node")
    ]
    rule = make(
        account,
        tokens.INGRESS,
        securityGroupId=groups[0].id,
        ipProtocol="tcp",
        fromPort=6443,
        toPort=6443,
        referencedSecurityGroupId=groups[1].id,
    )
    machine = make(
        account,
        tokens.INSTANCE,
        ami="ami-0a11ce0000000002b",
        instanceType="t3.medium",
        subnetId=subnet.id,
        vpcSecurityGroupIds=[groups[0].id],
    )
    assert fabric(account).machines[machine.id].inbound == ()
    change(account, machine, vpcSecurityGroupIds=[group.id for group in groups])
    assert fabric(account).machines[machine.id].inbound == (
        Rule(protocol="tcp", ports=(6443, 6443), peers=("10.0.0.4/32",)),
    )
    assert rule["securityGroupId"] == groups[0].id


def test_somebody_else_s_network_is_there_while_there_is_a_subnet_of_ours_in_it() -> None:
    deployed = deploy("aws", network={"existing": "vpc-existing", "hostCidr": "10.20.4.0/24"})
    found = fabric(deployed.account)
    assert [network.cidr for network in found.networks.values()] == ["10.20.0.0/16"]
    assert all(machine.public_address for machine in found.machines.values())
