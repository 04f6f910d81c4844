"""kubeadm's own part of a mirror."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from airgap import gobuild, paths
from airgap.recipes import cluster as recipes
from bench import packages
from bench.settings import cluster, effective
from versions import RELEASES


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_no_cluster_waits_for_kubeadm_to_be_built(release: object) -> None:
    assert isinstance(release, type(next(iter(RELEASES.values()))))
    build = packages.kubeadm(release)
    assert build.programs() == ("kubeadm",)
    assert (build.version, build.variables) == (
        release.kubernetes,
        recipes.kubernetes(release).variables,
    )
    assert build.folder() not in {other.folder() for other in recipes.cluster(release)}


def test_the_folder_is_the_mirror_and_two_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    release = effective(cluster(1), {}).release
    monkeypatch.setattr(gobuild, "make", lambda _: None)
    for build in (recipes.kubernetes(release), packages.kubeadm(release)):
        build.folder().mkdir(parents=True)
        for name in build.programs():
            (build.folder() / name).write_text(f"the program {name}")
    served = paths.cache() / "mirror" / release.kubernetes
    (served / "v2").mkdir(parents=True)
    (served / "v2" / "manifest").write_text("a manifest")

    folder = packages.fill(release)
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert files == {"v2/manifest", "archives/kubelet.program", "archives/kubeadm.program"}
    assert not (served / "archives").exists(), "a cluster's mirror stays as it is"

    found = packages.downloads(effective(cluster(1), {}), "http://m:5000", folder)
    assert [(item.folder, item.url) for item in found] == [
        (f"kubelet-{release.kubernetes}", "http://m:5000/archives/kubelet.program"),
        (f"kubeadm-{release.kubernetes}", "http://m:5000/archives/kubeadm.program"),
    ]
    assert found[0].sha256 == hashlib.sha256(b"the program kubelet").hexdigest()
