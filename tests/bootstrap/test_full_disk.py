"""A disk that fills in the middle of a step: told in words, nothing half is taken for whole.

In namespaces of their own, on a filesystem that really is that small.
"""

from __future__ import annotations

import hashlib
import io
import tarfile
from typing import TYPE_CHECKING

from bootstrap.step import File, call, place, program
from tests.bootstrap import namespace
from tests.bootstrap.test_takeoff import step

if TYPE_CHECKING:
    from pathlib import Path

CONFIG = File(path="/etc/kubernetes/kubelet.yaml", content="x" * 200_000)
PLACE = program((), (place(CONFIG), "commit test"))
SMALL = "mkdir -p {0} && mount -t tmpfs -o size=100k small {0}"
MORE = "mount -o remount,size=10m {0}"


def test_a_file_that_does_not_fit_is_no_file(tmp_path: Path) -> None:
    there = 'ls -A /etc/kubernetes >"$HOST/{0}"; cp "$HOST/step" "$HOST/said-{0}"'
    done = namespace.run(
        tmp_path,
        SMALL.format("/etc/kubernetes"),
        step(PLACE),
        there.format("full"),
        MORE.format("/etc/kubernetes"),
        step(PLACE),
        there.format("freed"),
    )
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "said-full").read_text()
    assert "No space left on device" in said
    assert "test-node-0: cannot write /etc/kubernetes/kubelet.yaml; is the disk full?" in said
    assert (tmp_path / "full").read_text() == ""
    assert (tmp_path / "said-freed").read_text() == ""
    assert (tmp_path / "freed").read_text() == "kubelet.yaml\n"


def test_an_archive_that_does_not_fit_is_no_archive(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("program")
        member.size = 1_000_000
        tar.addfile(member, io.BytesIO(b"x" * member.size))
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    fetch = program(
        ("prepare",),
        (
            'mkdir -p "$state"',
            "distrust",
            call("archive", "x-1", archive.name, archive.as_uri(), checksum),
            'together fetch_archive "${archives[@]}"',
            "stop_at_problems",
        ),
    )
    opt = "/opt/kubernetes-anywhere"
    there = f'find {opt} >"$HOST/{{0}}"; cp "$HOST/step" "$HOST/said-{{0}}"'
    done = namespace.run(
        tmp_path,
        SMALL.format(opt),
        step(fetch),
        there.format("full"),
        MORE.format(opt),
        step(fetch),
        there.format("freed"),
    )
    assert done.returncode == 0, done.stderr
    said = (tmp_path / "said-full").read_text()
    assert f"cannot unpack {archive.as_uri()} (" in said
    assert "is the disk full?" in said
    assert (tmp_path / "full").read_text() == f"{opt}\n"
    assert (tmp_path / "said-freed").read_text() == ""
    assert f"{opt}/x-1/program" in (tmp_path / "freed").read_text()
