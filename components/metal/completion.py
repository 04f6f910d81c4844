"""What follows from the hosts: how many of each group there are, and how each is logged in to."""

from __future__ import annotations

from collections import Counter

from components.metal.files import UnreadableError, read_text
from components.metal.keyfiles import default_key_file
from components.metal.knownhosts import key_of
from config import ClusterConfig
from metal import Metal
from model import Pool


def complete(config: ClusterConfig) -> ClusterConfig:
    """The config in which every host says all that SSH needs, and every pool has its count.

    What cannot be found stays unset, and `rules` says so.
    """
    metal = _with_logins(config.metal)
    counts = Counter(host.group for host in metal.hosts)
    declared = config.pools if "pools" in config.model_fields_set else ()
    known = {pool.name for pool in declared}
    others = sorted(name for name in counts if name is not None and name not in known)
    pools = (*declared, *(Pool(name=name) for name in others))
    return config.model_copy(
        update={
            "metal": metal,
            "masters": config.masters.model_copy(update={"count": counts[None]}),
            "pools": tuple(pool.model_copy(update={"count": counts[pool.name]}) for pool in pools),
        }
    )


def _with_logins(metal: Metal) -> Metal:
    key_file = metal.key_file or default_key_file()
    known = known_hosts(metal)
    bastion = metal.bastion and metal.bastion.model_copy(
        update={
            "user": metal.bastion.user or metal.user,
            "key_file": metal.bastion.key_file or key_file,
            "host_key": metal.bastion.host_key
            or key_of(known, metal.bastion.address, metal.bastion.port),
        }
    )
    hosts = tuple(
        host.model_copy(
            update={
                "port": host.port or metal.port,
                "user": host.user or metal.user,
                "key_file": host.key_file or key_file,
                "host_key": host.host_key or key_of(known, host.address, host.port or metal.port),
            }
        )
        for host in metal.hosts
    )
    return metal.model_copy(update={"key_file": key_file, "bastion": bastion, "hosts": hosts})


def known_hosts(metal: Metal) -> str:
    """The text of the known_hosts file; nothing if it cannot be read."""
    try:
        return read_text(metal.known_hosts_file)
    except UnreadableError:
        return ""
