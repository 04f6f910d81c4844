"""Runs kubeadm's procedure on fresh hosts, as fast as its documentation lets one.

Packages go onto all hosts at once; as soon as `init` has ended all nodes join at once, while
flannel's manifest is applied. What ends it is the very check that ends our own `up`.
"""

from __future__ import annotations

import base64
import os
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

from bench import BenchError, packages, procedure
from bench.place import Place
from bootstrap.api import Api, NotYetError, wait
from bootstrap.ready import CLUSTER_LIMIT_SECONDS, Expected, Pulse, cluster_ready
from bootstrap.view import HostView
from catalogue import read_catalogue
from components.local.platform import TRAITS
from config import ClusterConfig
from model import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class Marks:
    """Seconds from the first login until each part was done."""

    packages: float
    init: float
    joined: float
    ready: float


def install(config: ClusterConfig, place: Place, mirror: Path) -> Marks:
    """Make a cluster of the hosts; returns when all are Ready and DNS is available.

    Raises BenchError.
    """
    manifest = procedure.flannel(packages.flannel_manifest(), config)
    scripts = _package_scripts(config, place, mirror)
    (master,) = [host.name for host in config.hosts if host.role is Role.MASTER]
    address = place.hosts[master].address
    init = procedure.init(procedure.kubeadm_config(config, TRAITS, address))
    nodes = [name for name in place.hosts if name != master]

    began = time.monotonic()
    with ThreadPoolExecutor(len(scripts) + 1) as pool:
        list(pool.map(lambda name: place.run(name, scripts[name]), scripts))
        marks = {"packages": time.monotonic() - began}
        begun = procedure.begun(place.run(master, init))
        marks["init"] = time.monotonic() - began
        network = pool.submit(_apply, manifest, begun.kubeconfig)
        joins = [pool.submit(place.run, name, begun.join) for name in nodes]
        network.result()
        for join in joins:
            join.result()
        marks["joined"] = time.monotonic() - began
    _wait(config, begun.kubeconfig)
    return Marks(**marks, ready=time.monotonic() - began)


def _package_scripts(config: ClusterConfig, place: Place, mirror: Path) -> dict[str, str]:
    programs = packages.downloads(config, place.mirror_url, mirror)
    sums = read_catalogue(str(mirror)).archives
    return {
        spec.name: procedure.packages(
            HostView(
                config=config,
                spec=spec,
                address=place.hosts[spec.name].address,
                identity="",
                labels={},
                mirror_url=place.mirror_url,
                masters={},
                founder=False,
                traits=TRAITS,
                archive_sums=sums,
                pod_images=(),
            ),
            programs,
        )
        for spec in config.hosts
    }


def _apply(manifest: str, kubeconfig: str) -> None:
    # From here, with a kubeconfig that nobody else can read and that is gone afterwards.
    reader, writer = os.pipe()
    with os.fdopen(writer, "w") as file:
        file.write(kubeconfig)
    command = ("kubectl", "--kubeconfig", f"/dev/fd/{reader}", "apply", "-f", "-")
    done = subprocess.run(
        command, input=manifest, capture_output=True, text=True, check=False, pass_fds=(reader,)
    )
    os.close(reader)
    if done.returncode:
        raise BenchError(f"{' '.join(command)}:\n{done.stderr.strip()}")


def client(kubeconfig: str) -> dict[str, str]:
    """What a kubeconfig says, as arguments of `Api`."""
    document = yaml.safe_load(kubeconfig)
    cluster, user = document["clusters"][0]["cluster"], document["users"][0]["user"]
    return {
        "server": cluster["server"],
        "ca": _plain(cluster, "certificate-authority-data"),
        "certificate": _plain(user, "client-certificate-data"),
        "key": _plain(user, "client-key-data"),
    }


def _plain(holder: Mapping[str, str], key: str) -> str:
    return base64.b64decode(holder[key]).decode()


def _wait(config: ClusterConfig, kubeconfig: str) -> None:
    api = Api(**client(kubeconfig))
    expected = Expected(
        cluster=config.name,
        nodes=[host.name for host in config.hosts],
        masters=[host.name for host in config.hosts if host.role is Role.MASTER],
        network=True,
        dns=True,
    )
    pulse = Pulse()
    try:
        wait(lambda: cluster_ready(api, expected, pulse), CLUSTER_LIMIT_SECONDS)
    except NotYetError as reason:
        raise BenchError(f"kubeadm's cluster was not ready in time: {reason}") from None
