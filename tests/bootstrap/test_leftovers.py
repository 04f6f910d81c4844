"""What another cluster left, removed before a host is this one's, in namespaces of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bootstrap import preflight, render
from bootstrap.step import program
from interface import Traits
from model import Role
from tests.bootstrap import namespace
from tests.bootstrap.test_takeoff import LIVED, OWN, differences, step
from tests.bootstrap.views import VALID_FROM, on, view

if TYPE_CHECKING:
    from pathlib import Path

FOUND = on(view(Role.NODE), traits=Traits(remove_leftovers=True))
PREPARE = render.prepare(FOUND)
# What comes before anything is fetched.
OWNING = "\nown 10.244.0.0/16\n"
BEGIN = f"{PREPARE[: PREPARE.index(OWNING)]}{OWNING}}}\n"


def test_the_first_thing_is_to_clear_and_then_to_record() -> None:
    statements = ["alone", "cluster test", "clear_leftovers", "own 10.244.0.0/16"]
    assert BEGIN.splitlines()[-5:-1] == statements
    assert "clear_leftovers" not in render.prepare(view(Role.NODE))


@pytest.mark.parametrize("owned", [True, False], ids=["ours", "of kubeadm"])
def test_leftovers_go_and_nothing_else(tmp_path: Path, *, owned: bool) -> None:
    """Of a cluster of ours there is a record of what it found; of another's there is none."""
    before = step(OWN.replace("cluster test", "cluster other")) if owned else ""
    done = namespace.run(tmp_path, "snapshot before", before, LIVED, step(BEGIN), "snapshot after")
    assert done.returncode == 0, done.stderr
    assert "problem" not in (tmp_path / "step").read_text()
    left = [line for line in differences(tmp_path) if "/var/lib/kubernetes-anywhere" not in line]
    if owned:
        assert left == []
        return
    # Its settings are not known, and its folders go whole.
    assert "ip_forward 1" in left
    assert [line for line in left if "/var/lib/mine" in line] == []
    assert {line.split()[1] for line in left if line.startswith("path /etc/c")} == {
        *("/etc/cni", "/etc/cni/net.d", "/etc/containerd", "/etc/containerd/config.toml"),
    }
    assert [line for line in left if line.startswith(("link", "mount", "rule"))] == []


def test_a_clearing_that_was_cut_off_goes_on(tmp_path: Path) -> None:
    """By then some leftover may be gone that told there was a cluster."""
    begun = (
        "ip link delete cni0; rm -r /etc/kubernetes /etc/cni /var/lib/etcd /etc/systemd/system/k*"
    )
    marker = "mkdir -p /var/lib/kubernetes-anywhere && touch /var/lib/kubernetes-anywhere/clearing"
    done = namespace.run(
        tmp_path, LIVED, begun, "ip link delete flannel.1", marker, step(BEGIN), "snapshot after"
    )
    assert done.returncode == 0, done.stderr
    after = (tmp_path / "after").read_text()
    assert "/var/lib/containerd" not in after
    assert "path /var/lib/kubernetes-anywhere/found d" in after
    assert "kubernetes-anywhere/clearing" not in after


def test_a_host_of_this_cluster_is_not_cleared(tmp_path: Path) -> None:
    done = namespace.run(
        tmp_path, step(OWN), LIVED, "snapshot before", step(BEGIN), "snapshot after"
    )
    assert done.returncode == 0, done.stderr
    assert differences(tmp_path) == []


def test_what_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    """Root may write anywhere but where the filesystem itself says no."""
    (asked,) = [
        line
        for line in preflight.reachable(FOUND, VALID_FROM).splitlines()
        if line.startswith("needs_writable /")
    ]
    files = ("places", "system", "network", "reachable")
    text = program(files, (asked, "machine_settings", "stop_at_problems"))
    sysctls = "mount --bind /proc/sys /proc/sys; mount -o remount,bind,ro /proc/sys"
    readonly = f"mount -o remount,ro /opt; {sysctls}"
    done = namespace.run(tmp_path, readonly, step(text))
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "step").read_text()
    assert "- /opt cannot be written to; mount it for writing\n" in said
    assert "net.ipv4.ip_forward is 0 and cannot be changed from here; set it to 1\n" in said
    assert "/etc cannot" not in said
