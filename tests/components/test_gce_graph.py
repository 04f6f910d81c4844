"""The graph of a cluster on Compute Engine, with the simulated Google's tables as its plugin."""

from __future__ import annotations

from typing import Any

import pytest
from pulumi import RunError

from components import firewall
from components.firewall import Peer
from components.gce import facts
from components.gce.machine import PINNED
from components.naming import CLUSTER_TAG
from model import Role
from tests.clouds.fabric.model import Rule
from tests.clouds.gcp import CLOUD, links
from tests.clouds.mocked import Deployed, deploy, refused
from tests.conftest import SECRET_MARK, UNKNOWN

LABELLED = {kind.token for kind in CLOUD.kinds if "labels" in kind.supported}
NAMED = {kind.token for kind in CLOUD.kinds if "name" in kind.supported}


CLUSTERS: dict[str, dict[str, Any]] = {
    "small": {"tags": {"team": "platform"}},
    "large": {
        "masters": 3,
        "pools": [
            {"name": "node", "count": 2},
            {"name": "spot", "count": 1, "spot": True, "machineType": "c4-standard-2"},
            {"name": "arm", "count": 1, "arch": "arm64", "diskGb": 50},
        ],
        "zones": ["us-central1-a", "us-central1-b"],
    },
    "private": {
        "access": {"private": True, "sshFrom": ["203.0.113.7/32"], "apiFrom": ["0.0.0.0/0"]}
    },
    "existing": {"network": {"existing": "existing"}, "nodes": 0},
}


@pytest.fixture(scope="session", params=CLUSTERS)
def cluster(request: pytest.FixtureRequest) -> Deployed:
    """Each of the clusters."""
    return deploy("gce", **CLUSTERS[request.param])


@pytest.fixture(scope="session")
def small() -> Deployed:
    return deploy("gce", **CLUSTERS["small"])


@pytest.fixture(scope="session")
def large() -> Deployed:
    return deploy("gce", **CLUSTERS["large"])


@pytest.fixture(scope="session")
def private() -> Deployed:
    return deploy("gce", **CLUSTERS["private"])


def inputs(of: Deployed, token: str) -> dict[str, Any]:
    """{name: inputs} of all resources of a type."""
    return {name: item.inputs for name, item in of.graph.of_type(token).items()}


# --- of every resource


def test_no_resource_is_on_a_default_provider(cluster: Deployed) -> None:
    providers = {item.provider.rpartition("::")[0].rpartition("::")[2] for item in cluster.cloud}
    assert providers == {"test-gcp"}


def test_every_resource_has_a_parent_of_ours(cluster: Deployed) -> None:
    parents = {item.parent.split("::")[2].split("$")[-1] for item in cluster.cloud}
    assert parents <= {
        f"kubernetes-anywhere:gce:{part}" for part in ("Network", "Masters", "Nodes")
    }


def test_whatever_can_have_labels_has_them(cluster: Deployed) -> None:
    wanted = {**cluster.config.tags, CLUSTER_TAG: "test"}
    found = {item.name: item.inputs["labels"] for item in cluster.cloud if item.type in LABELLED}
    assert found
    assert all(labels == wanted for labels in found.values())
    for one in inputs(cluster, links.INSTANCE).values():
        assert one["bootDisk"]["initializeParams"]["labels"] == wanted


def test_what_has_a_name_is_gone_before_its_replacement_comes(cluster: Deployed) -> None:
    named = [item for item in cluster.cloud if item.type in NAMED]
    assert all(item.inputs["name"] for item in named)
    assert all(item.delete_before_replace for item in cluster.cloud)


def test_only_etcd_s_disks_are_protected(cluster: Deployed) -> None:
    protected = {item.name for item in cluster.graph if item.protect and item in [*cluster.cloud]}
    assert protected == {
        f"{spec.name}-etcd" for spec in cluster.config.hosts if spec.role is Role.MASTER
    }


# --- machines


def test_an_image_a_key_or_user_data_never_replaces_a_machine(cluster: Deployed) -> None:
    """F01: a newer image is for the next machine. Login keys are updated in place."""
    for item in cluster.graph.of_type(links.INSTANCE).values():
        assert item.ignore_changes == PINNED
    (kind,) = (kind for kind in CLOUD.kinds if kind.token == links.INSTANCE)
    assert not [path for path in kind.immutable if path.startswith("metadata")]


