"""A small account for tests, and what may come into it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.clouds.aws import tokens
from tests.clouds.bench import make
from tests.clouds.core.account import Account, Thing

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0000000000000000000000000000000000000000000"
UBUNTU, ARM_UBUNTU = "ami-0a11ce0000000002b", "ami-0a11ce0000000003c"


@dataclass(frozen=True, kw_only=True, slots=True)
class Small:
    """A network with one public subnet, a group, a key, a master and a load balancer."""

    account: Account
    vpc: Thing
    gateway: Thing
    table: Thing
    subnet: Thing
    group: Thing
    key: Thing
    instance: Thing
    volume: Thing
    balancer: Thing
    targets: Thing
    listener: Thing


def small_account() -> Small:
    """An account with one of each."""
    account = Account()
    vpc = make(account, tokens.VPC, cidrBlock="10.0.0.0/16")
    gateway = make(account, tokens.GATEWAY, vpcId=vpc.id)
    table = make(account, tokens.ROUTE_TABLE, vpcId=vpc.id)
    route(account, table, "0.0.0.0/0", gatewayId=gateway.id)
    subnet = make(
        account,
        tokens.SUBNET,
        vpcId=vpc.id,
        cidrBlock="10.0.0.0/24",
        availabilityZone="us-east-1a",
        mapPublicIpOnLaunch=True,
    )
    make(account, tokens.ASSOCIATION, routeTableId=table.id, subnetId=subnet.id)
    group = make(account, tokens.GROUP, name="master", description="x", vpcId=vpc.id)
    key = make(account, tokens.KEY_PAIR, keyName="test", publicKey=KEY)
    targets = make(
        account, tokens.TARGET_GROUP, name="test-api", port=6443, protocol="TCP", vpcId=vpc.id
    )
    machine = instance(account, subnet, group)
    volume = make(account, tokens.VOLUME, availabilityZone="us-east-1a", size=10, type="gp3")
    balance = balancer(account, [subnet], securityGroups=[group.id])
    return Small(
        account=account,
        vpc=vpc,
        gateway=gateway,
        table=table,
        subnet=subnet,
        group=group,
        key=key,
        instance=machine,
        volume=volume,
        balancer=balance,
        targets=targets,
        listener=listener(account, balance, targets),
    )


def instance(account: Account, subnet: Thing, group: Thing, **more: Any) -> Thing:
    """A machine, with these inputs in place of others."""
    inputs = {
        "ami": UBUNTU,
        "instanceType": "t3.medium",
        "subnetId": subnet.id,
        "vpcSecurityGroupIds": [group.id],
        "keyName": "test",
        **more,
    }
    return make(account, tokens.INSTANCE, **inputs)


def route(account: Account, table: Thing, destination: str, **target: str) -> Thing:
    """A route of a table."""
    place = {"routeTableId": table.id, "destinationCidrBlock": destination}
    return make(account, tokens.ROUTE, **place, **target)


def listener(account: Account, balancer: Thing, targets: Thing, **more: Any) -> Thing:
    """What a load balancer forwards."""
    inputs = {
        "loadBalancerArn": balancer.id,
        "port": 6443,
        "protocol": "TCP",
        "defaultActions": [{"type": "forward", "targetGroupArn": targets.id}],
        **more,
    }
    return make(account, tokens.LISTENER, **inputs)


def balancer(account: Account, subnets: list[Thing], **more: Any) -> Thing:
    """A load balancer in these subnets."""
    inputs = {
        "name": "test-api",
        "loadBalancerType": "network",
        "internal": False,
        "subnets": [subnet.id for subnet in subnets],
        **more,
    }
    return make(account, tokens.BALANCER, **inputs)


def rule(small: Small, **more: Any) -> Thing:
    """SSH from one address to the group; an input that is None is left out."""
    inputs = {
        "securityGroupId": small.group.id,
        "ipProtocol": "tcp",
        "fromPort": 22,
        "toPort": 22,
        "cidrIpv4": "203.0.113.7/32",
        **more,
    }
    given = {key: value for key, value in inputs.items() if value is not None}
    return make(small.account, tokens.INGRESS, **given)


def subnet(small: Small, **more: Any) -> Thing:
    """A second subnet, in another zone, where nothing has a public address."""
    inputs = {
        "vpcId": small.vpc.id,
        "cidrBlock": "10.0.1.0/24",
        "availabilityZone": "us-east-1b",
        **more,
    }
    return make(small.account, tokens.SUBNET, **inputs)


def attach(small: Small, machine: Thing, **more: Any) -> Thing:
    """The disk, to that machine."""
    inputs = {
        "instanceId": machine.id,
        "volumeId": small.volume.id,
        "deviceName": "/dev/sdf",
        **more,
    }
    return make(small.account, tokens.VOLUME_ATTACHMENT, **inputs)


def target_group(small: Small, **check: Any) -> Thing:
    """Another target group, with that health check."""
    return make(
        small.account,
        tokens.TARGET_GROUP,
        name="other",
        port=6443,
        protocol="TCP",
        vpcId=small.vpc.id,
        healthCheck=check,
    )
