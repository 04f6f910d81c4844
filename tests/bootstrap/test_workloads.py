"""What the last gate says of the add-ons' pods, asked of a small API server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bootstrap.api import Api, RefusedError
from bootstrap.workloads import lacking
from interface import WORKLOAD_KINDS, Workload
from tests.bootstrap.api_server import Keys, Stub, serving

if TYPE_CHECKING:
    from pathlib import Path

PATH = "/apis/apps/v1/namespaces/a/daemonsets/b"
PODS = "/api/v1/namespaces/a/pods?labelSelector=k%3Dv"
NO_PODS: dict[str, Any] = {"items": []}
SELECTOR = {"selector": {"matchLabels": {"k": "v"}}}


def daemons(wanted: int, updated: int, available: int, *, seen: int = 2) -> dict[str, Any]:
    """A DaemonSet of generation 2, as it stands."""
    return {
        "metadata": {"generation": 2},
        "spec": SELECTOR,
        "status": {
            "observedGeneration": seen,
            "desiredNumberScheduled": wanted,
            "updatedNumberScheduled": updated,
            "numberAvailable": available,
        },
    }


def deployment(wanted: int, there: int, updated: int, available: int) -> dict[str, Any]:
    return {
        "metadata": {"generation": 1},
        "spec": {"replicas": wanted, **SELECTOR},
        "status": {
            "observedGeneration": 1,
            "replicas": there,
            "updatedReplicas": updated,
            "availableReplicas": available,
        },
    }


def pod(name: str, **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": status}


@pytest.fixture
def ask(keys: Keys, tmp_path: Path) -> Any:
    def asked(kind: str, answers: dict[str, Any]) -> str | None:
        with serving(Stub({PODS: NO_PODS, **answers}), keys, tmp_path) as client:
            api = Api(*(client[key] for key in ("server", "ca", "certificate", "key")))
            return lacking(api, Workload(kind=kind, namespace="a", name="b"))

    return asked


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (404, "DaemonSet a/b: not there yet"),
        (daemons(3, 3, 3, seen=1), "DaemonSet a/b: not looked at yet"),
        (daemons(3, 3, 2), "DaemonSet a/b: 2 of 3 pods work (starting)"),
        (daemons(3, 1, 3), "DaemonSet a/b: 1 of 3 pods work (starting)"),
        (daemons(3, 3, 3), None),
    ],
)
def test_each_pod_is_of_the_newest_template_and_works(ask: Any, found: Any, said: Any) -> None:
    assert ask("DaemonSet", {PATH: found}) == said


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_pods_of_an_old_template_are_gone_and_none_is_missing(ask: Any, kind: str) -> None:
    path = f"/apis/apps/v1/namespaces/a/{kind.lower()}s/b"
    assert ask(kind, {path: deployment(2, 2, 2, 2)}) is None
    for there in ((3, 2, 2), (2, 2, 1), (2, 1, 2), (0, 0, 0), (1, 1, 1)):
        assert ask(kind, {path: deployment(2, *there)}), there


def test_every_kind_that_can_be_asked_for_is_known(ask: Any) -> None:
    for kind in WORKLOAD_KINDS:
        assert ask(kind, {}) == f"{kind} a/b: not there yet"


def test_what_keeps_a_pod_from_working_is_told(ask: Any) -> None:
    waiting = {"state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}
    unfit = {"type": "PodScheduled", "status": "False", "message": "no node fits"}
    works = {"type": "Ready", "status": "True"}
    broken = {PATH: daemons(2, 2, 1)}
    told = {
        "b-1: ErrImagePull: no such image": [
            pod("b-0", conditions=[works], containerStatuses=[waiting]),
            pod("b-1", containerStatuses=[{"state": {"running": {}}}, waiting]),
        ],
        "b-2: no node fits": [pod("b-2", conditions=[unfit])],
    }
    for words, items in told.items():
        assert ask("DaemonSet", {**broken, PODS: {"items": items}}) == (
            f"DaemonSet a/b: 1 of 2 pods work ({words})"
        )


def test_a_server_in_trouble_is_no_missing_workload(ask: Any) -> None:
    with pytest.raises(RefusedError, match="HTTP 503"):
        ask("DaemonSet", {PATH: 503})
