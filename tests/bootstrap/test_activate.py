"""What a step restarts and what it waits for: `files/activate.sh`, run by bash with real texts."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from bootstrap import render
from bootstrap.step import File
from interface import Traits
from model import Role
from tests.bootstrap.views import KEYS, on, view

if TYPE_CHECKING:
    from bootstrap.view import HostView
    from tests.bootstrap.sandbox import Ran, Sandbox

RUNTIME, KUBELET = "containerd-anywhere", "kubelet"
PKI = {"/etc/kubernetes/pki/apiserver.key": "KEY\n", "/etc/kubernetes/kubelet/kubelet.key": "KEY\n"}
KUBELET_HEALTH = "http://127.0.0.1:10248/healthz"
HEALTHY = "/var/lib/kubernetes-anywhere/healthy"
API = "https://127.0.0.1:6443/readyz"


def activate(host: Sandbox, found: HostView, keys: dict[str, str] | None = None) -> Ran:
    """Both halves of the activation, as one `up` runs them."""
    first = host.run(render.identity(found, KEYS if keys is None else keys))
    if first.status:
        return first
    second = host.run(render.activate(found, {}))
    return type(second)(
        second.status,
        first.stdout + second.stdout,
        first.stderr + second.stderr,
        first.calls + second.calls,
    )


@pytest.fixture
def master(host: Sandbox) -> Sandbox:
    """A master that is up, and was seen to be so."""
    for _ in range(2):
        assert activate(host, view(Role.MASTER), PKI).status == 0
    assert host.path(HEALTHY).exists()
    return host


def test_the_first_start_returns_without_waiting_for_health(host: Sandbox) -> None:
    """etcd members must find each other: nothing may wait for the first of three alone."""
    host.write("unhealthy", "\n".join(render.STATIC_PODS.values()))
    ran = activate(host, view(Role.MASTER, masters=3), PKI)
    assert ran.status == 0, ran.stderr
    assert ran.restarts in ([RUNTIME, KUBELET], [KUBELET])
    waited = {url for url in render.STATIC_PODS.values() if url}
    assert not [call for call in ran.calls if call.split()[-1] in {*waited, KUBELET_HEALTH}]


def test_a_first_run_that_was_cut_off_waits_for_no_health_either(host: Sandbox) -> None:
    """One of three etcd members cannot be healthy before the others have started."""
    host.write("unhealthy", "\n".join(render.STATIC_PODS.values()))
    for _ in range(2):
        assert activate(host, view(Role.MASTER, masters=3), PKI).status == 0
    assert not host.path(HEALTHY).exists()


def test_keys_alone_start_nothing_on_a_new_host(host: Sandbox) -> None:
    ran = host.run(render.identity(view(Role.NODE), KEYS))
    assert (ran.status, ran.restarts) == (0, [])
    assert host.read("/etc/kubernetes/kubelet/kubelet.key") == "PRIVATE KEY\n"


def test_units_are_enabled_for_the_next_boot(master: Sandbox) -> None:
    ran = activate(master, view(Role.MASTER), PKI)
    assert "systemctl enable -q containerd-anywhere kubelet" in ran.calls


def test_a_second_run_restarts_nothing(master: Sandbox) -> None:
    """A09: what is placed already is no change."""
    ran = activate(master, view(Role.MASTER), PKI)
    assert (ran.status, ran.restarts) == (0, [])
    assert "systemctl daemon-reload" not in ran.calls
    assert master.pending() == set()


def changed(kind: str) -> HostView:
    """The master's view after somebody changed one thing."""
    found = view(Role.MASTER)
    spec = found.spec.model_copy(
        update={"kubelet": found.spec.kubelet.model_copy(update={"config": {"maxPods": 50}})}
    )
    flags = found.spec.model_copy(
        update={"kubelet": found.spec.kubelet.model_copy(update={"extra_args": {"v": "4"}})}
    )
    table = {
        "kubelet configuration": on(found, spec=spec),
        "kubelet flag": on(found, spec=flags),
        "runtime configuration": view(Role.MASTER, traits=Traits(systemd_cgroup=False)),
        "mirror": on(found, mirror_url="http://172.30.0.9"),
        "static pod": view(Role.MASTER, apiserver={"extraArgs": {"v": "4"}}),
    }
    return table[kind]


@pytest.mark.parametrize(
    ("kind", "restarted", "reloaded"),
    [
        ("kubelet configuration", [KUBELET], False),
        ("kubelet flag", [KUBELET], True),
        ("mirror", [], False),
        ("static pod", [], False),
    ],
)
def test_only_what_changed_is_restarted(
    master: Sandbox, kind: str, restarted: list[str], *, reloaded: bool
) -> None:
    ran = activate(master, changed(kind), PKI)
    assert ran.status == 0, ran.stderr
    assert ran.restarts == restarted
    assert ("systemctl daemon-reload" in ran.calls) is reloaded


