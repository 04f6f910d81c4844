"""What `reachable` lets pass, and says of a host that is fit; `test_unfit.py` has the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bootstrap import preflight, render
from bootstrap.step import read
from interface import Traits
from model import Role
from tests.bootstrap.views import VALID_FROM, on, view
from versions import DEFAULT_RELEASE, RELEASES

if TYPE_CHECKING:
    from bootstrap.view import HostView
    from tests.bootstrap.sandbox import Ran, Sandbox

CLUSTER = "/var/lib/kubernetes-anywhere/cluster"
OLD = next(iter(RELEASES))
LISTENING = 'tcp LISTEN 0 128 *:10250 *:* users:(("kubelet",pid=1,fd=3))\n'


def reach(host: Sandbox, found: HostView | None = None, valid_from: str = VALID_FROM) -> Ran:
    """The step, on a master by default."""
    return host.run(preflight.reachable(found or view(Role.MASTER), valid_from))


@pytest.mark.parametrize("role", Role)
def test_a_host_that_is_fit_is_described(host: Sandbox, role: Role) -> None:
    found = view(role)
    host.write("address", f"{found.address}\n")
    host.path("active/chrony").touch()
    ran = reach(host, found)
    assert (ran.status, ran.stderr) == (0, "")
    assert ran.stdout == "reachable: Test Linux, Linux 6.1.0-31-amd64\n"


def test_it_changes_no_file(host: Sandbox) -> None:
    before = {path: path.stat().st_mtime_ns for path in host.root.rglob("*") if path.is_file()}
    assert reach(host).status == 0
    host.path("calls").unlink()
    after = {path: path.stat().st_mtime_ns for path in host.root.rglob("*") if path.is_file()}
    assert after == before
    assert not host.path("/var/lib").exists(), "a folder was made"


def test_all_problems_are_told_at_once(host: Sandbox) -> None:
    host.write("uname-m", "riscv64\n")
    host.write("listening", LISTENING)
    host.write("cloud-init", "1")
    host.path("run/systemd/system").rmdir()
    host.write("/proc/swaps", "Filename\n/swap.img file 1 0 -2\n")
    ran = reach(host, on(view(Role.MASTER), traits=Traits()))
    assert ran.status == 1
    assert "5 problem(s):" in ran.stderr
    for words in ("riscv64", "10250/tcp", "cloud-init failed", "systemd", "/swap.img"):
        assert words in ran.stderr


@pytest.mark.parametrize("status", [0, 2, None])
def test_a_first_boot_that_is_done_or_degraded_will_do(host: Sandbox, status: int | None) -> None:
    """A15: so will one that cloud-init has nothing to do with. It is asked before all else."""
    if status is None:
        host.path("bin/cloud-init").unlink()
    else:
        host.write("cloud-init", str(status))
    assert reach(host).status == 0
    text = preflight.reachable(view(Role.MASTER), VALID_FROM)
    assert "\n}\n\nbooted\ncluster test\n" in text


def test_data_of_etcd_is_welcome_if_it_is_this_cluster_s(host: Sandbox) -> None:
    """H12: a master that was made anew finds the disk of the one before."""
    host.write("/var/lib/etcd/member/wal", "")
    host.write("/var/lib/etcd/.cluster", "test\n")
    assert reach(host).status == 0


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"network": {"plugin": "calico"}}, "runs with network.plugin flannel, which cannot become"),
    ({"network": {"plugin": "none"}}, "set it back, or see docs/hosts.md"),
    ({"addons": {"delivery": "addon-manager"}}, "runs with addons.delivery pulumi, which cannot"),
    ({"kubernetesVersion": OLD}, f"runs with kubernetesVersion {DEFAULT_RELEASE}, which cannot"),
]


def made(host: Sandbox, role: Role, *, running: bool) -> None:
    """The host as the steps leave it: prepared, and then maybe with a kubelet."""
    host.write("address", f"{view(role).address}\n")
    host.write("images", "\n".join(view(role).config.release.images.values()))
    facts = [line for line in render.prepare(view(role)).splitlines() if "made_with " in line]
    assert host.run("\n".join((read("common.sh"), read("prepare.sh"), "alone", *facts))).status == 0
    host.write(CLUSTER, "test\n")
    if running:
        host.write("/etc/systemd/system/kubelet.service", "[Service]\n")


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(("keys", "words"), CHANGES, ids=str)
def test_a_running_cluster_keeps_what_it_was_made_with(
    host: Sandbox, role: Role, keys: dict[str, Any], words: str
) -> None:
    """H28: a version, too, until masters can go before nodes; so no node is ahead of a master."""
    made(host, role, running=True)
    assert reach(host, view(role)).status == 0
    ran = reach(host, view(role, **keys))
    assert ran.status == 1
    assert "1 problem(s)" in ran.stderr
    assert words in ran.stderr


@pytest.mark.parametrize(("keys", "_words"), CHANGES, ids=str)
def test_until_it_runs_it_may_be_made_with_something_else(
    host: Sandbox, keys: dict[str, Any], _words: str
) -> None:
    made(host, Role.NODE, running=False)
    assert reach(host, view(Role.NODE, **keys)).status == 0


def test_a_cluster_that_was_made_before_this_was_kept_goes_on(host: Sandbox) -> None:
    made(host, Role.NODE, running=True)
    for path in host.path("/var/lib/kubernetes-anywhere").glob("made-with.*"):
        path.unlink()
    assert reach(host, view(Role.NODE, network={"plugin": "calico"})).status == 0


@pytest.mark.parametrize(("machine", "arch"), [("x86_64", "amd64"), ("aarch64", "arm64")])
def test_architectures_are_known_by_both_names(host: Sandbox, machine: str, arch: str) -> None:
    host.write("uname-m", f"{machine}\n")
    assert reach(host, view(Role.MASTER, arch=arch)).status == 0
    assert reach(host, view(Role.MASTER, arch="arm64" if arch == "amd64" else "amd64")).status == 1


@pytest.mark.parametrize(
    "release",
    [
        "ID=debian\n",
        'ID=debian\nVERSION_ID="13"\n',
        'ID=ubuntu\nVERSION_ID="22.04"\n',
        'ID=ubuntu\nVERSION_ID="24.04"\n',
        "ID=flatcar\nVERSION_ID=4081.2.0\n",
    ],
)
def test_distributions_that_it_is_made_for(host: Sandbox, release: str) -> None:
    host.write("/etc/os-release", f"{release}PRETTY_NAME=x\n")
    assert reach(host).status == 0


def test_a_host_that_is_ours_may_use_its_ports_routes_links_and_disk(host: Sandbox) -> None:
    """A09: the second run meets what the first one started."""
    host.write(CLUSTER, "test\n")
    host.write("listening", LISTENING)
    host.write("/etc/kubernetes/manifests/etcd.yaml", "")
    host.write("/etc/cni/net.d/10-flannel.conflist", "")
    host.write("links", "cni0\nflannel.1\n")
    host.write("routes", "10.244.1.0/24 via 10.244.1.0 dev eth0\n")
    host.write("disk/all", "/dev/x 99999 0 9 0% /\n")
    host.path("active/kubelet").touch()
    ran = reach(host)
    assert ran.status == 0, ran.stderr


def test_features_may_be_loaded_or_there_to_be_loaded(host: Sandbox) -> None:
    host.write("/proc/kallsyms", "")
    for name in ("overlay", "nf_tables", "nf_conntrack", "br_netfilter", "vxlan"):
        host.path(f"/sys/module/{name}").mkdir(parents=True)
    assert reach(host).status == 0
    host.path("/sys/module/vxlan").rmdir()
    assert reach(host).status == 1
    host.write("bin/modprobe", '#!/bin/bash\n[[ "$*" == "-nqa vxlan" ]]\n')
    assert reach(host).status == 0


def test_a_container_cannot_see_what_its_computer_s_kernel_could_load(host: Sandbox) -> None:
    host.write("/proc/kallsyms", "")
    assert reach(host).status == 1
    host.write("bin/systemd-detect-virt", "#!/bin/bash\ntrue\n")
    assert reach(host).status == 0


def test_swap_and_cgroups_of_version_1_pass_where_the_kubelet_tolerates_them(host: Sandbox) -> None:
    host.write("/proc/swaps", "Filename\n/swap.img file 1 0 -2\n")
    host.path("/sys/fs/cgroup/cgroup.controllers").unlink()
    tolerant = {"config": {"failSwapOn": False, "failCgroupV1": False}}
    found = on(view(Role.MASTER, kubelet=tolerant), traits=Traits())
    assert reach(host, found).status == 0
    assert reach(host, on(view(Role.MASTER), traits=Traits())).status == 1


def test_leftovers_pass_where_the_config_says_that_they_may_go(host: Sandbox) -> None:
    host.write("/etc/kubernetes/manifests/etcd.yaml", "")
    host.write("listening", LISTENING)
    for unit in ("kubelet", "containerd"):
        host.path(f"active/{unit}").touch()
    assert reach(host, on(view(Role.MASTER), traits=Traits(remove_leftovers=True))).status == 0
    host.write("listening", LISTENING.replace("kubelet", "nginx"))
    host.path("active/docker").touch()
    ran = reach(host, on(view(Role.MASTER), traits=Traits(remove_leftovers=True)))
    assert "2 problem(s)" in ran.stderr
    assert "10250/tcp is in use by nginx" in ran.stderr
    assert "systemctl disable --now docker" in ran.stderr


def test_an_unrelated_route_and_port_are_no_problem(host: Sandbox) -> None:
    host.write("routes", "172.17.0.0/16 dev docker0\n10.245.0.0/16 via 1.2.3.4\n10.95.0.1 dev x\n")
    host.write("listening", LISTENING.replace("10250", "22"))
    assert reach(host).status == 0


def test_upstream_s_registries_are_asked_and_may_want_to_know_who_asks() -> None:
    assert dict(preflight.sources(view(Role.NODE)))["archives"].startswith("https://github.com/")
    images = [url for what, url in preflight.sources(view(Role.NODE)) if what == "images"]
    assert images == ["https://ghcr.io/v2/", "https://registry.k8s.io/v2/"]


def test_a_host_whose_clock_nobody_keeps_is_fit_and_told(host: Sandbox) -> None:
    ran = reach(host)
    assert ran.status == 0
    assert "note: no time service runs: enable one" in ran.stdout
