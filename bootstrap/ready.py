"""The gates of phase 2, run on the operator's computer through the cluster's own endpoint.

`python -m bootstrap.ready api` waits until the API server is ready; `... cluster` waits until every
node is Ready and DNS is available, labels the masters, and deletes the Node objects of hosts that
are gone. The request comes as JSON on standard input: {server, ca, certificate, key} and, for
`cluster`, the fields of `Expected` and a `revision`, whose change only asks again; the last line
printed is the health summary. Talks to the endpoint that the kubeconfig names and to nothing else.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from bootstrap.api import Api, NotYetError, wait
from bootstrap.workloads import condition, lacking
from interface import Workload

API_LIMIT_SECONDS = 300.0
CLUSTER_LIMIT_SECONDS = 600.0
FRESH_SECONDS = 15.0
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
# As the provider asks for it: the server keeps each form apart.
SCHEMA_FORM = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf"
CONTROL_PLANE_LABEL = "node-role.kubernetes.io/control-plane"
CLUSTER_LABEL = "kubernetes-anywhere/cluster"  # every kubelet of ours registers with it


def api_ready(api: Api) -> str:
    """The API server's own readiness, as the load balancer and the kubeconfig see it.

    And its schema: the kubernetes provider reads it first of all, and gives up after half a minute,
    in which a busy server may not have put it together. Later it has it at hand.
    """
    api.request("GET", "/readyz", accept="*/*")
    api.request("GET", "/openapi/v2", accept=SCHEMA_FORM)
    return f"API server {api.request('GET', '/version')['gitVersion']} is ready"


def label_masters(api: Api, masters: list[str]) -> None:
    """Set the role label, which a kubelet may not give itself (NodeRestriction)."""
    for name in masters:
        labels = {CONTROL_PLANE_LABEL: ""}
        api.request("PATCH", f"/api/v1/nodes/{name}", {"metadata": {"labels": labels}})


def missing(name: str, node: Mapping[str, Any] | None, *, network: bool) -> str | None:
    """What a node still lacks, in words; without a pod network no node can be Ready."""
    if node is None:
        return f"{name}: not registered ('journalctl -u kubelet' there may say why)"
    ready = condition(node, "Ready")
    if network and ready.get("status") != "True":
        return f"{name}: {ready.get('message', 'no status yet')}"
    return None


def is_ours(node: Mapping[str, Any], cluster: str) -> bool:
    """Whether a node is one of this program's, and none that somebody else has joined.

    One that registered before there was the label is known by its name.
    """
    name: str = node["metadata"]["name"]
    label: str | None = node["metadata"]["labels"].get(CLUSTER_LABEL)
    return label == cluster if label else name.startswith(f"{cluster}-")


def forget_nodes(
    api: Api, registered: Mapping[str, Mapping[str, Any]], cluster: str, wanted: list[str]
) -> None:
    """Delete the Node objects of hosts of this cluster that the config no longer has.

    A machine that is gone leaves its object behind, and with it DaemonSets that never are complete.
    """
    for name, node in registered.items():
        if is_ours(node, cluster) and name not in wanted:
            api.request("DELETE", f"/api/v1/nodes/{name}")


@dataclass(frozen=True, slots=True)
class Pulse:
    """Which nodes' kubelets are alive: a machine that was made anew still has the old one's Node.

    A kubelet renews its lease every ten seconds. One that is fresh by the API server's clock was
    renewed by the machine that there is now, since making another takes longer; where clocks
    differ, one that is renewed before our eyes.
    """

    seen: dict[str, str] = field(default_factory=dict)  # {node: when its lease was renewed}

    def silent(self, api: Api, names: list[str]) -> Iterator[str]:
        """In words, those of whose kubelets there is no sign."""
        renewed = {
            lease["metadata"]["name"]: lease["spec"]["renewTime"]
            for lease in api.request("GET", LEASES)["items"]
        }
        for name in names:
            last = renewed.get(name)
            if last is None or not (self.seen.setdefault(name, last) != last or _fresh(api, last)):
                yield f"{name}: no sign of its kubelet since {last or 'it registered'}"


def _fresh(api: Api, time: str) -> bool:
    return api.clock is not None and (
        abs((api.clock - datetime.fromisoformat(time)).total_seconds()) < FRESH_SECONDS
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """What the config says of the cluster."""

    cluster: str  # its name, which its nodes have as a label
    nodes: list[str]
    masters: list[str]
    network: bool  # whether there is a pod network of ours
    dns: bool
    workloads: tuple[Workload, ...] = ()  # the add-ons' pods


def cluster_ready(api: Api, expected: Expected, pulse: Pulse) -> str:
    """Every expected node is registered and Ready, DNS is available, and all add-ons' pods work."""
    items = api.request("GET", "/api/v1/nodes")["items"]
    found = {node["metadata"]["name"]: node for node in items}
    reasons = [missing(name, found.get(name), network=expected.network) for name in expected.nodes]
    _stop_at(reasons)
    _stop_at(pulse.silent(api, expected.nodes))
    unlabelled = [
        name
        for name in expected.masters
        if CONTROL_PLANE_LABEL not in found[name]["metadata"]["labels"]
    ]
    label_masters(api, unlabelled)
    forget_nodes(api, found, expected.cluster, expected.nodes)
    count = len(expected.nodes)
    if not expected.network:
        return f"{count} nodes registered; they become Ready with a pod network of yours"
    _stop_at(lacking(api, workload) for workload in expected.workloads)
    if not expected.dns:
        return f"{count} of {count} nodes Ready"
    deployment = api.request("GET", "/apis/apps/v1/namespaces/kube-system/deployments/coredns")
    if condition(deployment, "Available").get("status") != "True":
        raise NotYetError("coredns: not available yet")
    return f"{count} of {count} nodes Ready, DNS available"


def _stop_at(reasons: Iterable[str | None]) -> None:
    found = "; ".join(filter(None, reasons))
    if found:
        raise NotYetError(found)


def expected_of(request: Mapping[str, Any]) -> Expected:
    """What a request says of the cluster."""
    known = {field.name: request[field.name] for field in fields(Expected) if field.name in request}
    return Expected(
        **{**known, "workloads": tuple(Workload(**item) for item in request.get("workloads", ()))}
    )


def main() -> int:
    """Run one gate; its exit status says whether it opened."""
    request = json.load(sys.stdin)
    api = Api(*(request[key] for key in ("server", "ca", "certificate", "key")))
    pulse = Pulse()
    gates: Mapping[str, tuple[Callable[[], str], float]] = {
        "api": (lambda: api_ready(api), API_LIMIT_SECONDS),
        "cluster": (lambda: cluster_ready(api, expected_of(request), pulse), CLUSTER_LIMIT_SECONDS),
    }
    check, limit = gates[sys.argv[1]]
    try:
        print(wait(check, limit))
    except NotYetError as reason:
        print(f"gave up after {limit:.0f} s: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
