"""Fresh hosts, with the real engine: they answer SSH, and nothing is left of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench import BenchError
from bench.place import Place, clear
from bench.settings import NAME, cluster, effective
from components.local.containers.engine import listed
from components.local.containers.networks import network_state
from components.local.docker import VERBS

pytestmark = pytest.mark.docker
CONFIG = effective(cluster(0), os.environ)


def left() -> list[str]:
    mark = f"label=io.kubernetes-anywhere.network={NAME}"
    return [*listed("container", mark), *listed("volume", mark), *listed("network", mark)]


def test_hosts_are_reached_as_root_and_gone_afterwards(tmp_path: Path) -> None:
    mirror = tmp_path / "mirror"
    mirror.mkdir()
    (mirror / "file").write_text("from the mirror")
    with Place(CONFIG, mirror, tmp_path / "keys") as place:
        (name,) = place.hosts
        assert place.run(name, "hostname; id -un").split() == [f"{NAME}-master-0", "root"]
        assert place.run(name, f"curl -fsS {place.mirror_url}/file") == "from the mirror"
        assert place.run(name, "systemctl is-active ssh; ls /opt").split() == ["active"]
        with pytest.raises(BenchError, match=r"ended with 3:\nwhat it said"):
            place.run(name, "echo what it said; exit 3")
    assert left() == []


def test_somebody_s_network_is_left_alone() -> None:
    clear(CONFIG)
    VERBS["create-network"](
        {"cluster": NAME, "name": NAME, "cidr": CONFIG.network.host_cidr, "labels": {}}
    )
    try:
        with pytest.raises(BenchError, match="that no measurement made"):
            clear(CONFIG)
        assert network_state(NAME)
    finally:
        VERBS["delete-network"]({"name": NAME})
