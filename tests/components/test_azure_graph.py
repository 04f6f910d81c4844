"""The graph of a cluster on Azure, with the simulated Azure's tables as its plugin."""

from __future__ import annotations

import base64
import re
from typing import Any

import pytest
from pulumi import RunError
from pulumi_azure_native import compute, network

from components.azure import facts
from components.azure.firewall import priority
from components.azure.platform import TRAITS
from components.firewall import TABLE, Peer
from components.firewall import rules as firewall_rules
from components.naming import CLUSTER_TAG
from model import Role
from tests.clouds.azure import CLOUD
from tests.clouds.azure.fabric import fabric
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
from tests.clouds.azure.offers import EXISTING, EXISTING_GROUP
from tests.clouds.azure.sample import passes
from tests.clouds.mocked import ACCESS, PLATFORMS, Deployed, deploy, refused
from tests.conftest import Registered
from versions import Arch

TAGGED = {kind.token for kind in CLOUD.kinds if "tags" in kind.supported}
VNET = (
    f"subscriptions/{PLATFORMS['azure']['account']}/resourceGroups/{EXISTING_GROUP}"
    f"/providers/Microsoft.Network/virtualNetworks/{EXISTING}"
)
IN_VNET = {"existing": VNET, "hostCidr": "10.60.9.0/24"}
PRIVATE = {"access": {**ACCESS, "private": True}}
CASES: dict[str, dict[str, Any]] = {
    "default": {},
    "three-masters": {"masters": 3},
    "private": {**PRIVATE, "masters": 3},
    "existing": {"network": IN_VNET},
    "pools": {
        "tags": {"team": "platform"},
        "zones": ["1", "3"],
        "pools": [
            {"name": "node", "count": 2, "spot": True, "machineType": "Standard_D2s_v6"},
            {"name": "arm", "count": 1, "arch": "arm64", "diskGb": 50},
        ],
    },
    "no-zones-no-nodes": {"region": "westus", "pools": []},
    "no-metrics-no-flannel": {
        "addons": {"metrics": "none"},
        "network": {"plugin": "none"},
    },
}


def case(name: str) -> Deployed:
    return deploy("azure", **CASES[name])


@pytest.fixture(params=CASES)
def deployed(request: pytest.FixtureRequest) -> Deployed:
    return case(request.param)


@pytest.fixture
def large() -> Deployed:
    return case("three-masters")


@pytest.fixture
def private() -> Deployed:
    return case("private")


@pytest.fixture
def pools() -> Deployed:
    return case("pools")


def machines(deployed: Deployed) -> dict[str, Registered]:
    return deployed.graph.of_type(MACHINE)


# --- all that is made


def test_nothing_is_on_a_default_provider(deployed: Deployed) -> None:
    (provider,) = deployed.graph.of_type("pulumi:providers:azure-native").values()
    assert deployed.cloud
    assert [i.urn for i in deployed.cloud if not i.provider.startswith(f"{provider.urn}::")] == []
    assert provider.inputs["subscriptionId"] == PLATFORMS["azure"]["account"]
    assert provider.inputs["location"] == deployed.config.region


def test_everything_hangs_on_a_component_of_azure(deployed: Deployed) -> None:
    for item in deployed.cloud:
        kind = item.parent.split("::")[2].rsplit("$", 1)[-1]
        assert kind.startswith("kubernetes-anywhere:azure:"), item.urn


def test_everything_that_can_have_tags_has_them(deployed: Deployed) -> None:
    expected = {**deployed.config.tags, CLUSTER_TAG: "test"}
    for item in deployed.cloud:
        assert item.inputs.get("tags") == (expected if item.type in TAGGED else None), item.urn


def test_nothing_is_said_by_saying_null(deployed: Deployed) -> None:
    assert [item.urn for item in deployed.cloud if ": null" in item.text] == []


def test_everything_is_gone_before_its_replacement_comes(deployed: Deployed) -> None:
    """All have names of their own, which are taken until then."""
    assert [i.urn for i in deployed.cloud if not i.delete_before_replace] == []


def test_only_etcd_s_disks_are_protected(deployed: Deployed) -> None:
    masters = [spec.name for spec in deployed.config.hosts if spec.role is Role.MASTER]
    protected = {item.name for item in deployed.cloud if item.protect}
    assert protected == {f"{name}-etcd" for name in masters}


