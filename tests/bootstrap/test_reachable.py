"""Everything that would fail later, found at once: `files/reachable.sh`, run by bash."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from bootstrap import render
from bootstrap.step import read
from model import Role
from tests.bootstrap.views import VALID_FROM, view

if TYPE_CHECKING:
    from tests.bootstrap.sandbox import Ran, Sandbox

PORT_USER = 'LISTEN 0 128 *:6443 *:* users:(("nginx",pid=1,fd=3))\n'


def reach(
    host: Sandbox, role: Role = Role.MASTER, valid_from: str = VALID_FROM, **keys: Any
) -> Ran:
    """The step, on a host with disk enough."""
    text = render.reachable(view(role, **keys), valid_from)
    disk = "df() { printf 'h\\n/dev/x 99999 0 90000 0%% /\\n'; }\n"
    return host.run(text.replace("\ncluster ", f"\n{disk}cluster ", 1))


def test_a_host_that_is_fit_is_described(host: Sandbox) -> None:
    host.write("machine", "x86_64\n")
    ran = reach(host)
    assert ran.status == 0, ran.stderr
    assert "reachable: Test Linux" in ran.stdout


def test_it_changes_no_file(host: Sandbox) -> None:
    host.write("machine", "x86_64\n")
    before = {path: path.stat().st_mtime_ns for path in host.path("etc").rglob("*")}
    reach(host)
    assert {path: path.stat().st_mtime_ns for path in host.path("etc").rglob("*")} == before


def test_all_problems_are_told_at_once(host: Sandbox) -> None:
    host.write("machine", "riscv64\n")
    host.write("listening", PORT_USER)
    host.write("cloud-init", "1")
    host.path("run/systemd/system").rmdir()
    ran = reach(host)
    assert ran.status == 1
    for words in (
        "architecture is riscv64",
        "port 6443 is in use by nginx",
        "cloud-init failed",
        "systemd",
    ):
        assert words in ran.stderr


@pytest.mark.parametrize("status", [0, 2])
def test_a_first_boot_that_is_done_or_degraded_will_do(host: Sandbox, status: int) -> None:
    host.write("machine", "x86_64\n")
    host.write("cloud-init", str(status))
    assert reach(host).status == 0


@pytest.mark.parametrize(("owner", "status"), [("test", 0), ("other", 1)])
def test_data_of_etcd_is_welcome_if_it_is_this_cluster_s(
    host: Sandbox, owner: str, status: int
) -> None:
    """A master that was made anew finds the disk of the one before."""
    host.write("machine", "x86_64\n")
    host.path("/var/lib/etcd/member").mkdir(parents=True)
    host.write("/var/lib/etcd/.cluster", f"{owner}\n")
    assert reach(host).status == status


def test_other_etcd_members_are_refused_once_there_is_data(host: Sandbox) -> None:
    """Members that start with `new` beside a running one would be a second, empty cluster."""
    host.write("machine", "x86_64\n")
    master = view(Role.MASTER)
    (manifest,) = [file for file in render.master_files(master) if file.path.endswith("etcd.yaml")]
    host.write("/etc/kubernetes/manifests/etcd.yaml", manifest.content)
    host.write("/var/lib/kubernetes-anywhere/cluster", f"{master.config.name}\n")
    assert reach(host, masters=3).status == 0, "without data it has not begun"
    host.write("/var/lib/etcd/member/wal", "")
    assert reach(host).status == 0
    ran = reach(host, masters=3)
    assert ran.status == 1
    assert "masters.count" in ran.stderr


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"network": {"plugin": "calico"}}, "runs with network.plugin flannel, which cannot become"),
    ({"network": {"plugin": "none"}}, "docs/networking.md"),
    ({"addons": {"delivery": "addon-manager"}}, "runs with addons.delivery pulumi, which cannot"),
]


def made(host: Sandbox, role: Role, *, running: bool) -> None:
    """The host as the steps leave it: prepared, and then maybe with a kubelet."""
    host.write("machine", "x86_64\n")
    host.write("images", "\n".join(view(role).config.release.images.values()))
    facts = [line for line in render.prepare(view(role)).splitlines() if "made_with " in line]
    assert host.run("\n".join((read("common.sh"), read("prepare.sh"), "alone", *facts))).status == 0
    host.write("/var/lib/kubernetes-anywhere/cluster", "test\n")
    if running:
        host.write("/etc/systemd/system/kubelet.service", "[Service]\n")


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize(("keys", "words"), CHANGES, ids=str)
def test_a_running_cluster_keeps_what_it_was_made_with(
    host: Sandbox, role: Role, keys: dict[str, Any], words: str
) -> None:
    made(host, role, running=True)
    assert reach(host, role).status == 0
    ran = reach(host, role, **keys)
    assert ran.status == 1
    assert "1 problem(s)" in ran.stderr
    assert words in ran.stderr


@pytest.mark.parametrize(("keys", "_words"), CHANGES, ids=str)
def test_until_it_runs_it_may_be_made_with_something_else(
    host: Sandbox, keys: dict[str, Any], _words: str
) -> None:
    made(host, Role.NODE, running=False)
    assert reach(host, Role.NODE, **keys).status == 0


def test_a_cluster_that_was_made_before_this_was_kept_goes_on(host: Sandbox) -> None:
    made(host, Role.NODE, running=True)
    for path in host.path("/var/lib/kubernetes-anywhere").glob("made-with.*"):
        path.unlink()
    assert reach(host, Role.NODE, network={"plugin": "calico"}).status == 0


@pytest.mark.parametrize(("machine", "arch"), [("x86_64", "amd64"), ("aarch64", "arm64")])
def test_architectures_are_known_by_both_names(host: Sandbox, machine: str, arch: str) -> None:
    host.write("machine", f"{machine}\n")
    assert reach(host, arch=arch).status == 0
    assert reach(host, arch="arm64" if arch == "amd64" else "amd64").status == 1


def test_a_host_of_another_cluster_is_refused(host: Sandbox) -> None:
    host.write("machine", "x86_64\n")
    host.write("/var/lib/kubernetes-anywhere/cluster", "other\n")
    ran = reach(host)
    assert ran.status == 1
    assert "runs a part of the cluster 'other' already" in ran.stderr


@pytest.mark.parametrize("left", ["/etc/kubernetes/manifests/x.yaml", "/var/lib/etcd/member/x"])
def test_leftovers_of_another_cluster_are_refused(host: Sandbox, left: str) -> None:
    host.write("machine", "x86_64\n")
    host.write(left, "")
    ran = reach(host)
    assert ran.status == 1
    assert "leftovers" in ran.stderr


def test_a_host_that_is_ours_may_use_its_ports(host: Sandbox) -> None:
    """A09: the second run meets what the first one started."""
    host.write("machine", "x86_64\n")
    host.write("/var/lib/kubernetes-anywhere/cluster", "test\n")
    host.write("listening", PORT_USER)
    host.write("/etc/kubernetes/manifests/etcd.yaml", "")
    assert reach(host).status == 0


def test_a_disk_that_is_too_small_is_told_with_both_sizes(host: Sandbox) -> None:
    host.write("machine", "x86_64\n")
    text = render.reachable(view(Role.NODE), VALID_FROM)
    disk = "df() { printf 'h\\n/dev/x 9 0 7 0%% /\\n'; }\n"
    ran = host.run(text.replace("\ncluster ", f"\n{disk}cluster ", 1))
    assert ran.status == 1
    assert "has 7 MiB free and needs 1024" in ran.stderr


@pytest.mark.parametrize(("ahead", "status"), [(-60, 0), (0, 0), (60, 1), (86400, 1)])
def test_a_clock_that_is_behind_is_told(host: Sandbox, ahead: int, status: int) -> None:
    """B10: certificates that begin in the host's future are not valid there yet."""
    host.write("machine", "x86_64\n")
    made = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=ahead)
    ran = reach(host, valid_from=made.strftime("%Y-%m-%dT%H:%M:%SZ"))
    assert ran.status == status
    assert ("the clock is at least" in ran.stderr) is bool(status)
