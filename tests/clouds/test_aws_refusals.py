"""The simulated AWS refuses what AWS refuses, in its words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.clouds.aws import tokens
from tests.clouds.aws.sample import (
    ARM_UBUNTU,
    KEY,
    Small,
    attach,
    balancer,
    instance,
    listener,
    route,
    rule,
    small_account,
    subnet,
    target_group,
)
from tests.clouds.aws.world import EXISTING_GATEWAY, EXISTING_VPC
from tests.clouds.bench import change, make, remove
from tests.clouds.core.account import Account, Thing
from tests.clouds.core.kind import CloudError


def foreign(small: Small) -> Thing:
    """A group in another network."""
    return make(small.account, tokens.GROUP, name="x", description="x", vpcId=EXISTING_VPC)


Attempt = Callable[[Small], object]


def remove_a_group_that_a_rule_names(s: Small) -> None:
    other = make(s.account, tokens.GROUP, name="node", description="x", vpcId=s.vpc.id)
    rule(s, cidrIpv4=None, referencedSecurityGroupId=other.id)
    remove(s.account, other)


def remove_a_disk_in_use(s: Small) -> None:
    attach(s, s.instance)
    remove(s.account, s.volume)


def remove_an_address_in_use(s: Small) -> None:
    address = make(s.account, tokens.EIP, domain="vpc")
    make(s.account, tokens.NAT, subnetId=s.subnet.id, allocationId=address.id)
    remove(s.account, address)


REFUSED: dict[str, tuple[str, Attempt]] = {
    # networks
    "a big VPC": (
        "InvalidVpc.Range",
        lambda s: make(s.account, tokens.VPC, cidrBlock="10.0.0.0/15"),
    ),
    "host bits": (
        "InvalidParameterValue",
        lambda s: make(s.account, tokens.VPC, cidrBlock="10.0.0.1/16"),
    ),
    "a small subnet": ("InvalidSubnet.Range", lambda s: subnet(s, cidrBlock="10.0.1.0/29")),
    "a subnet outside": ("InvalidSubnet.Range", lambda s: subnet(s, cidrBlock="10.1.0.0/24")),
    "an overlap": ("InvalidSubnet.Conflict", lambda s: subnet(s, cidrBlock="10.0.0.128/25")),
    "no such VPC": ("InvalidVpcID.NotFound", lambda s: subnet(s, vpcId="vpc-0")),
    "no such zone": (
        "InvalidParameterValue: Value (us-east-1z)",
        lambda s: subnet(s, availabilityZone="us-east-1z"),
    ),
    "a second gateway": (
        "Resource.AlreadyAssociated",
        lambda s: make(s.account, tokens.GATEWAY, vpcId=s.vpc.id),
    ),
    "a second default route": (
        "RouteAlreadyExists",
        lambda s: route(s.account, s.table, "0.0.0.0/0", gatewayId=s.gateway.id),
    ),
    "another network's gateway": (
        "belong to different networks",
        lambda s: route(s.account, s.table, "1.0.0.0/8", gatewayId=EXISTING_GATEWAY),
    ),
    "a route to nowhere": (
        "exactly one target",
        lambda s: route(s.account, s.table, "1.0.0.0/8"),
    ),
    "two tables for a subnet": (
        "Resource.AlreadyAssociated",
        lambda s: make(
            s.account, tokens.ASSOCIATION, routeTableId=s.table.id, subnetId=s.subnet.id
        ),
    ),
    "a NAT gateway without an address": (
        "InvalidAllocationID.NotFound",
        lambda s: make(s.account, tokens.NAT, subnetId=s.subnet.id, allocationId="eipalloc-0"),
    ),
    # groups
    "a group's name twice": (
        "InvalidGroup.Duplicate",
        lambda s: make(s.account, tokens.GROUP, name="master", description="x", vpcId=s.vpc.id),
    ),
    "a group's name": (
        "sg-*",
        lambda s: make(s.account, tokens.GROUP, name="sg-x", vpcId=s.vpc.id),
    ),
    "an apostrophe": ("Invalid rule description", lambda s: rule(s, description="etcd's")),
    "two sources": (
        "exactly one of",
        lambda s: rule(s, referencedSecurityGroupId=s.group.id),
    ),
    "no source": ("exactly one of", lambda s: rule(s, cidrIpv4=None)),
    "no such group": (
        "InvalidGroup.NotFound",
        lambda s: rule(s, cidrIpv4=None, referencedSecurityGroupId="sg-0"),
    ),
    "a malformed range": ("malformed", lambda s: rule(s, cidrIpv4="203.0.113.7/24")),
    "no ports": ("Invalid value for portRange", lambda s: rule(s, fromPort=None, toPort=None)),
    "ports of all protocols": (
        "InvalidParameterCombination",
        lambda s: rule(s, ipProtocol="-1"),
    ),
    "a rule twice": ("InvalidPermission.Duplicate", lambda s: (rule(s), rule(s))),
    # machines
    "a key's name twice": (
        "InvalidKeyPair.Duplicate",
        lambda s: make(s.account, tokens.KEY_PAIR, keyName="test", publicKey=KEY),
    ),
    "an ECDSA key": (
        "InvalidKey.Format",
        lambda s: make(
            s.account, tokens.KEY_PAIR, keyName="x", publicKey="ecdsa-sha2-nistp256 AAAA"
        ),
    ),
    "no such image": (
        "InvalidAMIID.NotFound",
        lambda s: instance(s.account, s.subnet, s.group, ami="ami-0"),
    ),
    "no such type": (
        "for InstanceType",
        lambda s: instance(s.account, s.subnet, s.group, instanceType="mac1.metal"),
    ),
    "an image of another architecture": (
        "The architecture 'x86_64' of the specified instance type does not match",
        lambda s: instance(s.account, s.subnet, s.group, ami=ARM_UBUNTU),
    ),
    "a new type in an old zone": (
        "Unsupported",
        lambda s: instance(
            s.account,
            subnet(s, availabilityZone="us-east-1e"),
            s.group,
        ),
    ),
    "no such key": (
        "InvalidKeyPair.NotFound",
        lambda s: instance(s.account, s.subnet, s.group, keyName="nobody"),
    ),
    "a group of another network": (
        "belong to different networks",
        lambda s: instance(s.account, s.subnet, foreign(s)),
    ),
    "a root disk that is smaller than the image": (
        "InvalidBlockDeviceMapping",
        lambda s: instance(s.account, s.subnet, s.group, rootBlockDevice={"volumeSize": 5}),
    ),
    "long user data": (
        "User data is limited",
        lambda s: instance(s.account, s.subnet, s.group, userData="x" * 16385),
    ),
    "a hop too far": (
        "HttpPutResponseHopLimit",
        lambda s: instance(
            s.account, s.subnet, s.group, metadataOptions={"httpPutResponseHopLimit": 65}
        ),
    ),
    "another token": (
        "metadataOptions.httpTokens",
        lambda s: instance(s.account, s.subnet, s.group, metadataOptions={"httpTokens": "on"}),
    ),
    "a spot machine that is kept": (
        "can only be terminated",
        lambda s: instance(
            s.account,
            s.subnet,
            s.group,
            instanceMarketOptions={
                "marketType": "spot",
                "spotOptions": {"instanceInterruptionBehavior": "stop"},
            },
        ),
    ),
    "what the simulation does not do": (
        "does not act on rootBlockDevice.iops",
        lambda s: instance(s.account, s.subnet, s.group, rootBlockDevice={"iops": 3000}),
    ),
    "a disk in another zone": (
        "InvalidVolume.ZoneMismatch",
        lambda s: attach(s, instance(s.account, subnet(s), s.group)),
    ),
    "a disk twice": (
        "VolumeInUse",
        lambda s: (
            attach(s, s.instance),
            attach(s, instance(s.account, s.subnet, s.group)),
        ),
    ),
    "a device of the root disk's": (
        "parameter device is invalid",
        lambda s: attach(s, s.instance, deviceName="/dev/sda1"),
    ),
    "a smaller disk": (
        "New size cannot be smaller",
        lambda s: change(s.account, s.volume, size=9),
    ),
    "a full subnet": (
        "InsufficientFreeAddressesInSubnet",
        lambda s: [
            instance(s.account, small_subnet, s.group)
            for small_subnet in [subnet(s, cidrBlock="10.0.9.0/28")]
            for _ in range(12)
        ],
    ),
    # the load balancer
    "a balancer's name twice": (
        "DuplicateLoadBalancerName",
        lambda s: balancer(s.account, [s.subnet]),
    ),
    "a long name": (
        "at most 32",
        lambda s: balancer(s.account, [s.subnet], name="x" * 33),
    ),
    "a name for internal ones": (
        "cannot begin with 'internal-'",
        lambda s: balancer(s.account, [s.subnet], name="internal-x"),
    ),
    "two subnets of a zone": (
        "same Availability Zone",
        lambda s: balancer(
            s.account, [s.subnet, subnet(s, availabilityZone="us-east-1a")], name="x"
        ),
    ),
    "an interval": ("interval 4 is out of range", lambda s: target_group(s, interval=4)),
    "a matcher of everything": (
        "matcher HTTP code",
        lambda s: target_group(s, protocol="HTTPS", matcher="100-599"),
    ),
    "a matcher without HTTP": ("makes no sense", lambda s: target_group(s, matcher="200")),
    "a long silence": (
        "out of range",
        lambda s: listener(s.account, s.balancer, s.targets, port=443, tcpIdleTimeoutSeconds=6001),
    ),
    "a listener twice": (
        "DuplicateListener",
        lambda s: listener(s.account, s.balancer, s.targets),
    ),
    "a target that is not there": (
        "InvalidTarget",
        lambda s: make(s.account, tokens.TARGET, targetGroupArn=s.targets.id, targetId="i-0"),
    ),
    "a tag of Amazon's": (
        "Tag keys starting with 'aws:'",
        lambda s: make(s.account, tokens.EIP, tags={"aws:x": "y"}),
    ),
    # what has to go first
    "a VPC with subnets": ("DependencyViolation", lambda s: remove(s.account, s.vpc)),
    "a subnet with machines": ("DependencyViolation", lambda s: remove(s.account, s.subnet)),
    "a gateway under public addresses": (
        "mapped public address",
        lambda s: remove(s.account, s.gateway),
    ),
    "a table in use": ("DependencyViolation", lambda s: remove(s.account, s.table)),
    "a group in use": ("DependencyViolation", lambda s: remove(s.account, s.group)),
    "a group that a rule names": (
        "DependencyViolation",
        remove_a_group_that_a_rule_names,
    ),
    "a disk in use": (
        "VolumeInUse",
        remove_a_disk_in_use,
    ),
    "a target group in use": ("ResourceInUse", lambda s: remove(s.account, s.targets)),
    "an address in use": (
        "InvalidIPAddress.InUse",
        remove_an_address_in_use,
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_aws_refuses(case: str) -> None:
    words, attempt = REFUSED[case]
    with pytest.raises(CloudError) as caught:
        attempt(small_account())
    assert words in str(caught.value)


def test_without_a_gateway_there_is_neither_a_balancer_nor_nat() -> None:
    account = Account()
    vpc = make(account, tokens.VPC, cidrBlock="10.0.0.0/16")
    lonely = make(
        account,
        tokens.SUBNET,
        vpcId=vpc.id,
        cidrBlock="10.0.0.0/24",
        availabilityZone="us-east-1a",
    )
    address = make(account, tokens.EIP, domain="vpc")
    with pytest.raises(CloudError, match="has no internet gateway"):
        balancer(account, [lonely])
    with pytest.raises(CloudError, match=r"Gateway\.NotAttached"):
        make(account, tokens.NAT, subnetId=lonely.id, allocationId=address.id)