def test_everything_is_in_the_group_and_the_region(deployed: Deployed) -> None:
    for item in deployed.cloud:
        theirs = item.inputs.get("virtualNetworkName") == EXISTING
        group = EXISTING_GROUP if theirs else "test"
        assert item.inputs["resourceGroupName"] == group, item.urn
        assert item.inputs.get("location", deployed.config.region) == deployed.config.region


def test_the_cluster_dies_with_its_resource_group(large: Deployed) -> None:
    group = large.graph.named(GROUP, "test-group")
    objects = [item for item in large.graph if item.type.startswith("kubernetes:")]
    assert objects
    assert {item.deleted_with for item in objects} == {group.urn}


@pytest.mark.parametrize("name", ["a", "prod-cluster-2024-westeurope-blue", "a-" * 19 + "a1"])
def test_a_name_that_the_config_takes_azure_takes_too(name: str) -> None:
    """G04: the tables refuse what Azure does, of each kind; none collides, all say whose they are.

    A storage account, whose rules are the strictest, is not made.
    """
    pool = {"name": "b" * 20, "count": 1}
    found = deploy("azure", name=name, pools=[pool])
    for thing in found.account.things.values():
        assert thing["name"].startswith(name[:33]) or thing.token == RULE, thing.id
        assert not thing["name"].endswith(("-", ".", "_")), thing.id
    names = [(thing.token, thing["name"].lower()) for thing in found.account.things.values()]
    assert len(names) == len({*names})
    host = f"{name}-{pool['name']}-0"
    assert found.named(MACHINE, host)["osProfile"]["computerName"] == host
    assert len(found.account.of(INTERFACE)) == 2
    assert not [item.type for item in found.cloud if "storage" in item.type]


def test_a_preview_knows_every_resource() -> None:
    urns = {item.urn for item in case("default").cloud}
    assert {item.urn for item in deploy("azure", preview=True).cloud} == urns


def test_what_keeps_its_name_keeps_its_place_in_the_program() -> None:
    """Else it is made in the new place while the old one still has the name."""

    def places(deployed: Deployed) -> dict[tuple[str, str], str]:
        return {(i.type, i.inputs[name_input(i.type)]): i.urn for i in deployed.cloud}

    found = places(case("default"))
    for other in ("private", "three-masters", "existing", "pools"):
        moved = {key for key, urn in places(case(other)).items() if found.get(key, urn) != urn}
        assert moved == set(), other


# --- the firewall


def opened(deployed: Deployed) -> set[tuple[str, int, Peer, Peer]]:
    """What the security rules let in, in the words of the firewall's table."""
    account, access = deployed.account, deployed.config.access
    roles = {role.id: Peer(role["name"].removeprefix("test-")) for role in account.of(ROLE)}
    nodes = {f"{spec.name}-address" for spec in deployed.config.hosts if spec.role is Role.NODE}
    names = {"test-nat-address"} if access.private else nodes
    outside = {a["ipAddress"] for a in account.of(ADDRESS) if a["name"] in names}
    ranges = {
        tuple(facts.apart(access.ssh_from)): Peer.ADMINISTRATOR,
        tuple(facts.apart(access.api_from)): Peer.CLIENT,
    }

    def source(rule: Any) -> Peer:
        if rule["sourceAddressPrefix"]:
            return {"AzureLoadBalancer": Peer.BALANCER}[rule["sourceAddressPrefix"]]
        if rule["sourceApplicationSecurityGroups"]:
            (role,) = rule["sourceApplicationSecurityGroups"]
            return roles[role["id"]]
        prefixes = rule["sourceAddressPrefixes"]
        return Peer.OUTSIDE if set(prefixes) == outside else ranges[tuple(prefixes)]

    found = set()
    for rule in account.of(RULE):
        if rule["access"] == "Allow":
            (target,) = rule["destinationApplicationSecurityGroups"]
            port = int(rule["destinationPortRange"])
            found.add((rule["protocol"].lower(), port, source(rule), roles[target["id"]]))
    return found


def test_the_security_group_lets_in_what_the_table_says_and_nothing_else(
    deployed: Deployed,
) -> None:
    table = {
        (rule.protocol, rule.port, rule.source, rule.target)
        for rule in firewall_rules(deployed.config)
    }
    assert opened(deployed) == table


