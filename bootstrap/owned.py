"""What the cluster has made in the cloud by itself goes before its machines do.

Load balancers stand behind Services and Ingresses, volumes behind claims. Controllers that a user
installed have made them, and only these can remove them; Pulumi knows of none. `python -m
bootstrap.owned release` is the first thing that `pulumi destroy` does: it deletes those objects and
waits until their controllers have let them go. `... keep` takes back what an interrupted one has
left behind. The request comes as JSON on standard input: {server, ca, certificate, key, urn}.

A claim waits for the pods that mount it, and pods, claims and Services have owners that make them
anew. So nothing is scaled or drained, which would hit the controllers too: the API server creates
no more of these objects (`bootstrap.policy`), and pods are deleted once their claims are on the way
out, since the scheduler places no pod with such a claim.

A cluster whose API does not answer is destroyed all the same, with a warning. One that answers and
does not let go stops `destroy`, with the names of what is left and the ways to go on.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from bootstrap.api import Api, NotYetError, RefusedError, wait
from bootstrap.policy import forbid, permit

Object = Mapping[str, Any]

RELEASE_LIMIT_SECONDS = 600.0
API_LIMIT_SECONDS = 30.0  # an API that is silent for so long is taken for dead
POLL_SECONDS = 1.0
POD_GRACE_SECONDS = 1  # what the pod has written is about to be deleted
SHOWN = 5  # of the things that are waited for; a line that is too long hangs pulumi-command
CORE, NETWORKING = "/api/v1", "/apis/networking.k8s.io/v1"
PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
# Where a volume's data may be, as its spec has it; others are on machines, which go with the rest.
# Drivers that stand in for what Kubernetes once did itself keep the old names.
IN_THE_CLOUD = frozenset(
    {"csi", "awsElasticBlockStore", "gcePersistentDisk", "azureDisk", "azureFile"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """A kind of object that may stand for something in the cloud."""

    name: str
    group: str
    plural: str
    counts: Callable[[Object, Collection[str]], bool]  # of an object and the volumes that stay
    deletable: bool = True  # False: it goes with another


# An Ingress with a finalizer has something outside of the cluster; pods serve one without.
KINDS = (
    Kind(
        name="Service",
        group=CORE,
        plural="services",
        counts=lambda service, _: service["spec"].get("type") == "LoadBalancer",
    ),
    Kind(
        name="Ingress",
        group=NETWORKING,
        plural="ingresses",
        counts=lambda ingress, _: bool(ingress["metadata"].get("finalizers")),
    ),
    Kind(
        name="PersistentVolumeClaim",
        group=CORE,
        plural="persistentvolumeclaims",
        counts=lambda claim, stay: claim["spec"].get("volumeName") not in stay,
    ),
    Kind(
        name="PersistentVolume",
        group=CORE,
        plural="persistentvolumes",
        counts=lambda volume, stay: volume["metadata"]["name"] not in stay,
        deletable=False,
    ),
)
CLAIM, VOLUME = KINDS[2:]


@dataclass(frozen=True, kw_only=True, slots=True)
class Thing:
    """An object behind which there is something in the cloud."""

    kind: Kind
    namespace: str  # empty if it is in none
    name: str
    finalizers: tuple[str, ...]  # who has to agree before it is gone
    going: bool  # whether it is deleted, and waits for them

    def __str__(self) -> str:
        return f"{self.kind.name} {'/'.join(filter(None, (self.namespace, self.name)))}"

    @property
    def path(self) -> str:
        """Where the API has it."""
        place = f"/namespaces/{self.namespace}" if self.namespace else ""
        return f"{self.kind.group}{place}/{self.kind.plural}/{self.name}"


class HeldError(Exception):
    """The cluster has not let go in time; the message names what is left, a line each."""

    def __init__(self, things: Collection[Thing], refusals: Mapping[str, str]) -> None:
        waits = {str(thing): ", ".join(thing.finalizers) or "no finalizer" for thing in things}
        reasons = {**waits, **refusals}
        super().__init__("\n".join(f"  {what} ({why})" for what, why in reasons.items()))


def stays(volume: Object) -> bool:
    """Whether a volume is none of the cloud's, or nobody removes it with its claim."""
    spec, annotations = volume["spec"], volume["metadata"].get("annotations", {})
    goes = spec.get("persistentVolumeReclaimPolicy") == "Delete" and PROVISIONED_BY in annotations
    return not (goes and IN_THE_CLOUD & spec.keys())


def found(api: Api) -> list[Thing]:
    """Everything that stands for something in the cloud, of all namespaces."""
    # In this order: when volumes are listed, the one of each listed claim is among them.
    listed = {kind.name: items(api, f"{kind.group}/{kind.plural}") for kind in KINDS}
    stay = {volume["metadata"]["name"] for volume in listed[VOLUME.name] if stays(volume)}
    return [
        Thing(
            kind=kind,
            namespace=item["metadata"].get("namespace", ""),
            name=item["metadata"]["name"],
            finalizers=tuple(item["metadata"].get("finalizers", ())),
            going="deletionTimestamp" in item["metadata"],
        )
        for kind in KINDS
        for item in listed[kind.name]
        if kind.counts(item, stay)
    ]


