"""The keys of the pod network: every kind of bad input, and what is taken."""

from __future__ import annotations

from typing import Any

import pytest

from tests.config.cases import Bad, network
from validation import ConfigError, Problem, parse

SUM = "5" * 64
URL = "https://example.com/net.yaml"
NO_SERVICES = "which reaches the API by its Service"
BAD: dict[str, Bad] = {
    "manifests-missing": Bad(
        network(plugin="manifests"),
        "network.manifests",
        None,
        "is missing: network.plugin is manifests",
        "add manifests: [PATH or https://HOST/FILE], or write another plugin",
    ),
    "manifests-without-effect": Bad(
        network(plugin="calico", manifests=[URL]),
        "network.manifests",
        [URL],
        "has no effect: network.plugin is calico",
        "write plugin: manifests, or leave out manifests",
    ),
    "manifests-twice": Bad(
        network(plugin="manifests", manifests=["a.yaml", "b.yaml", "a.yaml"]),
        "network.manifests[2]",
        "a.yaml",
        "is there twice",
        "leave one of the two",
    ),
    "manifests-text": Bad(
        network(plugin="manifests", manifests="a.yaml"),
        "network.manifests",
        "a.yaml",
        "is text, but must be a list",
        "write a list: one item a line, each after a dash",
    ),
    "manifests-object": Bad(
        network(plugin="manifests", manifests=[{"url": URL}]),
        "network.manifests[0]",
        {"url": URL},
        "is an object, but must be text",
        "write",
    ),
    "manifests-empty-text": Bad(
        network(plugin="manifests", manifests=[" "]),
        "network.manifests[0]",
        " ",
        "is empty, or has spaces around it",
        "write a path or an https address",
    ),
    "manifests-http": Bad(
        network(plugin="manifests", manifests=["http://example.com/net.yaml"]),
        "network.manifests[0]",
        "http://example.com/net.yaml",
        "is no https address of a file",
        "write https://HOST/FILE, http://HOST/FILE#sha256=..., or the path of a file",
    ),
    "manifests-other-scheme": Bad(
        network(plugin="manifests", manifests=["git://example.com/net.yaml"]),
        "network.manifests[0]",
        "git://example.com/net.yaml",
        "is no https address of a file",
        "write https://HOST/FILE",
    ),
    "manifests-no-file": Bad(
        network(plugin="manifests", manifests=["https://example.com"]),
        "network.manifests[0]",
        "https://example.com",
        "is no https address of a file",
        "write https://HOST/FILE",
    ),
    "manifests-login": Bad(
        network(plugin="manifests", manifests=["https://me:word@example.com/net.yaml"]),
        "network.manifests[0]",
        "https://me:word@example.com/net.yaml",
        "is no https address of a file",
        "write https://HOST/FILE",
    ),
    "manifests-short-checksum": Bad(
        network(plugin="manifests", manifests=[f"{URL}#sha256=55"]),
        "network.manifests[0]",
        f"{URL}#sha256=55",
        "has no SHA-256 after #",
        f"write {URL}#sha256= and 64 digits, or only {URL}",
    ),
    "manifests-other-checksum": Bad(
        network(plugin="manifests", manifests=[f"{URL}#md5={SUM}"]),
        "network.manifests[0]",
        f"{URL}#md5={SUM}",
        "has no SHA-256 after #",
        f"write {URL}#sha256= and 64 digits, or only {URL}",
    ),
    "backend-of-no-flannel": Bad(
        network(plugin="cilium", backend="host-gw"),
        "network.backend",
        "host-gw",
        "has no effect: it is flannel's, but network.plugin is cilium",
        "write plugin: flannel, or leave out backend",
    ),
    **{
        f"no-proxy-for-{plugin}": Bad(
            network(plugin=plugin, proxyMode="none"),
            "network.proxyMode",
            "none",
            f"cannot work with network.plugin {plugin}, {NO_SERVICES}",
            "write nftables or iptables, or leave out proxyMode",
        )
        for plugin in ("calico", "weave")
    },
}
GOOD: dict[str, dict[str, Any]] = {
    "a path": network(plugin="manifests", manifests=["net/kube router.yaml"]),
    "an address": network(plugin="manifests", manifests=[URL]),
    "an address with a checksum": network(plugin="manifests", manifests=[f"{URL}#sha256={SUM}"]),
    "http with a checksum": network(
        plugin="manifests", manifests=[f"http://10.0.0.1:8000/net.yaml#sha256={SUM}"]
    ),
    "a proxy of the user's": network(plugin="manifests", manifests=[URL], proxyMode="none"),
    "flannel without a proxy": network(proxyMode="none"),
    "cilium without a proxy": network(plugin="cilium", proxyMode="none"),
    **{plugin: network(plugin=plugin) for plugin in ("calico", "cilium", "weave", "none")},
}


def problems(raw: object) -> tuple[Problem, ...]:
    with pytest.raises(ConfigError) as caught:
        parse(raw)  # type: ignore[arg-type]  # a table of JSON
    error: ConfigError = caught.value
    return error.problems


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_mistake_is_told_with_key_value_and_remedy(bad: Bad) -> None:
    (found,) = problems(bad.raw)
    assert (found.path, found.value) == (bad.path, bad.value)
    assert bad.message in found.message
    assert bad.remedy in found.remedy


@pytest.mark.parametrize("raw", GOOD.values(), ids=GOOD)
def test_what_can_work_is_taken(raw: dict[str, Any]) -> None:
    config = parse({**raw, "mirror": None})
    assert config.network.plugin == raw["network"].get("plugin", "flannel")


def test_a_plugin_that_is_misspelt_is_told_alone() -> None:
    (found,) = problems(network(plugin="manifest", manifests=[URL]))
    assert found.path == "network.plugin"
    assert "did you mean manifests?" in found.remedy
