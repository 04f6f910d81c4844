"""The resource graph of a cluster: who hangs on whom, in an update and in the first preview."""

from __future__ import annotations

import difflib
import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from pulumi import ComponentResource

from bootstrap.remote import SHELL, remote_step
from interface import Connection, Host
from tests.conftest import (
    LOCAL_COMMAND,
    REMOTE_COMMAND,
    UNKNOWN,
    Answers,
    Graph,
    Registered,
    cluster,
    names,
    record,
    recorded,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pulumi.runtime.mocks import MockResourceArgs

STEPS = ("reachable", "prepare", "identity", "activate")
COMPONENTS = {
    "kubernetes-anywhere:local:Local",
    "kubernetes-anywhere:pki:ClusterPki",
    "kubernetes-anywhere:bootstrap:Bootstrap",
    "kubernetes-anywhere:bootstrap:Gates",
    "kubernetes-anywhere:addons:Addons",
}


def hosts(graph: Graph, group: str) -> list[str]:
    """The hosts of a group, in order, by the first step that each has."""
    steps = graph.of_type(REMOTE_COMMAND)
    return sorted(
        name.removesuffix("-reachable")
        for name in steps
        if name.startswith(f"test-{group}-") and name.endswith("-reachable")
    )


def gate(graph: Graph, verb: str) -> Registered:
    """The step on the operator's computer that waits for something."""
    (found,) = (
        item for item in graph if item.type == LOCAL_COMMAND and item.inputs["create"] == verb
    )
    return found


def orphans(graph: Iterable[Registered]) -> list[str]:
    """Resources that hang on the stack itself, other than the phases."""
    return [
        item.urn
        for item in graph
        if item.parent.split("::")[2:3] in ([], ["pulumi:pulumi:Stack"])
        and item.type not in COMPONENTS
    ]


def test_each_host_has_the_four_steps_and_no_other(graph: Graph) -> None:
    expected = {
        f"{host}-{step}" for g in ("master", "node") for host in hosts(graph, g) for step in STEPS
    }
    assert set(graph.of_type(REMOTE_COMMAND)) == expected
    assert hosts(graph, "node") == ["test-node-0", "test-node-1"]
    assert len(hosts(graph, "master")) in {1, 3}


def test_every_resource_has_a_parent_in_the_program(graph: Graph) -> None:
    assert orphans(graph) == []


def test_the_check_for_parents_finds_an_orphan() -> None:
    from pulumi_tls import PrivateKey  # noqa: PLC0415 (only here)

    assert len(orphans(record(lambda: PrivateKey("stray", algorithm="ED25519")))) == 1


def test_a_phase_is_a_component_on_the_stack(graph: Graph) -> None:
    assert {item.type for item in graph if not item.custom} >= COMPONENTS


def test_only_kinds_of_resources_that_need_no_cloud(graph: Graph) -> None:
    kinds = [item.type for item in graph if item.custom]
    packages = {kind.split(":")[0] for kind in kinds if not kind.startswith("pulumi:providers:")}
    assert packages == {"tls", "command", "kubernetes"}
    assert [kind for kind in kinds if kind.startswith("pulumi:")] == ["pulumi:providers:kubernetes"]


def test_no_object_of_the_cluster_goes_to_a_default_provider(graph: Graph) -> None:
    """C02: it would write into whatever cluster the operator's own kubeconfig names."""
    (provider,) = graph.of_type("pulumi:providers:kubernetes").values()
    objects = [item for item in graph if item.type.startswith("kubernetes:")]
    assert objects
    assert [item.urn for item in objects if not item.provider.startswith(f"{provider.urn}::")] == []
    assert "kubeconfig" in provider.secrets


def test_a_host_goes_through_its_steps_in_order(graph: Graph) -> None:
    """A03: everything on a host waits for the one step that waits for SSH."""
    for host in [*hosts(graph, "master"), *hosts(graph, "node")]:
        for position, step in enumerate(STEPS):
            before = graph.before(graph.step(f"{host}-{step}"))
            assert before >= {f"{host}-{earlier}" for earlier in STEPS[:position]}


def test_reachable_and_prepare_wait_for_no_other_host(graph: Graph) -> None:
    for host in [*hosts(graph, "master"), *hosts(graph, "node")]:
        assert graph.before(graph.step(f"{host}-reachable")) == set()
        assert graph.before(graph.step(f"{host}-prepare")) == {f"{host}-reachable"}


@pytest.mark.parametrize("group", ["master", "node"])
def test_activation_is_chained_within_a_group(graph: Graph, group: str) -> None:
    chain = hosts(graph, group)
    for earlier, later in pairwise(chain):
        assert f"{earlier}-activate" in graph.before(graph.step(f"{later}-identity"))
        assert f"{later}-identity" not in graph.before(graph.step(f"{earlier}-activate"))


def test_masters_and_nodes_do_not_wait_for_each_other(graph: Graph) -> None:
    for group, other in (("master", "node"), ("node", "master")):
        for host in hosts(graph, group):
            before = graph.before(graph.step(f"{host}-activate"))
            assert not [step for step in before if step.startswith(f"test-{other}-")]


def test_gates_wait_for_the_hosts_that_they_ask_about(graph: Graph) -> None:
    """C06: nothing talks to the API before a gate has seen it answer.

    That takes the masters; nodes may still be on their way when the add-ons are made.
    """
    masters, nodes = (
        {f"{host}-activate" for host in hosts(graph, group)} for group in ("master", "node")
    )
    api = graph.before(gate(graph, "api"))
    assert api >= masters
    assert not api & nodes
    assert graph.before(gate(graph, "cluster")) >= masters | nodes
    for verb in ("api", "cluster"):
        assert "stdin" in gate(graph, verb).secrets
    for item in graph:
        if item.type.startswith("kubernetes:"):
            assert gate(graph, "api").urn in graph.ancestors(item), item.urn
            assert item.urn in graph.ancestors(gate(graph, "cluster")), item.urn


def test_what_is_exported_is_secret_where_it_holds_a_key(graph: Graph) -> None:
    """C11: `pulumi stack output` shows no credentials."""
    assert graph.secret_exports["kubeconfig"]
    assert not graph.secret_exports["nodes"]
    assert not graph.secret_exports["certificates"]


def test_steps_run_nothing_but_create(graph: Graph) -> None:
    """A01: `triggers` would replace. A08: `delete` would need a live host. A04: no environment."""
    for step in graph.of_type(REMOTE_COMMAND).values():
        assert not step.inputs.keys() & {"triggers", "update", "delete", "environment"}, step.name
        assert step.inputs["create"] == SHELL
        assert step.inputs["addPreviousOutputInEnv"] is False


def test_ssh_is_dialled_for_as_long_as_a_boot_takes_and_not_for_ever(update: Graph) -> None:
    """A03: a port that refuses for 90 s is waited for; a dead host ends in an error that names it.

    The count ends the wait, since an error of the time limit says neither host nor port.
    """
    for step in update.of_type(REMOTE_COMMAND).values():
        limit = step.inputs["connection"]["dialErrorLimit"]
        refused = sum(min(0.1 * 1.5**count, 5) for count in range(int(limit)))
        silent = refused + (limit + 1) * step.inputs["connection"]["perDialTimeout"]
        assert 300 < refused < silent < 20 * 60
        assert step.timeouts["create"] == step.timeouts["update"] == "20m"


def test_a_step_knows_whose_host_key_to_expect(update: Graph) -> None:
    for step in update.of_type(REMOTE_COMMAND).values():
        assert step.inputs["connection"]["hostKey"]


def test_the_step_with_keys_is_secret_and_silent(graph: Graph) -> None:
    """A10: neither the log nor the state shows what passes through it."""
    for name, step in graph.of_type(REMOTE_COMMAND).items():
        if name.endswith("-identity"):
            assert "stdin" in step.secrets
            assert step.inputs["logging"] == "none"
            assert step.secret_outputs >= {"stdout", "stderr"}


def test_the_other_steps_show_their_text_line_by_line(graph: Graph) -> None:
    for name, step in graph.of_type(REMOTE_COMMAND).items():
        if not name.endswith("-identity"):
            assert "stdin" not in step.secrets
            assert "PRIVATE KEY" not in str(step.inputs["stdin"])


def test_a_private_key_is_in_secret_inputs_only(small: Graph) -> None:
    """C11: nothing in the state is in clear that a `stack export` may not show."""
    for item in small:
        for key, value in item.inputs.items():
            if "PRIVATE KEY" in str(value):
                assert key in item.secrets or f"{key}.privateKey" in item.secrets, (item.name, key)


def test_nothing_is_unknown_in_an_update(small: Graph) -> None:
    assert [item.urn for item in small if UNKNOWN in item.text] == []


def test_a_first_preview_knows_the_steps_but_not_the_addresses() -> None:
    graph = recorded(1, preview=True)
    assert graph.step("test-node-0-activate").inputs["stdin"] == UNKNOWN


def test_a_later_preview_knows_every_text(small: Graph) -> None:
    graph = record(whole(), preview=True, is_unknown=lambda _: False)
    assert {urn: item.inputs for urn, item in graph.resources.items()} == {
        urn: item.inputs for urn, item in small.resources.items()
    }


def test_a_new_node_adds_its_own_resources_and_changes_no_other_host(small: Graph) -> None:
    """C03: and no kubeconfig, and so no provider."""
    before, after = small, record(whole(nodes=3))
    assert before.resources.keys() < after.resources.keys()
    added = [after.resources[urn] for urn in after.resources.keys() - before.resources.keys()]
    assert {item.name for item in added} == {
        "test-node-2",
        "test-node-2-host-key",
        "test-node-2-kubelet",
        *(f"test-node-2-{step}" for step in STEPS),
    }
    changed = [
        urn for urn, item in before.resources.items() if item.inputs != after.resources[urn].inputs
    ]
    # Who has to be Ready is asked on the operator's computer, of the API.
    assert changed == [gate(after, "cluster").urn]


def test_a_node_costs_a_single_digit_of_resources(large: Graph) -> None:
    assert len([item for item in large if item.name.startswith("test-node-1")]) <= 9


def test_the_preview_of_a_new_master_leaves_the_nodes_alone(small: Graph) -> None:
    """A node's files hold no master's address: one that is not known yet must not show there."""
    before = small
    after = record(
        whole(masters=3),
        preview=True,
        is_unknown=lambda name: name.startswith(("test-master-1", "test-master-2")),
    )
    for node in hosts(before, "node"):
        for step in STEPS:
            name = f"{node}-{step}"
            assert after.step(name).inputs == before.step(name).inputs, name


def test_masters_more_change_the_last_step_of_the_first_one_and_replace_nothing(
    small: Graph, large: Graph
) -> None:
    """H11: what its etcd and its API server start with stays as it is."""
    changed = {
        item.name
        for urn, item in small.resources.items()
        if item.inputs != large.resources[urn].inputs
    }
    # The note of whom the cluster began with is ignored from its second `up` on.
    assert changed == {
        "test-master-0-activate",
        "test-founders",
        "test-api-backends",
        "test-cluster-ready",
    }
    old, new = (g.step("test-master-0-activate").inputs["stdin"] for g in (small, large))
    lines = difflib.ndiff(old.splitlines(), new.splitlines())
    assert [line for line in lines if line[0] in "+-"] == [
        "+ master test-master-1 172.30.0.11",
        "+ master test-master-2 172.30.0.12",
    ]


def test_a_machine_that_is_made_anew_is_deleted_first(small: Graph) -> None:
    """H12: containers are known by their names; the deletion would hit the new one."""
    machines = [item for item in small if item.inputs.get("create") == "create-machine"]
    assert {item.name for item in machines} == {"test-master-0", "test-node-0", "test-node-1"}
    assert all(item.delete_before_replace for item in machines)


def test_on_a_machine_that_is_made_anew_every_step_runs_again(large: Graph) -> None:
    """H12: its address, host key and certificates may all be the same."""
    for name, steps in ((name, STEPS) for name in hosts(large, "master")):
        for step in steps:
            text = large.step(f"{name}-{step}").inputs["stdin"]
            assert f"\nmachine id-of-{name}\n" in text, step


def test_only_the_machines_that_a_cluster_began_with_may_begin_it(large: Graph) -> None:
    """H12: one that was made anew may not, and none that came later."""
    note = large.named(LOCAL_COMMAND, "test-founders")
    assert note.ignore_changes == ("stdin",)
    began = {"test-master-0": "id-of-test-master-0", "test-master-1": "another"}

    class Noted(Answers):
        def new_resource(self, args: MockResourceArgs) -> tuple[str, dict[str, Any]]:
            made, outputs = super().new_resource(args)
            return made, {
                **outputs,
                "stdin": json.dumps(began),
            } if args.name == note.name else outputs

    graph = record(whole(masters=3), answers=Noted)
    texts = {
        name: graph.step(f"{name}-activate").inputs["stdin"] for name in hosts(graph, "master")
    }
    assert {name for name, text in texts.items() if "\nfounder\n" in text} == {"test-master-0"}
    assert all("\nfounder\n" in large.step(f"{name}-activate").inputs["stdin"] for name in texts)


def kubelet_setting(value: int) -> Graph:
    pools = [
        {"name": "node", "count": 2},
        {"name": "big", "count": 1, "kubelet": {"config": {"maxPods": value}}},
    ]
    return record(whole(pools=pools))


def test_a_kubelet_setting_of_a_pool_changes_one_line_of_its_hosts() -> None:
    before, after = kubelet_setting(100), kubelet_setting(50)
    changed = [
        urn for urn, item in before.resources.items() if item.inputs != after.resources[urn].inputs
    ]
    # And once it is activated, whether the cluster is well is asked again.
    assert [urn.rsplit("::", 1)[1] for urn in changed] == [
        "test-big-0-activate",
        "test-cluster-ready",
    ]
    old, new = (g.step("test-big-0-activate").inputs["stdin"].splitlines() for g in (before, after))
    lines = [line for line in difflib.ndiff(old, new) if line[0] in "+-"]
    assert lines == ["- maxPods: 100", "+ maxPods: 50"]


def test_the_same_config_gives_the_same_graph_twice(small: Graph) -> None:
    again = record(whole())
    assert again.resources == small.resources


def test_authorities_are_protected_on_platforms_that_ask_for_it(small: Graph) -> None:
    """What is thrown away with this computer's containers needs no protection."""
    assert not [item.name for item in small if item.protect]


def test_hosts_keep_their_names_and_order_in_every_list() -> None:
    """H13: no master is special, and none is renamed."""
    config = cluster(masters=3)
    assert names(config)[:3] == ["test-master-0", "test-master-1", "test-master-2"]


def test_a_machine_hangs_on_the_component_of_its_role(large: Graph) -> None:
    machines = [item for item in large if item.inputs.get("create") == "create-machine"]
    parents = {item.name: item.parent.split("::")[2].rsplit(":", 1)[1] for item in machines}
    assert parents == {
        **{f"test-master-{index}": "Masters" for index in range(3)},
        **{f"test-node-{index}": "Nodes" for index in range(2)},
    }


def test_masters_come_first_where_all_machines_share_one_computer(large: Graph) -> None:
    machines = [item for item in large if item.inputs.get("create") == "create-machine"]
    shares = {item.name: json.loads(item.inputs["stdin"])["cpuShares"] for item in machines}
    assert shares == {
        **{f"test-master-{index}": "4096" for index in range(3)},
        **{f"test-node-{index}": "1024" for index in range(2)},
    }


def test_a_secret_step_makes_its_text_secret_even_when_it_came_in_clear() -> None:
    """A10: the rule does not lean on what the caller did."""
    connection = Connection(host="192.0.2.1", user="root", private_key="key", host_key="key")
    spec = cluster().hosts[0]

    def program() -> None:
        parent = ComponentResource("test:index:Parent", "parent")
        host = Host(spec=spec, address="192.0.2.1", connection=connection)
        remote_step("clear", host, "text", parent=parent, after=())
        remote_step("secret", host, "text", parent=parent, after=(), secret=True)

    graph = record(program)
    assert "stdin" in graph.step("secret").secrets
    assert "stdin" not in graph.step("clear").secrets


def test_the_load_balancer_is_there_before_it_is_told_its_backends(graph: Graph) -> None:
    commands = graph.of_type(LOCAL_COMMAND)
    assert commands["test-api"].urn in graph.ancestors(commands["test-api-backends"])


def test_the_clock_of_a_host_is_checked_against_its_own_certificates(graph: Graph) -> None:
    """B10: a host that joins later has certificates that are younger than the CA."""
    leaves = graph.of_type("tls:index/locallySignedCert:LocallySignedCert")
    for host in [*hosts(graph, "master"), *hosts(graph, "node")]:
        before = graph.ancestors(graph.step(f"{host}-reachable"))
        assert leaves[f"{host}-kubelet"].urn in before
        assert all(host in name for name, leaf in leaves.items() if leaf.urn in before)