def test_masters_have_a_disk_for_etcd_and_nodes_have_none(large: Deployed) -> None:
    found = inputs(large, links.INSTANCE)
    assert found["test-master-2"]["attachedDisks"] == [
        {
            "source": f"{links.API}projects/simulated-project/zones/us-central1-a/disks/"
            "test-master-2-etcd",
            "deviceName": "etcd",
        }
    ]
    assert found["test-node-0"]["attachedDisks"] == []
    disks = {name: disk["size"] for name, disk in inputs(large, links.DISK).items()}
    assert disks == {f"test-master-{index}-etcd": 10 for index in range(3)}


def test_machines_are_what_their_group_says(large: Deployed) -> None:
    found = inputs(large, links.INSTANCE)
    zones = {name: machine["zone"].removeprefix("us-central1-") for name, machine in found.items()}
    assert zones == {
        "test-master-0": "a",
        "test-master-1": "b",
        "test-master-2": "a",
        "test-node-0": "a",
        "test-node-1": "b",
        "test-spot-0": "a",
        "test-arm-0": "a",
    }
    assert found["test-spot-0"]["scheduling"] == {
        "provisioningModel": "SPOT",
        "preemptible": True,
        "automaticRestart": False,
        "instanceTerminationAction": "DELETE",
    }
    assert "scheduling" not in found["test-node-0"]
    disks = {name: machine["bootDisk"]["initializeParams"] for name, machine in found.items()}
    assert (disks["test-spot-0"]["type"], disks["test-spot-0"]["size"]) == (
        "hyperdisk-balanced",
        30,
    )
    assert (disks["test-arm-0"]["type"], disks["test-arm-0"]["size"]) == ("pd-balanced", 50)
    assert "arm64" in disks["test-arm-0"]["image"]
    assert found["test-arm-0"]["machineType"] == "t2a-standard-2"
    assert "shieldedInstanceConfig" not in found["test-arm-0"]
    assert found["test-node-0"]["shieldedInstanceConfig"]["enableSecureBoot"] is True


def test_no_machine_has_an_identity_or_anybody_else_s_keys(cluster: Deployed) -> None:
    for name, machine in inputs(cluster, links.INSTANCE).items():
        assert not {"serviceAccount", "canIpForward"} & machine.keys(), name
        metadata = machine["metadata"]
        assert metadata["enable-oslogin"] == "FALSE"
        assert metadata["block-project-ssh-keys"] == "TRUE"
        assert metadata["ssh-keys"].startswith("ubuntu:")


def test_user_data_is_secret(small: Deployed) -> None:
    for item in small.graph.of_type(links.INSTANCE).values():
        assert any(path.startswith("metadata") for path in item.secrets)
        assert "metadata" in item.secret_outputs
        assert SECRET_MARK not in item.text


# --- the endpoint


def test_masters_are_behind_one_address_in_groups_of_their_zones(large: Deployed) -> None:
    members = {
        item["instance"].rpartition("/")[2]: item["zone"]
        for item in inputs(large, links.MEMBERSHIP).values()
    }
    assert members == {
        "test-master-0": "us-central1-a",
        "test-master-1": "us-central1-b",
        "test-master-2": "us-central1-a",
    }
    (balancer,) = large.fabric.balancers.values()
    assert {name.rpartition("/")[2] for name in balancer.backends} == members.keys()
    assert (balancer.port, balancer.probe.path, balancer.translate) == (6443, "/readyz", False)


def test_the_endpoint_is_the_address_in_the_certificate(small: Deployed) -> None:
    (balancer,) = small.fabric.balancers.values()
    request = small.graph.named("tls:index/certRequest:CertRequest", "test-master-0-apiserver")
    assert balancer.address in request.inputs["ipAddresses"]


# --- the firewall


def addresses(of: Deployed, peer: Peer) -> set[str]:
    """What a peer of the table looks like to a machine of the simulated cloud."""
    machines = of.fabric.machines.values()
    roles = {spec.name: spec.role for spec in of.config.hosts}
    by_role = {Peer.MASTER: Role.MASTER, Peer.NODE: Role.NODE}
    if peer in by_role:
        return {f"{one.address}/32" for one in machines if roles.get(one.name) is by_role[peer]}
    if peer is Peer.BASTION:
        return {f"{one.address}/32" for one in machines if one.name == "test-bastion"}
    nats = {f"{nat.address}/32" for nat in of.fabric.nats.values()}
    public = {f"{one.public_address}/32" for one in machines if roles.get(one.name) is Role.NODE}
    return {
        Peer.ADMINISTRATOR: set(of.config.access.ssh_from),
        Peer.CLIENT: set(of.config.access.api_from),
        Peer.BALANCER: set(facts.PROBES),
        Peer.OUTSIDE: nats or public,
    }[peer]


