"""The gates, against a small API server on this computer that wants a client certificate."""

from __future__ import annotations

import datetime as dt
import io
import json
import ssl
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from bootstrap import api, ready
from tests.bootstrap.api_server import Keys, Stub, builder, serving

if TYPE_CHECKING:
    from pathlib import Path

LABEL = ready.CONTROL_PLANE_LABEL
NODES, DNS = "/api/v1/nodes", "/apis/apps/v1/namespaces/kube-system/deployments/coredns"
HEALTHY: dict[str, Any] = {
    "/readyz": "ok",
    "/openapi/v2": "schema",
    "/version": {"gitVersion": "v1.37.2"},
}


@dataclass(frozen=True)
class Ran:
    status: int
    stdout: str
    stderr: str


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """Runs a gate in this process, with short limits."""
    monkeypatch.setattr(api, "POLL_SECONDS", 0.02)

    def run(verb: str, request: dict[str, Any], limit: float = 5) -> Ran:
        monkeypatch.setattr(ready, "API_LIMIT_SECONDS", limit)
        monkeypatch.setattr(ready, "CLUSTER_LIMIT_SECONDS", limit)
        monkeypatch.setattr(sys, "argv", ["ready", verb])
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(request)))
        status = ready.main()
        return Ran(status, *capsys.readouterr())

    return run


def lease(host: str, ago: float = 0) -> dict[str, Any]:
    """A lease that was renewed so many seconds ago."""
    renewed = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=ago)
    text = renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {"metadata": {"name": host}, "spec": {"renewTime": text}}


