"""The mirror: a container that serves a folder of this computer to machines without internet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from components.local.containers.containers import Spec, ensure, wait_for
from components.local.containers.engine import LABEL, docker, put_files
from components.local.containers.shell import CommandError

if TYPE_CHECKING:
    import socket

    from components.local.containers.requests import MirrorRequest

MIRROR_PORT = 5000
CONFIG = "/etc/kubernetes-anywhere/nginx.conf"
DIRECTORY = f"{LABEL}.directory"

# What makes a folder an image registry is known where such folders are made.
DEFAULT_CONFIG = Path(__file__).parents[3] / "airgap" / "mirror" / "nginx.conf"


def create_mirror(request: MirrorRequest) -> dict[str, object]:
    """Serve the folder at port 5000; a changed configuration is read without a restart."""
    folder = Path(request.directory).resolve()
    if not folder.is_dir():
        raise CommandError(f"the mirror's folder {folder} is not there")
    files = {CONFIG: (0o644, request.nginx_conf or DEFAULT_CONFIG.read_text())}
    place = ensure(
        Spec(
            request=request,
            role="mirror",
            port=MIRROR_PORT,
            files=files,
            labels={DIRECTORY: str(folder)},
            options=lambda _network, _address: (
                *("--mount", f"type=bind,source={folder},target=/srv/mirror,readonly"),
                *("--entrypoint", "nginx"),
            ),
            command=("-c", CONFIG, "-g", "daemon off;"),
        )
    )
    if place.found:
        put_files(request.name, files)
        docker("exec", request.name, "sh", "-c", 'nginx -t -q -c "$0" && kill -HUP 1', CONFIG)
    wait_for(place, _connected)
    return {
        "name": place.name,
        "address": place.address,
        "url": f"http://{place.address}:{MIRROR_PORT}",
    }


def _connected(_connection: socket.socket) -> bool:
    return True