def targets(of: Deployed) -> dict[str, Peer]:
    """The part that each machine has."""
    parts = {
        spec.name: Peer.MASTER if spec.role is Role.MASTER else Peer.NODE
        for spec in of.config.hosts
    }
    return {**parts, "test-bastion": Peer.BASTION}


def opened(rules: tuple[Rule, ...]) -> set[tuple[str, int, str]]:
    found: set[tuple[str, int, str]] = set()
    for rule in rules:
        assert rule.ports is not None
        assert rule.ports[0] == rule.ports[1]
        found |= {(rule.protocol, rule.ports[0], peer) for peer in rule.peers}
    return found


def test_what_comes_in_is_the_table_and_nothing_else(cluster: Deployed) -> None:
    """By what each machine lets in in the end: tags, ranges and all."""
    for machine in cluster.fabric.machines.values():
        wanted = {
            (rule.protocol, rule.port, address)
            for rule in firewall.rules(cluster.config)
            if rule.target is targets(cluster)[machine.name]
            for address in addresses(cluster, rule.source)
        }
        assert wanted
        assert opened(machine.inbound) == wanted


def test_each_row_of_the_table_is_one_rule(cluster: Deployed) -> None:
    wanted = {f"test-{rule.name}": rule for rule in firewall.rules(cluster.config)}
    found = inputs(cluster, links.FIREWALL)
    assert found.keys() == wanted.keys()
    for name, rule in found.items():
        assert rule["description"] == wanted[name].why
        assert rule["targetTags"] == [f"test-{wanted[name].target}"]


# --- private


def test_private_machines_have_one_way_in_and_one_way_out(private: Deployed) -> None:
    machines = {machine.name: machine for machine in private.fabric.machines.values()}
    public = {name for name, machine in machines.items() if machine.public_address}
    assert public == {"test-bastion"}
    (nat,) = private.fabric.nats.values()
    assert nat.sources == ("172.30.0.0/24",)
    step = private.graph.step("test-master-0-reachable")
    connection = step.inputs["connection"]
    assert connection["host"] == machines["test-master-0"].address
    assert connection["proxy"]["host"] == machines["test-bastion"].public_address


def test_private_machines_wait_for_their_way_out(private: Deployed) -> None:
    (nat,) = private.graph.of_type(links.ROUTER_NAT).values()
    for name, item in private.graph.of_type(links.INSTANCE).items():
        assert (nat.urn in item.dependencies) is (name != "test-bastion")


def test_public_machines_are_reached_by_their_own_address(small: Deployed) -> None:
    machines = {machine.name: machine for machine in small.fabric.machines.values()}
    step = small.graph.step("test-node-1-reachable")
    assert step.inputs["connection"]["host"] == machines["test-node-1"].public_address
    assert "proxy" not in step.inputs["connection"]


# --- a preview, and what the cloud is asked before it


def test_a_first_preview_knows_no_address() -> None:
    graph = deploy("gce", preview=True).graph
    assert {(item.type, item.name) for item in graph} == {
        (item.type, item.name) for item in deploy("gce").graph
    }
    step = graph.step("test-node-0-reachable")
    assert step.inputs["connection"] == UNKNOWN
    assert "None" not in step.text


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"region": "us-west9"}, "region: us-west9"),
    ({"zones": ["us-central1-q"]}, "write some of us-central1-a, us-central1-b"),
    (
        {"arch": "arm64", "pools": [{"name": "node", "count": 3}]},
        (
            "is not offered in the zone us-central1-c\n"
            "    write zones: [us-central1-a, us-central1-b, us-central1-f]"
        ),
    ),
    ({"network": {"existing": "other"}}, "network.existing: other"),
    (
        {"network": {"existing": "existing", "hostCidr": "10.20.0.0/25"}},
        "network.hostCidr: 10.20.0.0/25\n    overlaps 10.20.0.0/24, which the subnet others of",
    ),
    (
        {"network": {"existing": "existing", "podCidr": "10.20.0.0/16"}},
        "network.podCidr: 10.20.0.0/16\n    overlaps 10.20.0.0/24, which the subnet others of",
    ),
    (
        {"network": {"existing": "existing", "serviceCidr": "10.20.0.0/16"}},
        "network.serviceCidr: 10.20.0.0/16\n    overlaps 10.20.0.0/24, which the subnet others of",
    ),
    (
        {"pools": [{"name": "node", "image": "projects/p/global/images/none"}]},
        "image: projects/p/global/images/none",
    ),
]


@pytest.mark.parametrize(("more", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_google_does_not_have_is_refused_before_anything_is_made(
    more: dict[str, Any], words: str
) -> None:
    """H20: among others, pods or Services in a range that a subnet has already."""
    error = refused("gce", **more)
    assert isinstance(error, RunError)
    assert words in str(error)