def test_a_packet_gets_through_if_and_only_if_the_table_says_so(deployed: Deployed) -> None:
    """The same once more, by what Azure makes of all rules together, its own included."""
    found = fabric(deployed.account)
    kinds = {"master": Peer.MASTER, "bastion": Peer.BASTION}
    role = {m.id: kinds.get(m.name.split("-")[1], Peer.NODE) for m in found.machines.values()}
    table = {(r.protocol, r.port, r.source, r.target) for r in firewall_rules(deployed.config)}
    ports = {(rule.protocol, rule.port) for rule in TABLE} | {("tcp", 2379), ("udp", 53)}
    senders = [(m.address, role[m.id]) for m in found.machines.values()]
    senders += [("203.0.113.7", Peer.ADMINISTRATOR), ("203.0.113.200", Peer.CLIENT)]
    senders += [("168.63.129.16", Peer.BALANCER), ("8.8.8.8", None)]  # type: ignore[list-item]
    for machine in found.machines.values():
        for address, sender in senders:
            if address == machine.address:
                continue
            also = {Peer.CLIENT} if sender is Peer.ADMINISTRATOR else set()  # its range has both
            for protocol, port in ports:
                wanted = any(
                    (protocol, port, peer, role[machine.id]) in table for peer in {sender, *also}
                )
                assert passes(machine.inbound, protocol, port, address) is wanted, (
                    f"{sender} {address} to {machine.name}: {protocol} {port}"
                )


def test_the_nodes_as_they_look_from_outside_reach_the_api(deployed: Deployed) -> None:
    found = fabric(deployed.account)
    (master, *_) = (m for m in found.machines.values() if "-master-" in m.name)
    nodes = [m for m in found.machines.values() if "-node-" in m.name]
    nats = [nat.address for nat in found.nats.values()]
    outside = nats or [node.public_address or "" for node in nodes]
    assert [a for a in outside if not passes(master.inbound, "tcp", 6443, a)] == []


def test_priorities_are_unique_and_leave_room_for_others() -> None:
    numbers = [priority(rule) for rule in TABLE]
    assert len({*numbers}) == len(TABLE)
    assert min(numbers) == facts.FIRST_PRIORITY
    assert max(numbers) < 500, "Kubernetes' cloud controller has its own from 500 on"


def test_the_last_rule_refuses_everything_else(deployed: Deployed) -> None:
    (last,) = (rule for rule in deployed.account.of(RULE) if rule["access"] == "Deny")
    assert last["priority"] == 4096
    assert (last["protocol"], last["direction"]) == ("*", "Inbound")


def test_rules_are_written_one_after_the_other(deployed: Deployed) -> None:
    rules = sorted(
        deployed.graph.of_type(RULE).values(), key=lambda item: len(deployed.graph.ancestors(item))
    )
    for position, rule in enumerate(rules):
        before = deployed.graph.ancestors(rule)
        assert {earlier.urn for earlier in rules[:position]} <= before


def test_the_reasons_fit_into_descriptions() -> None:
    assert [rule.why for rule in TABLE if len(rule.why) > facts.DESCRIPTION] == []


# --- networks


def test_the_subnet_is_the_hosts_range_without_a_default_way_out(deployed: Deployed) -> None:
    (subnet,) = deployed.account.of(SUBNET)
    assert subnet["addressPrefix"] == deployed.config.network.host_cidr
    assert subnet["defaultOutboundAccess"] is False
    (wall,) = deployed.account.of(SECURITY_GROUP)
    assert subnet["networkSecurityGroup"] == {"id": wall.id}


def test_an_existing_network_gets_a_subnet_and_no_more() -> None:
    found = case("existing")
    assert found.account.of(NETWORK) == []
    (subnet,) = found.account.of(SUBNET)
    assert subnet.id.lower().startswith(f"/{VNET}/subnets/".lower())


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"existing": f"{VNET}-not", "hostCidr": "10.60.9.0/24"}, "ResourceNotFound"),
        ({"existing": VNET, "hostCidr": "10.61.0.0/24"}, "10.50.0.0/24, 10.60.0.0/16"),
        ({**IN_VNET, "podCidr": "10.50.0.0/16"}, f"overlaps 10.50.0.0/24, which {VNET} has"),
        ({**IN_VNET, "serviceCidr": "10.60.128.0/20"}, f"overlaps 10.60.0.0/16, which {VNET} has"),
    ],
)
def test_a_network_that_is_not_there_or_elsewhere_is_refused(
    keys: dict[str, str], words: str
) -> None:
    """H20: so is one that has addresses which pods or Services would get."""
    error = refused("azure", network=keys)
    assert isinstance(error, RunError)
    assert str(error).startswith("network.")
    assert words in str(error)


def test_a_network_of_another_region_is_refused() -> None:
    error = refused("azure", network=IN_VNET, region="westeurope")
    assert isinstance(error, RunError)
    assert "region: westeurope\n    is not that of" in str(error)


