"""What tests of the config share: small tables of flags, a mirror, a stack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from validation import CLUSTER_KEY
from validation.flags import FLAGS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TABLES = {
    "kubelet": "v\nnode-ip\nmax-pods\nhousekeeping-interval",
    "kube-apiserver": "v\nenable-admission-plugins\nauthorization-mode\naudit-log-maxage",
    "kube-controller-manager": "v\ncluster-signing-duration",
    "kube-scheduler": "v\nleader-elect",
    "etcd": "quota-backend-bytes\nsnapshot-count",
}


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small flag tables: v1.36 knows one kubelet flag and lacks one kubelet field more."""
    root = tmp_path_factory.mktemp("flags")
    for minor in ("v1.36", "v1.37"):
        (root / minor).mkdir()
        for component, words in TABLES.items():
            (root / minor / f"{component}.txt").write_text(f"# a comment\n{words}\n")
        fields = (FLAGS / minor / "kubelet-config.txt").read_text()
        (root / minor / "kubelet-config.txt").write_text(fields)
    with (root / "v1.36" / "kubelet.txt").open("a") as table:
        table.write("containerd\n")
    return root


@pytest.fixture
def mirror(tmp_path: Path) -> Callable[[object], str]:
    def write(document: object) -> str:
        text = document if isinstance(document, str) else json.dumps(document)
        (tmp_path / "catalog.json").write_text(text)
        return str(tmp_path)

    return write


@pytest.fixture
def stack(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Set the stack's config as the engine hands it over: as JSON text."""
    monkeypatch.delenv("KUBERNETES_ANYWHERE_MIRROR", raising=False)

    def use(text: str) -> None:
        def get_config(key: str) -> str | None:
            return text if key == CLUSTER_KEY else None

        monkeypatch.setattr("pulumi.runtime.config.get_config", get_config)
        monkeypatch.setattr("pulumi.config.get_config", get_config, raising=False)

    return use
