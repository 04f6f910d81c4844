"""Whether SSH could log in, as far as it can be told here: private keys, and hosts' keys."""

from __future__ import annotations

from collections.abc import Iterator

from components.metal.completion import known_hosts
from components.metal.files import unreadable
from components.metal.keyfiles import DEFAULTS, default_key_file, file_fault
from components.metal.knownhosts import key_of, keys_of
from config import GIVEN_HOSTS, ClusterConfig
from findings import Finding, Loc
from metal import Bastion, MetalHost

SECTION: Loc = ("metal",)


def logins(config: ClusterConfig) -> Iterator[Finding]:
    """Everything that SSH needs is there, and a host key is never taken unseen."""
    yield from _key_files(config)
    yield from _host_keys(config)


def _machines(config: ClusterConfig) -> dict[Loc, Bastion | MetalHost]:
    """Everything that is logged in to, and where it stands."""
    found: dict[Loc, Bastion | MetalHost] = {
        (*GIVEN_HOSTS, index): host for index, host in enumerate(config.metal.hosts)
    }
    bastion = config.metal.bastion
    return {(*SECTION, "bastion"): bastion, **found} if bastion else found


def _key_files(config: ClusterConfig) -> Iterator[Finding]:
    own = {(*loc, "keyFile"): machine.key_file for loc, machine in _machines(config).items()}
    at: Loc = (*SECTION, "keyFile")
    common = config.metal.key_file or default_key_file()
    if common is None and None in own.values():
        yield Finding(
            at,
            None,
            f"is missing: there is none of {', '.join(DEFAULTS)} either",
            "add keyFile: the file of a private key that may log in to the hosts",
        )
    told: dict[str, Loc] = {}
    for loc, path in {at: common, **own}.items():
        if path is None or path in told or (loc == at and None not in own.values()):
            continue
        told[path] = loc
        words = file_fault(path)
        if words:
            yield Finding(loc, path, *words)


def _host_keys(config: ClusterConfig) -> Iterator[Finding]:
    file = config.metal.known_hosts_file
    fault = unreadable(file)
    known = known_hosts(config.metal)
    for loc, machine in _machines(config).items():
        port = machine.port or config.metal.port
        if machine.host_key or key_of(known, machine.address, port):
            continue
        found = keys_of(known, machine.address, port)
        lack = f"has {len(found)} of one type" if found else fault or "has none"
        yield Finding(
            (*loc, "hostKey"),
            None,
            f"is missing, and for {machine.address} port {port} {file} {lack}; it is never taken "
            "unseen",
            f"compare what `ssh-keyscan -p {port} {machine.address}` prints with what "
            "/etc/ssh/ssh_host_ed25519_key.pub has on the machine's console, and add it as "
            "hostKey or to the file",
            ((*SECTION, "knownHostsFile"), (*SECTION, "port"), (*loc, "port")),
        )
