"""Fetching: `files/prepare.sh`, run by bash with the real texts and archives made here."""

from __future__ import annotations

import fcntl
import hashlib
import io
import tarfile
from typing import TYPE_CHECKING

import pytest

from bootstrap import render
from interface import Traits
from model import Role
from tests.bootstrap.views import MIRROR, POD_IMAGES, on, view

if TYPE_CHECKING:
    from bootstrap.view import HostView
    from tests.bootstrap.sandbox import Ran, Sandbox

OPT = "/opt/kubernetes-anywhere"
RUNTIME = "containerd-anywhere"


def archive(*names: str) -> bytes:
    """A compressed tar with some programs in it."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name in names:
            member = tarfile.TarInfo(name)
            member.mode, member.size = 0o755, len(name)
            tar.addfile(member, io.BytesIO(name.encode()))
    return buffer.getvalue()


FILES = {
    "containerd-2.3.4-linux-amd64.tar.gz": archive("bin/containerd", "bin/runner"),
    "runc.amd64": b"runc",
    "cni-plugins-linux-amd64-v1.9.1.tgz": archive("./bridge", "./loopback"),
}


def sums(**other: bytes) -> dict[str, str]:
    return {name: hashlib.sha256(other.get(name, data)).hexdigest() for name, data in FILES.items()}


def mirrored(role: Role = Role.NODE) -> HostView:
    return on(view(role), mirror_url=MIRROR, archive_sums=sums())


@pytest.fixture
def mirror(host: Sandbox) -> Sandbox:
    """A host with a mirror that has everything, and a containerd archive that was unpacked before.

    Its `ctr` is the stub.
    """
    for name, data in FILES.items():
        host.path(f"www/{name}").write_bytes(data)
    return host


def prepare(host: Sandbox, found: HostView | None = None) -> Ran:
    return host.run(render.prepare(found or mirrored()))


def test_archives_are_unpacked_each_into_its_own_folder(mirror: Sandbox) -> None:
    ran = prepare(mirror)
    assert ran.status == 0, ran.stderr
    assert mirror.files(OPT) == {"containerd-2.3.4", "runc-1.4.3", "cni-plugins-1.9.1"}
    assert mirror.files(f"{OPT}/cni-plugins-1.9.1") == {"bridge", "loopback"}
    assert mirror.files(f"{OPT}/runc-1.4.3") == {"runc"}


def test_what_runs_as_a_program_may_be_run(mirror: Sandbox) -> None:
    prepare(mirror)
    for path in (f"{OPT}/runc-1.4.3/runc", f"{OPT}/runc-1.4.3", f"{OPT}/cni-plugins-1.9.1/bridge"):
        assert mirror.path(path).stat().st_mode & 0o777 == 0o755


def test_a_second_run_fetches_and_starts_nothing(mirror: Sandbox) -> None:
    """A09: what is there is not fetched again."""
    first, second = prepare(mirror), prepare(mirror)
    assert first.restarts == [RUNTIME]
    assert second.restarts == []
    assert not [call for call in second.calls if call.startswith("curl") or "images pull" in call]


def test_a_wrong_checksum_is_a_problem_and_leaves_nothing(mirror: Sandbox) -> None:
    mirror.path("www/runc.amd64").write_bytes(b"evil")
    ran = prepare(mirror)
    assert ran.status == 1
    assert "has the checksum" in ran.stderr
    assert hashlib.sha256(b"evil").hexdigest() in ran.stderr
    assert mirror.files(OPT) == {"containerd-2.3.4", "cni-plugins-1.9.1"}
    assert ran.restarts == []


def test_all_archives_that_cannot_be_had_are_told_at_once(mirror: Sandbox) -> None:
    for name in ("runc.amd64", "cni-plugins-linux-amd64-v1.9.1.tgz"):
        mirror.path(f"www/{name}").unlink()
    ran = prepare(mirror)
    assert ran.status == 1
    assert "2 problem(s)" in ran.stderr
    assert f"{MIRROR}/archives/runc.amd64" in ran.stderr
    assert mirror.files(OPT) == {"containerd-2.3.4"}


def test_an_archive_that_cannot_be_unpacked_is_no_archive(mirror: Sandbox) -> None:
    """A full disk must not leave half a folder that the next run takes for whole."""
    name = "cni-plugins-linux-amd64-v1.9.1.tgz"
    mirror.path(f"www/{name}").write_bytes(b"not a tar")
    broken = on(mirrored(), archive_sums=sums() | {name: hashlib.sha256(b"not a tar").hexdigest()})
    assert prepare(mirror, broken).status != 0
    assert "cni-plugins-1.9.1" not in mirror.files(OPT)


def test_a_runtime_that_runs_is_left_to_the_activation(mirror: Sandbox) -> None:
    """Preparing changes nothing that runs, so that hosts can do it side by side."""
    prepare(mirror)
    before = mirror.read("/etc/containerd/config.toml")
    other = on(mirrored(), traits=Traits(systemd_cgroup=True))
    ran = prepare(mirror, other)
    assert (ran.status, ran.restarts) == (0, [])
    assert mirror.read("/etc/containerd/config.toml") == before
    assert not [name for name in mirror.files("/etc/containerd") if name.startswith(".")]


def test_a_running_host_pulls_from_where_images_come_from_now(mirror: Sandbox) -> None:
    """An image that only the new mirror has must not be asked of the old one."""
    prepare(mirror)
    hosts = "/etc/containerd/certs.d/_default/hosts.toml"
    assert prepare(mirror, on(mirrored(), mirror_url="http://172.30.0.9")).status == 0
    assert "http://172.30.0.9" in mirror.read(hosts)
    assert prepare(mirror, on(mirrored(), mirror_url=None)).status == 0
    assert not mirror.path(hosts).exists()


def test_a_run_waits_for_one_that_goes_on_without_its_client(mirror: Sandbox) -> None:
    lock = mirror.path("/var/lib/kubernetes-anywhere/lock")
    lock.parent.mkdir(parents=True)
    text = render.prepare(mirrored()).replace("flock -w 600", "flock -w 0")
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        ran = mirror.run(text)
    assert ran.status == 1
    assert "an earlier run is still at work" in ran.stderr
    assert ran.calls == []
    assert mirror.run(text).status == 0


@pytest.mark.parametrize("what", ["away-registry", "away-www"])
def test_a_registry_that_is_away_for_a_while_is_waited_for(mirror: Sandbox, what: str) -> None:
    mirror.patience = 60
    mirror.write(what, "40\n")
    ran = prepare(mirror)
    assert ran.status == 0, ran.stderr
    assert mirror.read(what) == "0\n"


def test_a_registry_that_stays_away_is_named(mirror: Sandbox) -> None:
    mirror.write("away-registry", "1000\n")
    ran = prepare(mirror)
    assert ran.status == 1
    assert "2 problem(s)" in ran.stderr
    assert "cannot pull registry.k8s.io/pause:3.10.2: connection refused" in ran.stderr


def test_what_no_waiting_helps_is_told_at_once(mirror: Sandbox) -> None:
    mirror.patience = 60
    mirror.write("missing", "registry.k8s.io/pause:3.10.2\n")
    ran = prepare(mirror)
    assert ran.status == 1
    assert len([call for call in ran.calls if call.endswith("pull/pause:3.10.2")]) <= 1
    mirror.path("www/runc.amd64").unlink()
    mirror.path(f"{OPT}/runc-1.4.3/runc").unlink()
    mirror.path(f"{OPT}/runc-1.4.3").rmdir()
    ran = prepare(mirror)
    assert "cannot fetch http://172.30.0.3/archives/runc.amd64 (curl: (22)" in ran.stderr
    assert len([call for call in ran.calls if call.startswith("curl")]) == 1


def test_what_was_unpacked_when_the_host_crashed_is_not_trusted(mirror: Sandbox) -> None:
    """Its folder may be there and its files empty: what was not yet on the disk is lost."""
    mirror.write("missing", "registry.k8s.io/pause:3.10.2\n")
    assert prepare(mirror).status == 1
    mirror.write(f"{OPT}/runc-1.4.3/runc", "")
    mirror.path(f"{OPT}/.fetch.killed").mkdir()
    mirror.path("missing").unlink()
    mirror.write("/proc/sys/kernel/random/boot_id", "next-boot\n")
    assert prepare(mirror).status == 0
    assert mirror.read(f"{OPT}/runc-1.4.3/runc") == "runc"
    assert mirror.files(OPT) == {"containerd-2.3.4", "runc-1.4.3", "cni-plugins-1.9.1"}
    mirror.write("/proc/sys/kernel/random/boot_id", "third-boot\n")
    again = prepare(mirror)
    assert not [call for call in again.calls if call.startswith("curl")]


def test_a_runtime_that_does_not_start_is_told_with_its_journal(mirror: Sandbox) -> None:
    mirror.write(f"broken/{RUNTIME}", "")
    ran = prepare(mirror)
    assert ran.status == 1
    assert f"journal of {RUNTIME}" in ran.stderr


def test_the_images_of_the_role_are_pulled_and_pinned(mirror: Sandbox) -> None:
    found = mirrored(Role.MASTER)
    ran = prepare(mirror, found)
    expected = {found.config.release.images[name] for name in render.IMAGES[Role.MASTER]}
    assert set(mirror.read("images").splitlines()) - set(POD_IMAGES) == expected
    assert len([call for call in ran.calls if call.endswith("pinned=pinned")]) == len(expected)


@pytest.mark.parametrize("role", Role)
def test_what_pods_will_run_is_pulled_and_not_waited_for(mirror: Sandbox, role: Role) -> None:
    """By one unit for all of it; what is there already is left out."""
    first, second = POD_IMAGES
    mirror.write("images", f"{first}\n")
    ran = prepare(mirror, mirrored(role))
    (call,) = [call for call in ran.calls if call.startswith("systemd-run")]
    assert "--unit kubernetes-anywhere-images" in call
    assert call.endswith(f" {second}")
    assert first not in call


def test_what_is_still_being_pulled_is_not_pulled_twice(mirror: Sandbox) -> None:
    mirror.write("active/kubernetes-anywhere-images", "")
    assert not [call for call in prepare(mirror).calls if call.startswith("systemd-run")]


def test_an_image_that_cannot_be_had_is_named(mirror: Sandbox) -> None:
    mirror.write("missing", "registry.k8s.io/pause:3.10.2\n")
    ran = prepare(mirror)
    assert ran.status == 1
    assert "cannot pull registry.k8s.io/pause:3.10.2: not found" in ran.stderr


def test_the_host_says_whose_it_is(mirror: Sandbox) -> None:
    prepare(mirror)
    assert mirror.read("/var/lib/kubernetes-anywhere/cluster") == "test\n"


def test_too_few_inotify_instances_are_raised_for_good(mirror: Sandbox) -> None:
    mirror.write("/proc/sys/fs/inotify/max_user_instances", "128\n")
    ran = mirror.run(render.prepare(mirrored()))
    assert ran.status == 0, ran.stderr
    file = "/etc/sysctl.d/90-kubernetes-anywhere.conf"
    assert mirror.read(file) == "fs.inotify.max_user_instances = 8192\n"
    assert f"sysctl -q -p {file}" in ran.calls
    mirror.path("broken/sysctl").touch()
    refused = mirror.run(render.prepare(mirrored()))
    assert refused.status == 1
    assert f"cannot set what {file} says" in refused.stderr