def test_the_api_s_load_balancer(large: Deployed) -> None:
    """G02: its rule takes no port from the outbound rule of the same frontend."""
    balancer = large.named(BALANCER, "test-api")
    (rule,) = balancer["loadBalancingRules"]
    assert (rule["frontendPort"], rule["backendPort"], rule["protocol"]) == (6443, 6443, "Tcp")
    assert (rule["enableTcpReset"], rule["idleTimeoutInMinutes"]) == (True, 30)
    assert rule["disableOutboundSnat"] is True
    (probe,) = balancer["probes"]
    assert (probe["protocol"], probe["port"], probe["requestPath"]) == ("Https", 6443, "/readyz")
    (found,) = fabric(large.account).balancers.values()
    backends = [fabric(large.account).machines[identity].name for identity in found.backends]
    assert sorted(backends) == ["test-master-0", "test-master-1", "test-master-2"]
    assert found.address == large.named(ADDRESS, "test-api-address")["ipAddress"]


def test_private_hosts_leave_by_the_gateway_and_ssh_comes_by_the_bastion(
    private: Deployed,
) -> None:
    """G02: without it they would have no way out."""
    found = fabric(private.account)
    public = {m.name for m in found.machines.values() if m.public_address}
    assert public == {"test-bastion"}
    (gateway,) = private.account.of(NAT)
    address = private.named(ADDRESS, "test-nat-address")
    assert gateway["publicIpAddresses"] == [{"id": address.id}]
    assert [nat.address for nat in found.nats.values()] == [address["ipAddress"]]
    by_name = {m.name: m for m in found.machines.values()}
    connection = private.graph.step("test-node-0-reachable").inputs["connection"]
    assert connection["host"] == by_name["test-node-0"].address
    assert connection["proxy"]["host"] == by_name["test-bastion"].public_address


def test_public_hosts_need_no_gateway(large: Deployed) -> None:
    """G02: each has an address of its own."""
    assert large.account.of(NAT) == []
    found = fabric(large.account)
    assert found.nats == {}
    assert [m.name for m in found.machines.values() if not m.public_address] == []
    connection = large.graph.step("test-node-0-reachable").inputs["connection"]
    assert connection["host"] == next(
        m.public_address for m in found.machines.values() if m.name == "test-node-0"
    )


# --- machines


def test_an_image_a_key_or_user_data_never_replaces_a_machine(deployed: Deployed) -> None:
    """F01: a newer image is for the next machine."""
    for item in machines(deployed).values():
        assert {*item.ignore_changes} == {
            "osProfile.customData",
            "osProfile.linuxConfiguration.ssh",
            "storageProfile.imageReference",
            "securityProfile",
        }


def test_what_azure_native_would_update_in_vain_makes_a_machine_anew(deployed: Deployed) -> None:
    (kind,) = (kind for kind in CLOUD.kinds if kind.token == MACHINE)
    for item in machines(deployed).values():
        covered = {*item.replace_on_changes, *item.ignore_changes}
        assert set(kind.fixed) <= covered
    for item in deployed.graph.of_type(DISK).values():
        assert "zones" in item.replace_on_changes


def test_hosts_of_a_group_take_turns_in_the_zones(pools: Deployed, large: Deployed) -> None:
    zones = {item.name: item.inputs.get("zones") for item in machines(pools).values()}
    assert zones == {
        "test-master-0": ["1"],
        "test-node-0": ["1"],
        "test-node-1": ["3"],
        "test-arm-0": ["1"],
    }
    spread = [large.named(MACHINE, f"test-master-{index}")["zones"] for index in range(3)]
    assert spread == [["1"], ["2"], ["3"]]


def test_in_a_region_without_zones_nothing_is_in_one() -> None:
    found = case("no-zones-no-nodes")
    assert [item.urn for item in found.cloud if "zones" in item.inputs] == []


def test_a_master_has_a_disk_for_etcd_and_is_told_where(large: Deployed) -> None:
    for name, item in machines(large).items():
        told = base64.b64decode(item.inputs["osProfile"]["customData"]).decode()
        disks = item.inputs["storageProfile"].get("dataDisks", [])
        if "-master-" not in name:
            assert (disks, "/dev/disk" in told) == ([], False)
            continue
        disk = large.named(DISK, f"{name}-etcd")
        assert (disk["diskSizeGB"], disk["sku"]) == (10, {"name": "Premium_LRS"})
        assert disk["zones"] == item.inputs["zones"]
        assert [(d["lun"], d["managedDisk"]["id"]) for d in disks] == [(0, disk.id)]
        (found,) = fabric(large.account).machines[large.named(MACHINE, name).id].disks
        assert f"- {found.path}\n" in told


