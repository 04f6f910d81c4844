"""Canaries: keys that exist, looked for in all places where they must not be seen."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from model import Role
from tests.e2e import machine
from tests.e2e.cluster import Cluster
from tests.engine import canaries

pytestmark = pytest.mark.e2e

# A service account's token: a header and a payload in base64, both JSON objects.
TOKEN = re.compile(r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}")
# The keys of a cluster; whoever has one of them is whoever he likes.
CLUSTER_WIDE = ("ca", "etcd-ca", "front-proxy-ca", "service-account")
# Files that hold a key, in clear or as base64 in a kubeconfig. Images and running containers have
# folders of their own, and bring keys of nobody's, such as those of test servers.
FIND_KEYS = r"""
find / -xdev \( -path /proc -o -path /sys -o -path /var/lib/containerd -o -path /run/containerd \
    -o -path /usr \) -prune -o -type f -print0 >/tmp/files
find /var /run /tmp -xdev \( -path /var/lib/containerd -o -path /run/containerd \) -prune \
    -o -type f -print0 >>/tmp/files
xargs -0 -r -a /tmp/files grep -lIsE -e '-----BEGIN [A-Z ]*PRIVATE KEY-----' -e 'client-key-data' |
    sort -u | xargs -r -d '\n' stat -c '%a %U:%G %n'
rm /tmp/files
"""
# What was logged, and what stands on command lines.
LOGS = "journalctl --no-pager -o cat; find /var/log -type f -exec cat {} +; cat /proc/*/cmdline"


def plain(value: Any) -> str:
    """A secret of `stack export --show-secrets`."""
    return str(json.loads(value["plaintext"]))


@pytest.fixture
def keys(cluster: Cluster) -> dict[str, str]:
    """Every private key of the cluster, by the name of its resource."""
    found = {}
    for resource in cluster.pulumi.secrets()["deployment"]["resources"]:
        if resource["type"] == "tls:index/privateKey:PrivateKey":
            name, outputs = resource["urn"].rsplit("::", 1)[1], resource["outputs"]
            found[name] = plain(outputs["privateKeyPem"])
            if outputs["algorithm"] == "ED25519":
                found[f"{name} (openssh)"] = plain(outputs["privateKeyOpenssh"])
    return found


def assert_clean(where: str, text: str, keys: dict[str, str]) -> None:
    """No key and no token; what is found is named, not shown."""
    assert text, f"{where}: nothing was searched"
    assert canaries.leaks(text, keys) == [], where
    assert len(TOKEN.findall(text)) == 0, f"{where}: a token"


def test_the_canaries_would_be_found(cluster: Cluster, keys: dict[str, str]) -> None:
    name = cluster.name
    assert {f"{name}-{which}" for which in (*CLUSTER_WIDE, "admin", "ssh")} <= keys.keys()
    assert {f"{host}-kubelet" for host in cluster.hosts} <= keys.keys()
    everything = json.dumps(cluster.pulumi.secrets())
    assert set(canaries.leaks(everything, keys)) >= {*keys, "PRIVATE KEY"}
    kubeconfig = cluster.kubeconfig.read_text()
    assert f"{name}-admin" in canaries.leaks(kubeconfig, keys)


def test_the_cli_shows_none(cluster: Cluster, keys: dict[str, str]) -> None:
    """A10: in whatever it has printed, diffs of everything included."""
    cluster.pulumi.call("preview", "--diff", "--show-sames")
    cluster.pulumi.state("stack", "output", "--json")
    for done in cluster.pulumi.transcript:
        if done.output:
            assert_clean(" ".join(done.arguments), done.output, keys)


def test_an_exported_state_shows_none(cluster: Cluster, keys: dict[str, str]) -> None:
    """C11: of all keys of the cluster."""
    assert_clean("stack export", cluster.pulumi.state("stack", "export").stdout, keys)


def test_docker_shows_none(cluster: Cluster, keys: dict[str, str]) -> None:
    for kind in ("container", "network", "volume"):
        found = machine.inspected(kind, machine.listed(kind, cluster.name))
        assert_clean(f"docker {kind} inspect", json.dumps(found), keys)
    for container in machine.listed("container", cluster.name):
        text = machine.run("docker", "logs", container) or "(empty)"
        assert_clean(f"docker logs {container}", text, keys)


def test_no_log_of_a_host_shows_one(cluster: Cluster, keys: dict[str, str]) -> None:
    for host in cluster.hosts:
        assert_clean(host, cluster.host(host, LOGS, check=False), keys)


def key_files(cluster: Cluster, host: str) -> dict[str, str]:
    """{path: "mode owner:group"} of every file on a host that holds a key."""
    lines = cluster.host(host, FIND_KEYS, check=False).splitlines()
    return {path: f"{mode} {owner}" for mode, owner, path in (line.split(" ", 2) for line in lines)}


def is_private(path: str, mode: str) -> bool:
    """Whether only root reads the file; a key that a pod makes for itself is that pod's user's."""
    if path.startswith("/var/lib/kubelet/pods/"):
        return mode.startswith("600 ")
    return mode == "600 root:root"


def test_only_root_reads_a_key_on_a_host(cluster: Cluster) -> None:
    for host in cluster.hosts:
        files = key_files(cluster, host)
        assert "/etc/kubernetes/kubelet/kubelet.key" in files, "nothing was searched"
        readable = {path: mode for path, mode in files.items() if not is_private(path, mode)}
        assert readable == {}, host


def test_a_host_holds_its_own_keys_and_no_others(cluster: Cluster, keys: dict[str, str]) -> None:
    for host, spec in cluster.hosts.items():
        files = sorted(key_files(cluster, host))
        text = cluster.host(host, f"cat {' '.join(files)}")
        held = {name for name, pem in keys.items() if any(c in text for c in canaries.of_key(pem))}
        held = {name.removesuffix(" (openssh)") for name in held}
        own = {f"{host}-kubelet", f"{host}-host-key"}
        if spec.role is Role.NODE:
            assert held == own
            continue
        shared = {"apiserver-kubelet-client", "apiserver-etcd-client", "front-proxy-client"}
        shared |= {"controller-manager", "scheduler", "addon-manager", "ca", "service-account"}
        own |= {f"{host}-apiserver", f"{host}-etcd"}
        assert held == own | {f"{cluster.name}-{name}" for name in shared}
