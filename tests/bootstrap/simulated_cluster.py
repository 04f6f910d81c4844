"""A simulated cluster: an API server that keeps objects, and the controllers that act on them.

Each controller is what the one of that name does to Services, claims and pods in Kubernetes, as far
as it matters to who waits for whom. They take a turn before each list of Services.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from bootstrap.owned import PROVISIONED_BY
from bootstrap.policy import NAME, POLICIES
from tests.bootstrap.api_server import Stub

Object = dict[str, Any]

CORE = "/api/v1"
LOAD_BALANCER = "service.kubernetes.io/load-balancer-cleanup"
IN_USE = "kubernetes.io/pvc-protection"
BINDING = f"{POLICIES}/validatingadmissionpolicybindings/{NAME}"
INGRESSES = "/apis/networking.k8s.io/v1/namespaces/default/ingresses"


@dataclass
class SimulatedCluster(Stub):
    """Objects by path. `answers` wins, by path or by method and path; a number is a status."""

    answers: dict[str, Any] = field(default_factory=dict)
    objects: dict[str, Object] = field(default_factory=dict)
    controllers: list[Controller] = field(default_factory=list)
    has_policies: bool = True  # whether the API server heeds them

    def respond(self, method: str, path: str, body: str) -> Any:
        """Answer as an API server does."""
        self.requests.append((method, path, body))
        place = path.partition("?")[0]
        for key in (place, f"{method} {place}"):
            if key in self.answers:
                return self.answer(key)
        if path == f"{CORE}/services":
            for controller in self.controllers:
                controller(self)
        verbs = {"GET": self._list, "POST": self._post, "DELETE": self._delete}
        return verbs[method](place, body)

    def below(self, place: str) -> Iterator[tuple[str, Object]]:
        """The objects of a list, of a namespace or of all."""
        group, plural = place.rsplit("/", 1)
        for path, found in list(self.objects.items()):
            folder = path.rsplit("/", 1)[0]
            everywhere = folder.startswith(f"{group}/namespaces/") and folder.endswith(f"/{plural}")
            if folder == place or (everywhere and "/namespaces/" not in place):
                yield path, found

    def named(self, plural: str) -> set[str]:
        """The names of the core objects of a kind."""
        return {found["metadata"]["name"] for _, found in self.below(f"{CORE}/{plural}")}

    def let_go(self, path: str, finalizer: str) -> None:
        """Take a finalizer off an object, which goes with the last one."""
        metadata = self.objects[path]["metadata"]
        metadata["finalizers"].remove(finalizer)
        if not metadata["finalizers"]:
            del self.objects[path]

    @property
    def is_closed(self) -> bool:
        """Whether nothing new is to be made, and the API server heeds it."""
        return self.has_policies and BINDING in self.objects

    def _list(self, place: str, _: str) -> Any:
        return {"items": [found for _, found in self.below(place)]}

    def _post(self, place: str, body: str) -> Any:
        created = json.loads(body)
        if place.endswith("/services"):
            return 403 if self.is_closed else created
        path = f"{place}/{created['metadata']['name']}"
        if path in self.objects:
            return 409
        self.objects[path] = created
        return created

    def _delete(self, path: str, _: str) -> Any:
        if path not in self.objects:
            return 404
        metadata = self.objects[path]["metadata"]
        metadata.setdefault("deletionTimestamp", "2020-01-01T00:00:00Z")
        if not metadata.get("finalizers") and "/pods/" not in path:
            del self.objects[path]
        return {}


Controller = Callable[[SimulatedCluster], None]


def going(found: Object) -> bool:
    return "deletionTimestamp" in found["metadata"]


def cloud_controller(cluster: SimulatedCluster) -> None:
    """Removes the load balancers of Services that are deleted."""
    for path, service in cluster.below(f"{CORE}/services"):
        if going(service) and LOAD_BALANCER in service["metadata"].get("finalizers", ()):
            cluster.let_go(path, LOAD_BALANCER)


def kubelet(cluster: SimulatedCluster) -> None:
    """Ends pods that are deleted."""
    for path, pod in cluster.below(f"{CORE}/pods"):
        if going(pod):
            del cluster.objects[path]


def protection(cluster: SimulatedCluster) -> None:
    """Lets claims go that no pod on a node mounts, and their volumes with them."""
    for path, found in cluster.below(f"{CORE}/persistentvolumeclaims"):
        users = [p for _, p in cluster.below(f"{CORE}/pods") if p["spec"].get("nodeName")]
        if going(found) and not any(mounts(pod, found["metadata"]["name"]) for pod in users):
            cluster.let_go(path, IN_USE)
            cluster.objects.pop(f"{CORE}/persistentvolumes/{found['spec'].get('volumeName')}", None)


def mounts(pod: Object, name: str) -> bool:
    volumes = pod["spec"]["volumes"]
    return any(item["persistentVolumeClaim"]["claimName"] == name for item in volumes)


def stateful_set(cluster: SimulatedCluster) -> None:
    """Keeps the pod `db-0` and its claim, unless it is not let; the scheduler is a part of it.

    A pod gets a node once its claim is there and is not on its way out.
    """
    data = claim("data-db-0")
    wanted = pod("db-0", "data-db-0", node="")
    [path], [place] = data, wanted
    if path not in cluster.objects and not cluster.is_closed:
        cluster.objects |= data
    cluster.objects.setdefault(place, wanted[place])
    if path in cluster.objects and not going(cluster.objects[path]):
        cluster.objects[place]["spec"]["nodeName"] = "n"


def service(name: str, kind: str = "LoadBalancer") -> dict[str, Object]:
    """A Service that a cloud controller has made a load balancer for, or another kind."""
    finalizers = [LOAD_BALANCER] if kind == "LoadBalancer" else []
    metadata = {"name": name, "namespace": "default", "finalizers": finalizers}
    return {
        f"{CORE}/namespaces/default/services/{name}": {"metadata": metadata, "spec": {"type": kind}}
    }


def ingress(name: str, *finalizers: str) -> dict[str, Object]:
    """An Ingress, and who has taken it on."""
    metadata = {"name": name, "namespace": "default", "finalizers": list(finalizers)}
    return {f"{INGRESSES}/{name}": {"metadata": metadata, "spec": {}}}


def claim(name: str, volume: str | None = None) -> dict[str, Object]:
    """A claim, bound or not."""
    metadata = {"name": name, "namespace": "default", "finalizers": [IN_USE]}
    spec = {"volumeName": volume} if volume else {}
    path = f"{CORE}/namespaces/default/persistentvolumeclaims/{name}"
    return {path: {"metadata": metadata, "spec": spec}}


def volume(
    name: str, policy: str = "Delete", source: str = "csi", provisioner: str = "ebs.csi.aws.com"
) -> dict[str, Object]:
    """A volume; one that a driver has made, unless there is no provisioner."""
    annotations = {"annotations": {PROVISIONED_BY: provisioner}} if provisioner else {}
    metadata = {"name": name, "finalizers": ["kubernetes.io/pv-protection"], **annotations}
    spec = {"persistentVolumeReclaimPolicy": policy, source: {}}
    return {f"{CORE}/persistentvolumes/{name}": {"metadata": metadata, "spec": spec}}


def pod(name: str, claimed: str, node: str = "n") -> dict[str, Object]:
    """A pod that mounts a claim."""
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": claimed}}]
    metadata = {"name": name, "namespace": "default"}
    path = f"{CORE}/namespaces/default/pods/{name}"
    return {path: {"metadata": metadata, "spec": {"nodeName": node, "volumes": volumes}}}