def test_sizes_disks_and_images_are_as_the_config_says(pools: Deployed) -> None:
    node, arm = (machines(pools)[f"test-{name}-0"].inputs for name in ("node", "arm"))
    assert node["hardwareProfile"] == {"vmSize": "Standard_D2s_v6"}
    assert node["storageProfile"]["diskControllerType"] == "NVMe"
    assert node["storageProfile"]["osDisk"]["diskSizeGB"] == 30
    assert arm["hardwareProfile"] == {"vmSize": "Standard_B2pls_v2"}
    assert arm["storageProfile"]["imageReference"]["sku"] == "server-arm64"
    assert arm["storageProfile"]["osDisk"]["diskSizeGB"] == 50
    assert "securityProfile" not in arm
    assert node["securityProfile"]["securityType"] == "TrustedLaunch"


def test_spot_machines_are_gone_when_they_are_reclaimed(pools: Deployed) -> None:
    node, arm = (machines(pools)[f"test-{name}-0"].inputs for name in ("node", "arm"))
    spot = {"priority": "Spot", "evictionPolicy": "Delete", "billingProfile": {"maxPrice": -1}}
    assert {key: node.get(key) for key in spot} == spot
    assert {key: arm.get(key) for key in spot} == {**dict.fromkeys(spot), "priority": "Regular"}


def test_a_machine_takes_its_root_disk_along_and_leaves_its_interface(deployed: Deployed) -> None:
    for item in machines(deployed).values():
        assert item.inputs["storageProfile"]["osDisk"]["deleteOption"] == "Delete"
        (interface,) = item.inputs["networkProfile"]["networkInterfaces"]
        assert interface["deleteOption"] == "Detach"


def test_login_is_by_key_alone_and_no_machine_is_somebody(deployed: Deployed) -> None:
    """G01: by one of a kind that Azure takes. It is ours; the config has no place for another."""
    for item in machines(deployed).values():
        profile = item.inputs["osProfile"]
        assert "adminPassword" not in profile
        assert profile["linuxConfiguration"]["disablePasswordAuthentication"] is True
        (key,) = profile["linuxConfiguration"]["ssh"]["publicKeys"]
        assert key["keyData"].partition(" ")[0] in {"ssh-ed25519", "ssh-rsa"}
        assert "identity" not in item.inputs
        assert any(path.startswith("osProfile") for path in item.secrets)


def test_only_masters_are_in_the_balancer_s_pool(deployed: Deployed) -> None:
    for name, item in deployed.graph.of_type(INTERFACE).items():
        (configuration,) = item.inputs["ipConfigurations"]
        assert ("loadBalancerBackendAddressPools" in configuration) is ("-master-" in name)


def test_a_host_is_known_by_what_is_new_in_a_new_machine(large: Deployed) -> None:
    identity = large.named(MACHINE, "test-node-0")["vmId"]
    assert any(identity in item.text for item in large.graph if item.name.startswith("test-node-0"))


# --- words of the SDK's


@pytest.mark.parametrize(
    ("enum", "words"),
    [
        (compute.DiskStorageAccountTypes, [facts.ETCD_DISK_TYPE, facts.ROOT_DISK_TYPE]),
        (compute.StorageAccountTypes, [facts.ROOT_DISK_TYPE]),
        (compute.EncryptionType, [facts.ENCRYPTION]),
        (compute.DiskControllerTypes, [facts.NVME]),
        (network.SecurityRuleProtocol, ["Tcp", "Udp", "*"]),
    ],
)
def test_a_word_of_ours_is_one_of_the_sdk_s(enum: Any, words: list[str]) -> None:
    assert {*words} <= {member.value for member in enum}


def test_sizes_are_of_the_form_of_those_that_the_sdk_knows() -> None:
    """Its list is older than the sizes of ours, whose source is beside them."""
    known = [size.value for size in compute.VirtualMachineSizeTypes]
    unread = [size for size in known if not facts.MACHINE_TYPE.fullmatch(size)]
    assert [size for size in unread if not re.match(r"Basic_", size)] == []
    assert {facts.architecture(size) for size in known} <= {Arch.AMD64, None}


def test_flannel_s_packets_fit_into_the_network_s() -> None:
    assert TRAITS.flannel == {"MTU": 1450}
