"""What of a cluster is on this computer: its Docker objects, and what the engine makes for them."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LABEL = "io.kubernetes-anywhere.cluster"


def run(*command: str, check: bool = True, stdin: str | None = None, limit: float = 120) -> str:
    """A program's standard output."""
    done = subprocess.run(
        command,
        input=stdin,
        stdin=None if stdin else subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=limit,
        check=False,
    )
    assert not check or done.returncode == 0, f"{' '.join(command)}: {done.stderr[-2000:]}"
    return done.stdout


_LISTING = {
    "container": ("--all", "--no-trunc"),
    "network": ("--no-trunc",),
    "volume": (),
}


def listed(kind: str, cluster: str | None = None) -> list[str]:
    """Ids of Docker objects, of volumes the names; all, or a cluster's."""
    chosen = ("--filter", f"label={LABEL}={cluster}") if cluster else ()
    return run("docker", kind, "ls", "--quiet", *_LISTING[kind], *chosen).split()


def inspected(kind: str, ids: Iterable[str]) -> list[dict[str, Any]]:
    """What the engine knows about objects."""
    wanted = list(ids)
    return list(json.loads(run("docker", kind, "inspect", *wanted))) if wanted else []


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """Everything of a cluster that this computer has, by the words that it is known by."""

    containers: tuple[str, ...]  # ids; shims, cgroups and overlay mounts are named after them
    networks: tuple[str, ...]
    volumes: tuple[str, ...]
    places: tuple[str, ...]  # folders and files of the engine that are the cluster's alone
    namespaces: tuple[str, ...]  # mounted; the engine removes the empty files a minute later
    bridges: tuple[str, ...]
    subnets: tuple[str, ...]

    def left(self) -> dict[str, list[str]]:
        """What of it is still there, by kind; empty when nothing is."""
        mounts = run("findmnt", "--list", "--noheadings")
        found = {
            "containers": _among(self.containers, listed("container")),
            "networks": _among(self.networks, listed("network")),
            "volumes": _among(self.volumes, listed("volume")),
            "processes": _processes(self.containers),
            "mounts": _lines(mounts, (*self.places, *self.namespaces)),
            "files": [place for place in self.places if Path(place).exists()],
            "interfaces": _lines(run("ip", "-o", "link"), self.bridges),
            "routes": _lines(run("ip", "route", "show", "table", "all"), self.bridges),
            "rules": _lines(_rules(), (*self.bridges, *self.subnets)),
        }
        return {kind: what for kind, what in found.items() if what}


def footprint(cluster: str) -> Footprint:
    """The footprint of a cluster that is there, running or dead."""
    containers = inspected("container", listed("container", cluster))
    networks = inspected("network", listed("network", cluster))
    volumes = inspected("volume", listed("volume", cluster))
    subnets = [block["Subnet"] for network in networks for block in network["IPAM"]["Config"]]
    return Footprint(
        containers=tuple(item["Id"] for item in containers),
        networks=tuple(item["Id"] for item in networks),
        volumes=tuple(item["Name"] for item in volumes),
        places=(
            *(place for item in containers for place in _places(item)),
            *(item["Mountpoint"] for item in volumes),
        ),
        namespaces=tuple(filter(None, map(_namespace, containers))),
        bridges=tuple(f"br-{item['Id'][:12]}" for item in networks),
        subnets=tuple(subnets),
    )


def _namespace(container: dict[str, Any]) -> str:
    """The name of the container's network namespace; empty when it does not run."""
    return str(container["NetworkSettings"]["SandboxKey"]).rpartition("/")[2]


def _places(container: dict[str, Any]) -> list[str]:
    layers = container["GraphDriver"]["Data"] or {}
    places = (layers.get("MergedDir"), layers.get("UpperDir"), container["LogPath"])
    return [place for place in places if place]


def _among(ours: Iterable[str], found: Iterable[str]) -> list[str]:
    return sorted(set(ours) & set(found))


def _lines(text: str, words: Iterable[str]) -> list[str]:
    wanted = tuple(words)
    return [line.strip() for line in text.splitlines() if any(word in line for word in wanted)]


def _rules() -> str:
    """Packet filter rules of both kinds, as far as there are tools to show them."""
    tools = (("iptables-save",), ("ip6tables-save",), ("nft", "list", "ruleset"))
    return "\n".join(run(*tool, check=False) for tool in tools if shutil.which(tool[0]))


def _processes(containers: Iterable[str]) -> list[str]:
    """Processes whose control group or command line names one of the containers."""
    known = re.compile("|".join(containers) or "$^")
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text() + (folder / "cgroup").read_text()
        except OSError:
            continue  # it has just ended
        if known.search(words):
            found.append(f"{folder.name} {words[:100]!r}")
    return found