def items(api: Api, path: str) -> list[Object]:
    """The objects of a list; none where the API server does not know the kind."""
    try:
        return list(api.request("GET", path)["items"])
    except RefusedError as refusal:
        if refusal.status != http.client.NOT_FOUND:
            raise
        return []


def claims(pod: Object) -> Iterator[str]:
    """The names of the claims that a pod mounts."""
    for volume in pod["spec"].get("volumes", ()):
        if "persistentVolumeClaim" in volume:
            yield volume["persistentVolumeClaim"]["claimName"]
        elif "ephemeral" in volume:
            yield f"{pod['metadata']['name']}-{volume['name']}"


def holders(api: Api, things: Collection[Thing]) -> Iterator[str]:
    """The paths of the pods for which deleted claims wait: those that have a node."""
    for namespace in sorted({thing.namespace for thing in things if thing.kind is CLAIM}):
        going = {
            thing.name
            for thing in things
            if thing.kind is CLAIM and thing.going and thing.namespace == namespace
        }
        for pod in items(api, f"{CORE}/namespaces/{namespace}/pods") if going else ():
            is_going = "deletionTimestamp" in pod["metadata"]
            if pod["spec"].get("nodeName") and not is_going and going & set(claims(pod)):
                yield f"{CORE}/namespaces/{namespace}/pods/{pod['metadata']['name']}"


def discard(api: Api, things: Collection[Thing]) -> dict[str, str]:
    """Ask for the deletion of what is not deleted yet; {what: why it was refused}."""
    refusals: dict[str, str] = {}

    def delete(what: str, path: str) -> None:
        try:
            api.request("DELETE", path)
        except NotYetError as reason:
            if not isinstance(reason, RefusedError) or reason.status != http.client.NOT_FOUND:
                refusals[what] = str(reason)

    for thing in things:
        if thing.kind.deletable and not thing.going:
            delete(str(thing), thing.path)
    for path in holders(api, things):
        delete(path, f"{path}?gracePeriodSeconds={POD_GRACE_SECONDS}")
    return refusals


def shown(things: Collection[Thing]) -> str:
    """The first few by name, and how many more there are."""
    names = sorted(str(thing) for thing in things)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def release(api: Api) -> None:
    """Let everything go that the cluster has made in the cloud.

    Raises HeldError if it has not gone in time, and NotYetError if the API cannot be asked.
    """
    until = time.monotonic() + RELEASE_LIMIT_SECONDS
    things, last = wait(lambda: found(api), API_LIMIT_SECONDS), ""
    if things:
        forbid(api)
    while things:
        if last != (last := shown(things)):
            print(f"waiting until these are gone: {last}", file=sys.stderr, flush=True)
        refusals = discard(api, things)
        if time.monotonic() > until:
            permit(api)
            raise HeldError(things, refusals)
        time.sleep(POLL_SECONDS)
        things = wait(lambda: found(api), API_LIMIT_SECONDS)


def regardless(urn: str) -> str:
    """How to go on without this step."""
    stack = urn.split("::", 1)[0].rsplit(":", 1)[-1]
    return (
        "To destroy the cluster regardless, and remove in the cloud by hand what it has made:\n"
        f"  pulumi state delete --stack {stack} --yes '{urn}'\n"
        "and then run `pulumi destroy` again."
    )


def released(api: Api, urn: str) -> int:
    """`release`, and what is said of it; the exit status says whether `destroy` may go on."""
    try:
        release(api)
    except HeldError as left:
        print(
            f"after {RELEASE_LIMIT_SECONDS:.0f} s the cluster still has, with what it stands for:\n"
            f"{left}\n"
            "The machines are untouched. Only the controller that made such a thing removes it:\n"
            "its log and `kubectl describe` say why it does not. Then run `pulumi destroy` again.",
            regardless(urn),
            sep="\n",
            file=sys.stderr,
        )
        return 1
    except NotYetError as reason:
        if isinstance(reason, RefusedError) and reason.is_ours:
            print(
                f"the API server answers, and refuses to tell what the cluster made: {reason}\n"
                "`pulumi up` renews the certificate that asks. Then run `pulumi destroy` again.",
                regardless(urn),
                sep="\n",
                file=sys.stderr,
            )
            return 1
        # In one line, the last: that is what Pulumi leaves on the screen of a step that did well.
        print(
            "warning: the API does not answer; load balancers and volumes that the cluster made, "
            f"if any, are still in the cloud ({reason})",
            file=sys.stderr,
        )
    return 0


def kept(api: Api, _: str) -> int:
    """Have no leftover of an interrupted `destroy` in a cluster that goes on."""
    try:
        wait(lambda: permit(api), API_LIMIT_SECONDS)
    except NotYetError as reason:
        print(f"gave up after {API_LIMIT_SECONDS:.0f} s: {reason}", file=sys.stderr)
        return 1
    return 0


def main() -> int:
    """Run a verb; its exit status says whether the program may go on."""
    request = json.load(sys.stdin)
    api = Api(*(request[key] for key in ("server", "ca", "certificate", "key")))
    verbs = {"keep": kept, "release": released}
    return verbs[sys.argv[1]](api, request["urn"])


if __name__ == "__main__":
    sys.exit(main())