@pytest.fixture(autouse=True)
def renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kubelet is alive, where a test says nothing of it."""

    def answer(stub: Stub, path: str) -> Any:
        stub.answers.setdefault(ready.LEASES, lambda: {"items": [lease("m"), lease("n")]})
        return plain(stub, path)

    plain = Stub.answer
    monkeypatch.setattr(Stub, "answer", answer)


def node(host: str, status: str = "True", **labels: str) -> dict[str, Any]:
    condition = {"type": "Ready", "status": status, "message": f"{host} says {status}"}
    return {"metadata": {"name": host, "labels": labels}, "status": {"conditions": [condition]}}


def available(status: str) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": "Available", "status": status}]}}


def wanted(**more: object) -> dict[str, Any]:
    return {
        "cluster": "c",
        "nodes": ["m", "n"],
        "masters": ["m"],
        "network": True,
        "dns": True,
        **more,
    }


def test_refused_then_unavailable_then_ready(keys: Keys, tmp_path: Path, gate: Any) -> None:
    """C06: nothing listens for a while, then the server says 503, then it is ready."""
    stub = Stub({**HEALTHY, "/readyz": [503, 503, 500, "ok"]})
    with serving(stub, keys, tmp_path, delay=0.3) as request:
        ran = gate("api", request)
    assert (ran.status, ran.stdout) == (0, "API server v1.37.2 is ready\n")
    assert "refused" in ran.stderr
    assert "HTTP 503" in ran.stderr


def test_the_gate_stays_shut_until_there_is_a_schema(keys: Keys, tmp_path: Path, gate: Any) -> None:
    """The kubernetes provider would wait for it for half a minute, and then fail each object."""
    stub = Stub({**HEALTHY, "/openapi/v2": [503, 503, "schema"]})
    with serving(stub, keys, tmp_path) as request:
        ran = gate("api", request)
    assert (ran.status, ran.stdout) == (0, "API server v1.37.2 is ready\n")
    assert "/openapi/v2: HTTP 503" in ran.stderr
    assert [path for _, path, _ in stub.requests].count("/openapi/v2") == 3


def test_a_reason_is_told_once_while_it_lasts(keys: Keys, tmp_path: Path, gate: Any) -> None:
    stub = Stub({**HEALTHY, "/readyz": [*[503] * 9, "ok"]})
    with serving(stub, keys, tmp_path) as request:
        assert gate("api", request).stderr.count("HTTP 503") == 1


def test_a_server_that_never_gets_ready_ends_the_wait(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    stub = Stub({"/readyz": 503})
    begun = time.monotonic()
    with serving(stub, keys, tmp_path) as request:
        ran = gate("api", request, limit=0.3)
    assert (ran.status, ran.stdout) == (1, "")
    assert "gave up after" in ran.stderr
    assert "/readyz: HTTP 503" in ran.stderr
    assert time.monotonic() - begun < 5


def test_a_server_of_another_cluster_is_not_believed(keys: Keys, tmp_path: Path, gate: Any) -> None:
    other = ec.generate_private_key(ec.SECP256R1())
    constraints = x509.BasicConstraints(ca=True, path_length=None)
    ca = (
        builder("x", "x", other)
        .add_extension(constraints, critical=True)
        .sign(other, hashes.SHA256())
    )
    stranger = ca.public_bytes(serialization.Encoding.PEM).decode()
    with serving(Stub(dict(HEALTHY)), keys, tmp_path) as request:
        ran = gate("api", {**request, "ca": stranger}, limit=0.2)
    assert ran.status == 1
    assert "certificate verify failed" in ran.stderr


def test_the_cluster_is_waited_for_until_each_node_is_ready(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    lists = [
        {"items": []},
        {"items": [node("m", "False", **{LABEL: ""})]},
        {"items": [node("m", **{LABEL: ""}), node("n", "Unknown")]},
        {"items": [node("m", **{LABEL: ""}), node("n")]},
    ]
    stub = Stub({NODES: lists, DNS: [404, available("False"), available("True")]})
    with serving(stub, keys, tmp_path) as request:
        ran = gate("cluster", {**request, **wanted()})
    assert (ran.status, ran.stdout) == (0, "2 of 2 nodes Ready, DNS available\n")
    for words in (
        "m: not registered ('journalctl -u kubelet' there may say why); n: not registered",
        "m says False",
        "n says Unknown",
        "coredns",
    ):
        assert words in ran.stderr


def test_a_node_that_is_not_ready_ends_the_wait_by_name(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    stub = Stub({NODES: {"items": [node("m", **{LABEL: ""}), node("n", "False")]}})
    with serving(stub, keys, tmp_path) as request:
        ran = gate("cluster", {**request, **wanted()}, limit=0.2)
    assert ran.status == 1
    assert "n: n says False" in ran.stderr.splitlines()[-1]


def test_a_node_whose_kubelet_gives_no_sign_is_not_ready(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    """A machine that was made anew finds its Node, which says Ready for most of a minute yet."""
    old = {"items": [lease("m"), lease("n", ago=30)]}
    for leases, words in (
        (old, "n: no sign of its kubelet since 20"),
        ({"items": []}, "m: no sign"),
    ):
        stub = Stub({NODES: {"items": [node("m"), node("n")]}, ready.LEASES: leases})
        with serving(stub, keys, tmp_path) as request:
            ran = gate("cluster", {**request, **wanted(dns=False)}, limit=0.3)
        assert ran.status == 1
        assert words in ran.stderr


@pytest.mark.parametrize("ago", [90, -90])
def test_a_kubelet_whose_clock_differs_is_believed_once_it_gives_a_sign(
    keys: Keys, tmp_path: Path, gate: Any, ago: float
) -> None:
    first, second = ({"items": [lease("m"), lease("n", ago + more)]} for more in (10, 0))
    items = [node("m", **{LABEL: ""}), node("n")]
    stub = Stub({NODES: {"items": items}, ready.LEASES: [first, first, second]})
    with serving(stub, keys, tmp_path) as request:
        ran = gate("cluster", {**request, **wanted(dns=False)})
    assert (ran.status, ran.stdout) == (0, "2 of 2 nodes Ready\n")
    assert "n: no sign of its kubelet" in ran.stderr


def test_masters_are_labelled_and_only_when_they_are_not(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    for labels, patched in (({}, 1), ({LABEL: ""}, 0)):
        stub = Stub({NODES: {"items": [node("m", **labels), node("n")]}, f"{NODES}/m": {}})
        with serving(stub, keys, tmp_path) as request:
            assert gate("cluster", {**request, **wanted(dns=False)}).status == 0
        patches = [(path, body) for method, path, body in stub.requests if method == "PATCH"]
        assert (
            patches == [(f"{NODES}/m", json.dumps({"metadata": {"labels": {LABEL: ""}}}))] * patched
        )


def test_a_node_that_nobody_expects_is_not_waited_for(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    items = [node("m", **{LABEL: ""}), node("n"), node("stranger", "False")]
    with serving(Stub({NODES: {"items": items}}), keys, tmp_path) as request:
        assert gate("cluster", {**request, **wanted(dns=False)}).status == 0


def test_the_node_objects_of_hosts_that_are_gone_are_deleted_and_no_others(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    """A host is ours by its label; one that registered before there was any, by its name."""
    ours, theirs = {ready.CLUSTER_LABEL: "c"}, {ready.CLUSTER_LABEL: "cc"}
    items = [
        node("m", **{LABEL: "", **ours}),
        node("n"),
        node("web-1", "Unknown", **ours),
        node("c-node-2", "Unknown"),
        node("c-node-3", **theirs),
        node("cc-node-0"),
        node("web-2", **theirs),
        node("web-3"),
    ]
    gone = [f"{NODES}/{name}" for name in ("web-1", "c-node-2")]
    stub = Stub({NODES: {"items": items}, **{path: {} for path in gone}})
    with serving(stub, keys, tmp_path) as request:
        assert gate("cluster", {**request, **wanted(dns=False)}).status == 0
    deleted = [path for method, path, _ in stub.requests if method == "DELETE"]
    assert deleted == gone


def test_the_add_ons_pods_are_waited_for(keys: Keys, tmp_path: Path, gate: Any) -> None:
    path = "/apis/apps/v1/namespaces/a/daemonsets/b"
    status = {"observedGeneration": 1, "desiredNumberScheduled": 2, "updatedNumberScheduled": 2}
    made = {"metadata": {"generation": 1}, "spec": {"selector": {}}}
    stub = Stub(
        {
            NODES: {"items": [node("m", **{LABEL: ""}), node("n")]},
            path: [{**made, "status": {**status, "numberAvailable": count}} for count in (1, 2)],
            "/api/v1/namespaces/a/pods?labelSelector=": {"items": []},
        }
    )
    workloads = [{"kind": "DaemonSet", "namespace": "a", "name": "b"}]
    with serving(stub, keys, tmp_path) as request:
        ran = gate("cluster", {**request, **wanted(dns=False, workloads=workloads)})
    assert (ran.status, ran.stdout) == (0, "2 of 2 nodes Ready\n")
    assert "DaemonSet a/b: 1 of 2 pods work (starting)" in ran.stderr


def test_without_a_pod_network_of_ours_registering_is_enough(
    keys: Keys, tmp_path: Path, gate: Any
) -> None:
    items = [node("m", "False", **{LABEL: ""}), node("n", "False")]
    with serving(Stub({NODES: {"items": items}}), keys, tmp_path) as request:
        ran = gate("cluster", {**request, **wanted(network=False)})
    assert (ran.status, ran.stdout.split()[:3]) == (0, ["2", "nodes", "registered;"])


@pytest.mark.parametrize("key", ["good", "bad"])
def test_the_key_s_file_is_gone_before_the_first_request(
    keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    if key == "good":
        api.Api("https://127.0.0.1:1", keys.ca, *keys.client)
    else:
        with pytest.raises(ssl.SSLError):
            api.Api("https://127.0.0.1:1", keys.ca, keys.client[0], "no key")
    assert list(folder.iterdir()) == []


def test_no_key_is_printed(keys: Keys, tmp_path: Path, gate: Any) -> None:
    """A10: what the gate says is kept in the state in clear."""
    with serving(Stub({"/readyz": 403}), keys, tmp_path) as request:
        ran = gate("api", request, limit=0.1)
    assert "PRIVATE" not in ran.stdout + ran.stderr


def test_the_program_as_it_is_run(keys: Keys, tmp_path: Path) -> None:
    with serving(Stub(dict(HEALTHY)), keys, tmp_path) as request:
        done = subprocess.run(
            [sys.executable, "-m", "bootstrap.ready", "api"],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stdout) == (0, "API server v1.37.2 is ready\n"), done.stderr
