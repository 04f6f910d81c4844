"""The resource graph on hosts that exist already: nothing is made, and all is known beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bootstrap.remote import BY_SUDO, EXISTING, FIRST_BY_SUDO, SHELL
from components import provision
from tests.components.metal.cases import HOST_KEY, Raw, good, host, keys, private_key, public_key
from tests.conftest import LOCAL_COMMAND, REMOTE_COMMAND, UNKNOWN, Graph, record, whole

if TYPE_CHECKING:
    from interface import Machines

STEPS = ("reachable", "prepare", "identity", "activate")
MASTER = host("m1", "master", internalAddress="10.0.0.11")
NODES = (
    host("n1", internalAddress="10.0.0.21", user="root", port=2222),
    host("n2", internalAddress="10.0.0.22", labels={"example.com/rack": "b"}),
)
BASTION: Raw = {"address": "203.0.113.5", "port": 2200, "user": "gate", "hostKey": public_key("b")}
SECTION: Raw = {"hosts": [MASTER, *NODES], "user": "operator", "bastion": BASTION}


def program(section: Raw, *, preview: bool = False, nodes: int = 2) -> Graph:
    """The graph of the real program; the counts in it agree with the hosts."""
    return record(whole(nodes=nodes, platform="metal", metal=section), preview=preview)


@pytest.fixture
def graph() -> Graph:
    return program(SECTION)


def test_nothing_is_made_but_steps_certificates_and_objects(graph: Graph) -> None:
    platform = {item.type for item in graph if ":metal:" in item.type}
    assert platform == {
        f"kubernetes-anywhere:metal:{name}" for name in ("Metal", "Network", "Masters", "Nodes")
    }
    assert set(graph.of_type(REMOTE_COMMAND)) >= {
        f"{name}-{step}" for name in ("m1", "n1", "n2") for step in STEPS
    }
    on_this_computer = {item.inputs["create"] for item in graph.of_type(LOCAL_COMMAND).values()}
    assert on_this_computer == {"api", "cluster", "pass"}  # the last only notes something
    assert not [
        item.name for item in graph if item.type.endswith("PrivateKey") and "ssh" in item.name
    ]


def test_hosts_are_reached_as_the_config_says(graph: Graph, home: Path) -> None:
    key = (home / ".ssh" / "id_ed25519").read_text()
    way = {
        "privateKey": key,
        "dialErrorLimit": EXISTING.dial_error_limit,
        "perDialTimeout": EXISTING.per_dial_timeout,
    }
    proxy = {
        **way,
        "host": "203.0.113.5",
        "port": 2200,
        "user": "gate",
        "hostKey": BASTION["hostKey"],
    }
    for name, port, user in (("m1", 22, "operator"), ("n1", 2222, "root"), ("n2", 22, "operator")):
        given = next(each for each in SECTION["hosts"] if each["name"] == name)
        for step in STEPS:
            found = graph.step(f"{name}-{step}").inputs
            assert found["connection"] == {
                **way,
                "host": given["address"],
                "port": port,
                "user": user,
                "hostKey": HOST_KEY,
                "proxy": proxy,
            }
            by_sudo = FIRST_BY_SUDO if step == STEPS[0] else BY_SUDO
            assert found["create"] == (SHELL if user == "root" else by_sudo)


def test_the_private_key_is_secret_wherever_it_is(graph: Graph) -> None:
    for item in graph:
        if "OPENSSH PRIVATE KEY-----" in item.text:
            assert item.secrets >= {"connection.privateKey", "connection.proxy.privateKey"} or (
                "connection" in item.secrets
            ), item.name


def test_each_machine_may_have_a_key_of_its_own(home: Path) -> None:
    for name in ("gate", "n1"):
        (home / name).write_text(private_key(kind=name.encode()))
    section = {
        **SECTION,
        "hosts": [MASTER, {**NODES[0], "keyFile": "~/n1"}, NODES[1]],
        "bastion": {**BASTION, "keyFile": "~/gate"},
    }
    found = program(section)
    for name, file in (("m1", ".ssh/id_ed25519"), ("n1", "n1")):
        connection = found.step(f"{name}-prepare").inputs["connection"]
        assert connection["privateKey"] == (home / file).read_text()
        assert connection["proxy"]["privateKey"] == (home / "gate").read_text()


def test_without_a_bastion_the_way_is_direct() -> None:
    section = {key: value for key, value in SECTION.items() if key != "bastion"}
    assert "proxy" not in program(section).step("m1-prepare").inputs["connection"]


def test_steps_die_with_no_machine_and_authorities_are_protected(graph: Graph) -> None:
    assert {item.deleted_with for item in graph.of_type(REMOTE_COMMAND).values()} == {""}
    assert {item.name for item in graph if item.protect} >= {"test-ca", "test-etcd-ca"}


def test_hosts_know_each_other_by_their_internal_addresses(graph: Graph) -> None:
    assert "--node-ip=10.0.0.21" in graph.step("n1-activate").inputs["stdin"]
    assert "\nmaster m1 10.0.0.11\n" in graph.step("m1-activate").inputs["stdin"]
    request = graph.of_type("tls:index/certRequest:CertRequest")["m1-apiserver"].inputs
    assert {"10.0.0.11", MASTER["address"]} <= set(request["ipAddresses"])


def test_a_kubelet_registers_with_its_cluster_s_and_its_host_s_labels(graph: Graph) -> None:
    """Names say nothing here: by the label a node is known whose host is gone."""
    text = graph.step("n2-activate").inputs["stdin"]
    assert "--node-labels=example.com/rack=b,kubernetes-anywhere/cluster=test" in text
    assert (
        "--node-labels=kubernetes-anywhere/cluster=test"
        in graph.step("n1-activate").inputs["stdin"]
    )


def machines(**metal: Any) -> Machines:
    """What phase 1 hands over."""
    return provision(good(keys(**{**SECTION, **metal})))


def test_with_one_master_each_side_reaches_it_by_its_own_address() -> None:
    found: list[Machines] = []
    record(lambda: found.append(machines()))
    assert (found[0].api_host, found[0].operator_api_host) == ("10.0.0.11", MASTER["address"])
    record(lambda: found.append(machines(apiHost="api.example.com")))
    assert (found[1].api_host, found[1].operator_api_host) == ("api.example.com",) * 2
    assert found[1].operator_api_port == 6443


@pytest.mark.parametrize(("leftovers", "may_go"), [("refuse", False), ("remove", True)])
def test_traits(leftovers: str, may_go: bool) -> None:  # noqa: FBT001 (by a table)
    found: list[Machines] = []
    record(lambda: found.append(machines(leftovers=leftovers)))
    traits = found[0].traits
    assert traits.remove_leftovers is may_go
    assert (traits.protect, traits.systemd_cgroup) == (True, True)
    assert found[0].lifetime is None
    assert {each.machine for each in found[0].hosts} == {None}


def test_hosts_may_be_containers() -> None:
    found: list[Machines] = []
    config = good(keys(**SECTION, more={"systemContainers": True}))
    record(lambda: found.append(provision(config)))
    assert found[0].traits.systemd_cgroup is False


def test_a_first_preview_knows_every_file_of_a_host() -> None:
    """Nothing of the hosts is made, so nothing of them is unknown."""
    graph = program(SECTION, preview=True)
    assert UNKNOWN not in str(graph.step("n1-activate").inputs)
    assert "--node-ip=10.0.0.21" in graph.step("n1-activate").inputs["stdin"]


def test_a_host_less_in_the_middle_touches_no_other_host(graph: Graph) -> None:
    after = program({**SECTION, "hosts": [MASTER, NODES[1]]}, nodes=1)
    assert after.resources.keys() < graph.resources.keys()
    gone = graph.resources.keys() - after.resources.keys()
    assert {graph.resources[urn].name.split("-")[0] for urn in gone} == {"n1"}
    changed = {
        after.resources[urn].name
        for urn, item in after.resources.items()
        if item.inputs != graph.resources[urn].inputs
    }
    assert changed == {"test-cluster-ready"}
