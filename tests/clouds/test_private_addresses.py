"""Private addresses in the simulated clouds: what can be asked for, and what nobody is given."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any

import pytest

from tests.clouds.aws import sample as aws
from tests.clouds.aws import tokens
from tests.clouds.aws.fabric import fabric as aws_fabric
from tests.clouds.azure.fabric import fabric as azure_fabric
from tests.clouds.azure.ids import INTERFACE
from tests.clouds.azure.sample import Cluster
from tests.clouds.bench import kind_of, make, remove
from tests.clouds.core.account import Account
from tests.clouds.core.changes import diff
from tests.clouds.core.kind import CloudError
from tests.clouds.fabric.place import gateway, unused
from tests.clouds.gcp import links, sample
from tests.clouds.gcp.fabric import fabric as gcp_fabric

if TYPE_CHECKING:
    from tests.clouds.core.account import Thing

# --- what the fabric needs itself


def test_the_router_and_docker_have_addresses_that_no_machine_gets(
    small: aws.Small, account: Account
) -> None:
    cluster = Cluster()
    worlds = (
        (aws_fabric(small.account), lambda it: aws_machine(small, privateIp=it)),
        (gcp_fabric(account), lambda it: gcp_machine(account, "m", it)),
        (azure_fabric(cluster.account), lambda it: raised(azure_faults(cluster, it))),
    )
    for fabric, machine in worlds:
        (network,) = fabric.networks.values()
        for address in (gateway(network), unused(network)):
            with pytest.raises(CloudError, match=r"(?i)reserved|keeps"):
                machine(str(address))


def raised(faults: str) -> None:
    raise CloudError(faults)


# --- AWS; the small account's machine has 10.0.0.4, its load balancer 10.0.0.5


@pytest.fixture
def small() -> aws.Small:
    return aws.small_account()


def aws_machine(small: aws.Small, **more: Any) -> Thing:
    return aws.instance(small.account, small.subnet, small.group, **more)


def reserve(small: aws.Small, **more: Any) -> Thing:
    inputs = {"subnetId": small.subnet.id, "reservationType": "explicit", **more}
    return make(small.account, tokens.RESERVATION, **inputs)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("10.0.1.4", "10.0.1.4 does not fall within the subnet's address range"),
        ("10.0.0.3", "10.0.0.3 is in subnet's reserved address range"),
        ("10.0.0.255", "10.0.0.255 is in subnet's reserved address range"),
        ("10.0.0.4", "InvalidIPAddress.InUse: Address 10.0.0.4 is in use"),
        ("10.0.0.5", "InvalidIPAddress.InUse: Address 10.0.0.5 is in use"),
    ],
)
def test_aws_gives_no_such_address(small: aws.Small, address: str, words: str) -> None:
    with pytest.raises(CloudError, match=words):
        aws_machine(small, privateIp=address)


def test_aws_gives_an_address_again_once_its_machine_is_gone(small: aws.Small) -> None:
    first = aws_machine(small, privateIp="10.0.0.254")
    assert first["privateIp"] == "10.0.0.254"
    with pytest.raises(CloudError, match="in use"):
        aws_machine(small, privateIp="10.0.0.254")
    remove(small.account, first)
    assert aws_machine(small, privateIp="10.0.0.254")["privateIp"] == "10.0.0.254"


def test_aws_gives_reserved_addresses_to_those_who_ask_for_them_only(
    small: aws.Small,
) -> None:
    reserve(small, cidrBlock="10.0.0.6/31")
    assert aws_machine(small)["privateIp"] == "10.0.0.8"
    assert aws_machine(small, privateIp="10.0.0.7")["privateIp"] == "10.0.0.7"
    assert aws_machine(small)["privateIp"] == "10.0.0.9"


def test_a_subnet_on_aws_is_full_when_all_else_is_reserved(small: aws.Small) -> None:
    cidr = {"cidrBlock": "10.0.1.0/28", "availabilityZone": "us-east-1a"}
    tiny = aws.subnet(small, **cidr)
    reserve(small, cidrBlock="10.0.1.0/28", subnetId=tiny.id)
    with pytest.raises(CloudError, match="InsufficientFreeAddressesInSubnet"):
        aws.instance(small.account, tiny, small.group)
    last = aws.instance(small.account, tiny, small.group, privateIp="10.0.1.14")
    assert last["privateIp"] == "10.0.1.14"


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"cidrBlock": "10.0.1.4/32"}, "is not within the subnet"),
        ({"cidrBlock": "10.0.0.252/30"}, "overlaps the reservation"),
        ({"subnetId": "subnet-0"}, "InvalidSubnetID.NotFound"),
        ({"reservationType": "prefix"}, "no reservations but explicit ones"),
    ],
)
def test_aws_makes_no_such_reservation(
    small: aws.Small, inputs: dict[str, Any], words: str
) -> None:
    reserve(small, cidrBlock="10.0.0.254/32")
    with pytest.raises(CloudError, match=words):
        reserve(small, **{"cidrBlock": "10.0.0.9/32", **inputs})


# --- Google


@pytest.fixture
def account() -> Account:
    """A network with the subnet 10.0.0.0/24."""
    made = Account()
    sample.network(made)
    return made


def gcp_machine(account: Account, name: str, address: str | None = None) -> Thing:
    (subnet,) = account.find(links.SUBNETWORK, "name", "subnet")
    interface = {"subnetwork": subnet["selfLink"], "networkIp": address}
    given = {key: value for key, value in interface.items() if value}
    return sample.instance(account, name, networkInterfaces=[given])


def private(machine: Thing) -> str:
    found: str = machine["networkInterfaces"][0]["networkIp"]
    return found


def internal(account: Account, name: str, address: str | None, **more: Any) -> Thing:
    (subnet,) = account.find(links.SUBNETWORK, "name", "subnet")
    common = {"addressType": "INTERNAL", "subnetwork": subnet["selfLink"], "address": address}
    inputs = {**common, **more}
    given = {key: value for key, value in inputs.items() if value is not None}
    return make(account, links.ADDRESS, name=name, **given)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("10.0.1.4", "networkIP': '10.0.1.4'. Requested internal IP is outside the subnetwork"),
        ("10.0.0.1", "one that Google keeps"),
        ("10.0.0.254", "one that Google keeps"),
        ("10.0.0.2", "IP_IN_USE_BY_ANOTHER_RESOURCE"),
    ],
)
def test_google_gives_no_such_address(account: Account, address: str, words: str) -> None:
    assert private(gcp_machine(account, "first")) == "10.0.0.2"
    with pytest.raises(CloudError) as refusal:
        gcp_machine(account, "second", address)
    assert words in str(refusal.value)


def test_google_gives_reserved_addresses_to_those_who_ask_for_them_only(account: Account) -> None:
    reserved = internal(account, "kept", "10.0.0.2")
    assert private(gcp_machine(account, "node")) == "10.0.0.3"
    master = gcp_machine(account, "master", "10.0.0.2")
    assert private(master) == "10.0.0.2"
    for thing in (reserved, account.find(links.SUBNETWORK, "name", "subnet")[0]):
        with pytest.raises(CloudError, match="resourceInUseByAnotherResource"):
            remove(account, thing)
    with pytest.raises(CloudError, match="IP_IN_USE"):
        gcp_machine(account, "other", "10.0.0.2")
    remove(account, master)
    assert private(gcp_machine(account, "again", "10.0.0.2")) == "10.0.0.2"


def test_google_reserves_what_a_machine_has_already(account: Account) -> None:
    gcp_machine(account, "first")
    assert internal(account, "promoted", "10.0.0.2")["address"] == "10.0.0.2"


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"address": "10.0.1.4"}, "outside the subnetwork CIDR range"),
        ({"address": "10.0.0.255"}, "one that Google keeps"),
        ({"address": "10.0.0.9"}, "IP_IN_USE_BY_ANOTHER_RESOURCE"),
        ({"address": None}, "chooses no internal address"),
        ({"subnetwork": "other"}, "was not found"),
        ({"addressType": "EXTERNAL"}, "gives external addresses itself"),
        ({"addressType": "PRIVATE"}, "Must be EXTERNAL or INTERNAL"),
    ],
)
def test_google_reserves_no_such_address(
    account: Account, inputs: dict[str, Any], words: str
) -> None:
    internal(account, "first", "10.0.0.9")
    with pytest.raises(CloudError, match=words):
        internal(account, "second", **{"address": "10.0.0.8", **inputs})


def test_a_machine_on_google_is_made_anew_for_another_address(account: Account) -> None:
    machine = gcp_machine(account, "m", "10.0.0.9")
    (interface,) = machine.inputs["networkInterfaces"]
    changed = {**machine.inputs, "networkInterfaces": [{**interface, "networkIp": "10.0.0.8"}]}
    kind = kind_of(links.INSTANCE)
    assert diff(machine.inputs, changed, kind.immutable).replaces == ["networkInterfaces"]


# --- Azure


def azure_faults(cluster: Cluster, address: str | None, method: str = "Static") -> str:
    configuration = {
        "name": "primary",
        "subnet": {"id": cluster.subnet.id},
        "privateIPAllocationMethod": method,
        **({"privateIPAddress": address} if address else {}),
    }
    inputs = cluster.inputs(INTERFACE, "nic", ipConfigurations=[configuration])
    found = " ".join(cluster.faults(INTERFACE, inputs))
    if not found:
        cluster.make(INTERFACE, "nic", ipConfigurations=[configuration])
    return found


@pytest.mark.parametrize(
    ("address", "method", "words"),
    [
        ("10.10.1.9", "Static", "PrivateIPAddressNotInSubnet"),
        ("10.10.0.3", "Static", "PrivateIPAddressInReservedRange"),
        ("10.10.0.255", "Static", "PrivateIPAddressInReservedRange"),
        ("10.10.0.4", "Static", "PrivateIPAddressIsAllocated"),
        (None, "Static", "PrivateIPAddressMissing"),
        ("10.10.0.9", "Dynamic", "gives dynamic addresses itself"),
    ],
)
def test_azure_gives_no_such_address(address: str | None, method: str, words: str) -> None:
    cluster = Cluster()
    cluster.make_interface("first", "node", public=False)
    assert words in azure_faults(cluster, address, method)


def test_azure_gives_an_address_again_once_its_interface_is_gone() -> None:
    cluster = Cluster()
    assert azure_faults(cluster, "10.10.0.254") == ""
    (first,) = cluster.account.of(INTERFACE)
    assert first["ipConfigurations"][0]["privateIPAddress"] == "10.10.0.254"
    assert cluster.change(first, tags={"a": "c"}) == []
    del cluster.account.things[first.id]
    assert azure_faults(cluster, "10.10.0.254") == ""


def test_an_interface_on_azure_changes_its_address_where_it_is() -> None:
    cluster = Cluster()
    interface = cluster.make_interface("m", "master", public=False)
    (one,) = interface.inputs["ipConfigurations"]
    static = {**one, "privateIPAllocationMethod": "Static", "privateIPAddress": "10.10.0.254"}
    assert cluster.change(interface, ipConfigurations=[static]) == []
    assert interface["ipConfigurations"][0]["privateIPAddress"] == "10.10.0.254"


def test_dynamic_addresses_on_azure_come_to_the_last_ones_last() -> None:
    cluster = Cluster(cidr="10.10.0.0/28")
    found = [
        cluster.make_interface(f"n{number}", "node", public=False)["ipConfigurations"][0][
            "privateIPAddress"
        ]
        for number in range(4)
    ]
    assert found == [str(IPv4Network("10.10.0.0/28")[number]) for number in (4, 5, 6, 7)]
    assert azure_faults(cluster, "10.10.0.8") == ""
