"""What is known of a host when its files are rendered, and how a file of `files/` is filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template

import yaml
from pydantic import JsonValue

from bootstrap.step import read
from config import ClusterConfig, HostSpec
from interface import Traits


@dataclass(frozen=True, kw_only=True, slots=True)
class HostView:
    """All that is known of one host and its cluster once the machines exist: plain values."""

    config: ClusterConfig
    spec: HostSpec
    address: str
    identity: str  # of the machine; empty: it is never made anew behind our back
    labels: Mapping[str, str]  # that the platform gives; those of the config win
    masters: Mapping[str, str]  # name: address; none on a node
    founder: bool  # whether the cluster began with this machine; only masters ask
    traits: Traits
    mirror_url: str | None
    archive_sums: Mapping[str, str]  # {file: sha256} of the mirror's own; empty: upstream's
    pod_images: tuple[str, ...]  # what pods of every node will run: references


def substitute(name: str, values: Mapping[str, str]) -> str:
    """A file of `files/` with its `$placeholders` filled in; an unknown one is an error."""
    return Template(read(name)).substitute(values)


def folders(config: ClusterConfig) -> Mapping[str, str]:
    """Where each archive is unpacked, by its placeholder: {"cni_plugins": "cni-plugins-1.9.1"}."""
    return {
        archive.name.replace("-", "_"): f"{archive.name}-{archive.version}"
        for archive in config.release.archives
    }


def oom_score_adjust(traits: Traits) -> str:
    """How far the kernel's out-of-memory killer keeps away from the runtime and the kubelet."""
    return "0" if traits.restrict_oom_score_adj else "-999"


def dump(document: JsonValue) -> str:
    """YAML as a person would write it: keys in their order, no line folding."""
    text: str = yaml.safe_dump(document, sort_keys=False, width=1000)
    return text
