"""While a cluster is on its way out, its API server creates nothing for which the cloud has to pay.

Else what keeps Services and claims (a StatefulSet, an operator, the addon-manager) would make anew
what `bootstrap.owned` has deleted, for as long as the machines stand.
"""

from __future__ import annotations

import http.client
import sys

import yaml

from bootstrap.api import Api, NotYetError, RefusedError, wait
from bootstrap.step import read

FORBID_LIMIT_SECONDS = 10.0  # an API server looks for new policies once a second
POLICIES = "/apis/admissionregistration.k8s.io/v1"
NAME = "kubernetes-anywhere-destroy"
PLURALS = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
PROBE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"generateName": f"{NAME}-"},
    "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
}


def forbid(api: Api) -> None:
    """Have no more Services, Ingresses and claims made, and return once it is so.

    Where it cannot be had, this is said and no error: what comes anew is found and deleted again.
    """
    try:
        for policy in yaml.safe_load(read("nothing-new.yaml")):
            _unless(http.client.CONFLICT, api, "POST", PLURALS[policy["kind"]], policy)
        wait(lambda: _in_force(api), FORBID_LIMIT_SECONDS)
    except NotYetError as reason:
        print(f"what is deleted may come anew: {reason}", file=sys.stderr, flush=True)


def permit(api: Api) -> None:
    """Take it back. Raises NotYetError if the API server cannot be asked."""
    for plural in reversed(PLURALS.values()):
        _unless(http.client.NOT_FOUND, api, "DELETE", f"{plural}/{NAME}")


def _unless(status: int, api: Api, method: str, what: str, body: object = None) -> None:
    """A request that is right as well when it is refused with this status."""
    try:
        api.request(method, f"{POLICIES}/{what}", body)
    except RefusedError as refusal:
        if refusal.status != status:
            raise


def _in_force(api: Api) -> None:
    try:
        api.request("POST", "/api/v1/namespaces/default/services?dryRun=All", PROBE)
    except RefusedError as refusal:
        if refusal.is_ours:
            return
        raise
    raise NotYetError("a new load balancer is not refused yet")
