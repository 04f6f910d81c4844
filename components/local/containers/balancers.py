"""The load balancer in front of the API servers: a container that runs haproxy."""

from __future__ import annotations

from ipaddress import IPv4Address
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from components.local.containers.containers import Running, Spec, ensure, running, wait_for
from components.local.containers.engine import PORT, docker, inspect, put_files
from components.local.containers.requests import BackendsRequest, BalancerRequest
from components.local.containers.shell import CommandError

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

CONFIG = PurePosixPath("/etc/kubernetes-anywhere/haproxy.cfg")

# `expose-fd listeners` hands the listening sockets to the next process at a reload, so that no
# connection is refused meanwhile. A day is longer than any watch or `kubectl exec` may idle.
_CONFIG = """\
global
    log stdout format raw local0 notice
    maxconn 4096
    stats socket /run/haproxy.sock mode 600 level admin expose-fd listeners

defaults
    mode tcp
    log global
    option dontlognull
    option redispatch
    option clitcpka
    option srvtcpka
    retries 3
    timeout connect 3s
    timeout client 24h
    timeout server 24h
    timeout check 3s

frontend api
    bind :{port}
    default_backend masters

backend masters
    balance leastconn
    option httpchk GET /readyz
    # 401 comes from a server that refuses anonymous requests even there: it serves, too.
    http-check expect status 200,401
    default-server check check-ssl verify none inter 1s fastinter 500ms fall 2 rise 1 \
on-marked-down shutdown-sessions
"""


def haproxy_config(port: int, backends: Sequence[str]) -> str:
    """The whole configuration; without backends it listens and hangs up."""
    servers = "".join(
        f"    server {address.replace('.', '-')} {IPv4Address(address)}:{port}\n"
        for address in sorted(set(backends), key=IPv4Address)
    )
    return _CONFIG.format(port=port) + servers


def create_balancer(request: BalancerRequest) -> dict[str, object]:
    """Make the load balancer; an existing one keeps its backends unless others are given."""
    place = ensure(
        Spec(
            request=request,
            role="load-balancer",
            port=request.port,
            files={str(CONFIG): (0o644, haproxy_config(request.port, request.backends or []))},
            keep_files=request.backends is None,
            labels={PORT: str(request.port)},
            options=lambda _network, _address: ("--entrypoint", "haproxy"),
            command=("-W", "-db", "-f", str(CONFIG)),
        )
    )
    if place.found and request.backends is not None:
        configure_balancer(BackendsRequest(name=request.name, backends=request.backends))
    wait_for(place, _connected)
    return _answer(place)


def _answer(place: Running) -> dict[str, object]:
    return {"name": place.name, "address": place.address, "host": place.host, "port": place.port}


def configure_balancer(request: BackendsRequest) -> dict[str, object]:
    """Give a load balancer other backends; connections to those that stay are kept."""
    found = inspect("container", request.name)
    if found is None or PORT not in (found["Config"]["Labels"] or {}):
        raise CommandError(f"there is no load balancer {request.name}: create it first")
    port = int(found["Config"]["Labels"][PORT])
    config = haproxy_config(port, request.backends)
    if not found["State"]["Running"]:
        put_files(request.name, {str(CONFIG): (0o644, config)})
        docker("start", request.name)
    elif docker("exec", request.name, "cat", str(CONFIG)) != config:
        _reload(request.name, config)
    place = running(request.name, port)
    wait_for(place, _connected)
    return {**_answer(place), "backends": list(request.backends)}


def _reload(name: str, config: str) -> None:
    """Check the new configuration, put it in place, and let the master process read it."""
    put_files(name, {f"{CONFIG}.new": (0o644, config)})
    script = 'haproxy -c -q -f "$0.new" && mv "$0.new" "$0" && kill -USR2 1'
    docker("exec", name, "sh", "-c", script, str(CONFIG))


def _connected(_connection: socket.socket) -> bool:
    return True
