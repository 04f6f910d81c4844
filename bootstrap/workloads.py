"""What an add-on's pods still lack, as the API server tells it; the last gate waits for them."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from bootstrap.api import Api, RefusedError
from interface import Workload

# For each kind, the fields of its status that say how many pods there should be, how many of those
# are of the newest template, and how many of them work.
_COUNTS: Mapping[str, tuple[str, str, str]] = {
    "DaemonSet": ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable"),
    "Deployment": ("replicas", "updatedReplicas", "availableReplicas"),
    "StatefulSet": ("replicas", "updatedReplicas", "availableReplicas"),
}
NOT_FOUND = 404


def condition(found: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """One condition of an object's status; empty when it has none of that kind."""
    conditions = found.get("status", {}).get("conditions", [])
    return next((item for item in conditions if item["type"] == kind), {})


def lacking(api: Api, workload: Workload) -> str | None:
    """What it still lacks, in words; None when all of its pods are of today and work."""
    name = f"{workload.kind} {workload.namespace}/{workload.name}"
    path = f"/apis/apps/v1/namespaces/{workload.namespace}/{workload.kind.lower()}s/{workload.name}"
    try:
        found = api.request("GET", path)
    except RefusedError as error:
        if error.status != NOT_FOUND:
            raise
        return f"{name}: not there yet"
    status = found.get("status", {})
    if status.get("observedGeneration", 0) < found["metadata"]["generation"]:
        return f"{name}: not looked at yet"
    wanted, updated, available = (status.get(field, 0) for field in _COUNTS[workload.kind])
    if found["spec"].get("replicas", wanted) == wanted == updated == available:
        return None
    why = next(_reasons(api, workload.namespace, found["spec"]["selector"]), "starting")
    return f"{name}: {min(updated, available)} of {wanted} pods work ({why})"


def _reasons(api: Api, namespace: str, selector: Mapping[str, Any]) -> Iterator[str]:
    """What keeps its pods from working, in the words of the scheduler and of kubelets."""
    labels = ",".join(f"{key}={value}" for key, value in selector.get("matchLabels", {}).items())
    query = urllib.parse.urlencode({"labelSelector": labels})
    for pod in api.request("GET", f"/api/v1/namespaces/{namespace}/pods?{query}")["items"]:
        if condition(pod, "Ready").get("status") == "True":
            continue
        name = pod["metadata"]["name"]
        status = pod.get("status", {})
        containers = (
            *status.get("initContainerStatuses", ()),
            *status.get("containerStatuses", ()),
        )
        for container in containers:
            waiting = container.get("state", {}).get("waiting", {})
            if "message" in waiting:
                yield f"{name}: {waiting.get('reason')}: {waiting['message']}"
        scheduled = condition(pod, "PodScheduled")
        if scheduled.get("status") == "False":
            yield f"{name}: {scheduled.get('message')}"
