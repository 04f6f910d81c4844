"""What `destroy` does first, against a simulated cluster: when it cannot be done."""

from __future__ import annotations

from typing import Any

import pytest

from tests.bootstrap.api_server import Keys
from tests.bootstrap.releasing import CONTROLLERS, DEFAULT, FEW, URN, deletions
from tests.bootstrap.simulated_cluster import (
    BINDING,
    CORE,
    IN_USE,
    LOAD_BALANCER,
    SimulatedCluster,
    claim,
    kubelet,
    pod,
    protection,
    service,
    volume,
)


def test_a_controller_that_does_nothing_stops_destroy_by_name(release: Any) -> None:
    cluster = SimulatedCluster(
        objects={**service("web"), **claim("data", "pv"), **volume("pv"), **pod("user", "data")},
        controllers=[protection, kubelet],
    )
    ran = release(cluster, limit=FEW)
    assert ran.status == 1
    assert f"  Service default/web ({LOAD_BALANCER})\n" in ran.stderr
    assert "PersistentVolumeClaim default/data (" not in ran.stderr, "it is gone"
    assert f"pulumi state delete --stack prod --yes '{URN}'" in ran.stderr
    assert BINDING not in cluster.objects, "the cluster goes on"


def test_a_claim_that_is_held_is_named_with_who_holds_it(release: Any) -> None:
    cluster = SimulatedCluster(objects={**claim("data"), **pod("user", "data")})
    ran = release(cluster, limit=FEW)
    assert (ran.status, f"  PersistentVolumeClaim default/data ({IN_USE})\n" in ran.stderr) == (
        1,
        True,
    )


def test_a_refused_deletion_is_told_and_keeps_nothing_else(release: Any) -> None:
    cluster = SimulatedCluster(
        objects={**service("guarded"), **service("web"), **claim("data")},
        answers={f"DELETE {DEFAULT}/services/guarded": 400},
        controllers=CONTROLLERS,
    )
    ran = release(cluster, limit=FEW)
    assert ran.status == 1
    assert f"Service default/guarded (DELETE {DEFAULT}/services/guarded: HTTP 400)" in ran.stderr
    assert cluster.named("services") == {"guarded"}
    assert cluster.named("persistentvolumeclaims") == set()


def test_a_line_is_short_however_much_there_is(release: Any) -> None:
    """A line of 64 KiB hangs pulumi-command."""
    many = {path: found for n in range(40) for path, found in service(f"web-{n:02}").items()}
    ran = release(SimulatedCluster(objects=many, controllers=CONTROLLERS))
    assert ran.status == 0
    assert ran.stderr.splitlines()[0].endswith("Service default/web-04 and 35 more")


def test_a_dead_api_is_a_warning_and_soon(ask: Any, keys: Keys) -> None:
    request = {"server": "https://127.0.0.1:1", "ca": keys.ca}
    ran = ask({**request, "certificate": keys.client[0], "key": keys.client[1]})
    assert ran.status == 0
    last = ran.stderr.splitlines()[-1]
    assert last.startswith("warning: the API does not answer; load balancers and volumes")
    assert "refused" in last
    assert ran.seconds < 2


@pytest.mark.parametrize("status", [500, 503, 504])
def test_an_api_that_has_lost_etcd_is_dead_too(release: Any, status: int) -> None:
    ran = release(SimulatedCluster(answers={f"{CORE}/services": status}))
    assert (ran.status, f"HTTP {status})" in ran.stderr.splitlines()[-1]) == (0, True)


def test_an_api_that_dies_on_the_way_is_a_warning_that_follows_the_names(release: Any) -> None:
    def death(cluster: SimulatedCluster) -> None:
        if deletions(cluster):
            cluster.answers |= dict.fromkeys(
                (f"{CORE}/{plural}" for plural in ("services", "persistentvolumes")), 503
            )

    ran = release(SimulatedCluster(objects=service("web"), controllers=[death]))
    assert ran.status == 0
    assert "waiting until these are gone: Service default/web\n" in ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("warning: the API does not answer")


def test_an_api_that_comes_back_is_waited_for(release: Any) -> None:
    cluster = SimulatedCluster(objects={}, answers={f"{CORE}/services": [503, 503, {"items": []}]})
    ran = release(cluster)
    assert (ran.status, "warning" in ran.stderr) == (0, False)


@pytest.mark.parametrize("status", [401, 403])
def test_an_api_that_does_not_know_us_stops_destroy(release: Any, status: int) -> None:
    """A certificate in the state may have expired; the controllers are well all the same."""
    ran = release(SimulatedCluster(answers={f"{CORE}/services": status}))
    assert ran.status == 1
    assert f"HTTP {status}" in ran.stderr
    assert "`pulumi up` renews the certificate" in ran.stderr
    assert f"pulumi state delete --stack prod --yes '{URN}'" in ran.stderr


def test_a_cluster_that_cannot_be_asked_is_told(release: Any) -> None:
    path = BINDING.replace(CORE, "")
    ran = release(SimulatedCluster(answers={f"DELETE {path}": 503}), verb="keep")
    assert ran.status == 1
    assert "gave up after" in ran.stderr


def test_no_key_is_printed(release: Any) -> None:
    ran = release(SimulatedCluster(answers={f"{CORE}/services": 403}))
    assert "PRIVATE" not in ran.stdout + ran.stderr


def test_a_claim_that_may_not_go_costs_no_pod(release: Any) -> None:
    data, user = claim("data"), pod("user", "data")
    cluster = SimulatedCluster(
        objects={**data, **user},
        answers=dict.fromkeys((f"DELETE {path}" for path in data), 403),
        controllers=CONTROLLERS,
    )
    assert release(cluster, limit=FEW).status == 1
    assert set(deletions(cluster)) == {*data}