@pytest.mark.parametrize("steady", [True, False])
def test_the_kubelet_restarts_when_it_has_replaced_static_pods(
    master: Sandbox, *, steady: bool
) -> None:
    """Or at once, if it cannot: one that ends in the middle leaves an API server without etcd."""
    found = changed("kubelet configuration")
    both = dataclasses.replace(found, config=changed("static pod").config)
    if not steady:
        master.write("pids", "1\n2\n3\n3\n")  # of a kubelet that ends again and again
    ran = activate(master, both, PKI)
    assert (ran.status, ran.restarts) == (0, [KUBELET]), ran.stderr
    answer = f" {render.STATIC_PODS['kube-apiserver']}"
    asked = [index for index, call in enumerate(ran.calls) if call.endswith(answer)]
    restart = ran.calls.index(f"systemctl restart {KUBELET}")
    assert (asked[-1] < restart) == steady


def test_a_changed_runtime_configuration_restarts_the_runtime(master: Sandbox) -> None:
    config = "/etc/containerd/config.toml"
    master.write(config, f"{master.read(config)}# by hand\n")
    ran = activate(master, view(Role.MASTER), PKI)
    assert ran.restarts == [RUNTIME]


def test_a_changed_kubelet_key_restarts_the_kubelet(master: Sandbox) -> None:
    """B01: what is renewed is also used."""
    ran = activate(
        master, view(Role.MASTER), {**PKI, "/etc/kubernetes/kubelet/kubelet.key": "NEW\n"}
    )
    assert (ran.status, ran.restarts) == (0, [KUBELET])


def test_a_changed_key_of_a_static_pod_restarts_the_pod_and_not_the_kubelet(
    master: Sandbox,
) -> None:
    """B01: what is renewed is also used."""
    manifest = "/etc/kubernetes/manifests/kube-apiserver.yaml"
    before = master.read(manifest)
    ran = activate(master, view(Role.MASTER), {**PKI, "/etc/kubernetes/pki/apiserver.key": "NEW\n"})
    assert (ran.status, ran.restarts) == (0, [])
    assert master.read(manifest) != before
    assert "@" not in master.read(manifest)


def test_a_host_that_was_active_is_waited_for(master: Sandbox) -> None:
    ran = activate(master, changed("static pod"), PKI)
    asked = {call.split()[-1] for call in ran.calls if call.startswith("curl")}
    assert asked >= {url for url in render.STATIC_PODS.values() if url}
    assert "http://127.0.0.1:10248/healthz" in asked


def test_an_unhealthy_pod_stops_the_chain_and_shows_the_journal(master: Sandbox) -> None:
    master.write("unhealthy", f"{API}\n")
    ran = activate(master, changed("static pod"), PKI)
    assert ran.status != 0
    assert f"waited too long for kube-apiserver at {API}" in ran.stderr
    assert "journal of kubelet" in ran.stderr


def test_an_unhealthy_host_is_not_forgotten(master: Sandbox) -> None:
    """The next `up`, with nothing to place, still says that the host is not well."""
    master.write("unhealthy", f"{API}\n")
    assert activate(master, changed("static pod"), PKI).status != 0
    assert activate(master, changed("static pod"), PKI).status != 0
    master.write("unhealthy", "")
    assert activate(master, changed("static pod"), PKI).status == 0
    assert master.pending() == set()


def test_a_host_that_was_healthy_once_has_to_be_so_again(master: Sandbox) -> None:
    """A kubelet that is between two crashes is not active: that makes it no new host."""
    master.path(f"active/{KUBELET}").unlink()
    master.write("unhealthy", f"{KUBELET_HEALTH}\n")
    ran = activate(master, changed("kubelet flag"), PKI)
    assert ran.status != 0
    assert "waited too long for the kubelet to run on" in ran.stderr


def test_a_kubelet_that_answers_and_then_ends_is_not_well(master: Sandbox) -> None:
    """Its port answered, and then it was another process."""
    master.write("pids", "".join(f"{number}\n" for number in range(1000)))
    ran = activate(master, changed("kubelet flag"), PKI)
    assert ran.status != 0
    assert "waited too long for the kubelet to run on" in ran.stderr
    assert "journal of kubelet" in ran.stderr
    master.write("pids", "7\n" * 1000)
    assert activate(master, changed("kubelet flag"), PKI).status == 0


def test_pods_that_read_where_the_api_is_are_restarted_when_that_changes(master: Sandbox) -> None:
    """They have the old file in their mounts, and would talk to the old endpoint for ever."""
    path = "/etc/kubernetes/in-cluster.kubeconfig"
    first = activate(master, view(Role.MASTER), {**PKI, path: "server: old\n"})
    same = activate(master, view(Role.MASTER), {**PKI, path: "server: old\n"})
    after = activate(master, view(Role.MASTER), {**PKI, path: "server: new\n"})
    killed = [
        [call.split()[-1] for call in ran.calls if " tasks kill " in call]
        for ran in (first, same, after)
    ]
    assert killed == [["kube-proxy-1"], [], ["kube-proxy-1"]]
    assert after.restarts == []


def test_what_a_package_would_add_to_our_unit_is_taken_away(host: Sandbox) -> None:
    name = "systemd/system/kubelet.service.d/10-kubeadm.conf"
    host.write(f"/usr/lib/{name}", "[Service]\nExecStart=\nExecStart=/usr/bin/kubelet\n")
    activate(host, view(Role.NODE))
    assert str(host.path(f"/etc/{name}").readlink()) == "/dev/null"


def test_a_unit_that_does_not_start_stops_the_chain_and_shows_the_journal(master: Sandbox) -> None:
    master.write("broken/kubelet", "")
    ran = activate(master, changed("kubelet flag"), PKI)
    assert ran.status != 0
    assert "journal of kubelet" in ran.stderr
    master.path("broken/kubelet").unlink()
    again = activate(master, changed("kubelet flag"), PKI)
    assert (again.status, again.restarts) == (0, [KUBELET])


@pytest.mark.parametrize("cut", ["systemctl() { exit 1; }", "link_resolver() { exit 1; }"])
def test_a_run_cut_off_after_the_commit_is_finished_by_the_next(master: Sandbox, cut: str) -> None:
    """A09: half of a step done, then the connection broke."""
    text = render.activate(changed("kubelet flag"), {})
    assert (
        master.run(text.replace("\nactivate activate", f"\n{cut}\nactivate activate")).status == 1
    )
    ran = activate(master, changed("kubelet flag"), PKI)
    assert (ran.status, ran.restarts) == (0, [KUBELET])


def test_a_run_cut_off_while_a_pod_was_replaced_is_finished_by_the_next(master: Sandbox) -> None:
    """A09: by then the old container is gone, and waiting for its end would never end."""
    text = render.activate(changed("static pod"), {})
    cut = text.replace("\nactivate activate", "\nreplaced() { exit 1; }\nactivate activate")
    master.write("unhealthy", f"{API}\n")
    assert master.run(cut).status != 0
    master.write("unhealthy", "")
    ran = activate(master, changed("static pod"), PKI)
    assert ran.status == 0, ran.stderr
    assert master.pending() == set()


def test_a_static_pod_that_somebody_put_there_is_left_alone(master: Sandbox) -> None:
    mine = "/etc/kubernetes/manifests/mine.yaml"
    master.write(mine, "kind: Pod\n")
    master.path(mine).chmod(0o640)
    before = master.path(mine).stat()
    assert activate(master, changed("static pod"), PKI).status == 0
    after = master.path(mine).stat()
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)


def test_a_static_pod_that_is_no_longer_wanted_goes(master: Sandbox) -> None:
    text = render.activate(
        view(Role.MASTER), {"/etc/kubernetes/addons/a.yaml": "kind: ConfigMap\n"}
    )
    assert master.run(text).status == 0
    assert master.files("/etc/kubernetes/addons") == {"a.yaml"}
    assert master.run(render.activate(view(Role.MASTER), {})).status == 0
    assert master.files("/etc/kubernetes/addons") == set()


def test_the_manifests_folder_holds_the_static_pods_and_nothing_else(master: Sandbox) -> None:
    """H17: after an upgrade, too."""
    activate(master, changed("static pod"), PKI)
    names = {f"{name}.yaml" for name in render.STATIC_PODS}
    assert master.files("/etc/kubernetes/manifests") == names


@pytest.mark.parametrize("resolved", [False, True])
def test_pods_get_resolvers_that_they_can_reach(host: Sandbox, *, resolved: bool) -> None:
    """Where systemd-resolved listens on loopback, those behind it."""
    if resolved:
        host.write("/run/systemd/resolve/resolv.conf", "nameserver 192.0.2.1\n")
    activate(host, view(Role.NODE))
    link = host.path("/etc/kubernetes/resolv.conf").readlink()
    assert str(link).endswith("run/systemd/resolve/resolv.conf" if resolved else "etc/resolv.conf")


def test_no_step_prints_a_key(host: Sandbox) -> None:
    """A10: what a step says is stored in clear."""
    ran = activate(host, view(Role.NODE), {"/etc/kubernetes/kubelet/kubelet.key": "CANARY\n"})
    assert "CANARY" not in ran.stdout + ran.stderr


def test_keys_are_the_owner_s_alone(host: Sandbox) -> None:
    activate(host, view(Role.MASTER), PKI)
    for path in PKI:
        assert host.path(path).stat().st_mode & 0o777 == 0o600


def test_a_file_that_differs_from_what_the_step_places_is_set_right(master: Sandbox) -> None:
    master.write("/etc/kubernetes/kubelet.yaml", "drifted: true\n")
    ran = activate(master, view(Role.MASTER), PKI)
    assert ran.restarts == [KUBELET]
    assert "drifted" not in master.read("/etc/kubernetes/kubelet.yaml")


def test_the_sandbox_moves_every_path(host: Sandbox) -> None:
    """No test of this folder may write to this computer."""
    outside = File(path="/etc/kubernetes/kubernetes-anywhere-test", content="x\n")
    host.place(outside)
    assert host.path(outside.path).exists()
