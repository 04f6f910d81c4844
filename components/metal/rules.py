"""What cannot be done with hosts that exist already, as a config says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv4Address

from components.cloudrules import mirror_url
from components.metal.loginrules import logins
from components.unused import without_effect
from config import GIVEN_API_HOST, GIVEN_HOSTS, ClusterConfig
from findings import Finding, Loc
from forms import MASTER_COUNTS
from metal import MetalHost
from model import Machine, Role

_REASON = "the hosts exist already"
# What a cloud would make, or would have to be told.
_UNUSED = ("account", "region", "zones", "tags", "access")
_MADE = tuple(key for key in Machine.model_fields if key != "arch")
COUNTS = f"{', '.join(map(str, MASTER_COUNTS[:-1]))} or {MASTER_COUNTS[-1]}"


def rules(config: ClusterConfig) -> Iterator[Finding]:
    """All that is wrong with the config for such hosts."""
    for check in (
        _unused,
        _source,
        _masters,
        _counts,
        _pools,
        _same,
        _addresses,
        _api_host,
        logins,
    ):
        yield from check(config)
    yield from mirror_url(config, "by the hosts")


def _unused(config: ClusterConfig) -> Iterator[Finding]:
    yield from without_effect((), config, _UNUSED, _REASON)
    yield from without_effect(("masters",), config.masters, (*_MADE, "etcd_disk_gb"), _REASON)
    for index, pool in enumerate(config.pools):
        yield from without_effect(("pools", index), pool, (*_MADE, "spot"), _REASON)
    yield from without_effect(
        ("network",), config.network, ("existing", "host_cidr"), f"{_REASON}, with their addresses"
    )


def _source(config: ClusterConfig) -> Iterator[Finding]:
    """One place lists the hosts."""
    inventory, at = config.metal.inventory, ("metal", "inventory")
    files = inventory.model_dump(exclude_none=True) if inventory else {}
    if inventory is None and not config.metal.hosts:
        yield Finding(
            GIVEN_HOSTS,
            None,
            "is missing: nobody says which hosts there are",
            "add hosts, or inventory: {terraform: outputs.json} or {ansible: inventory.yaml}",
        )
    if inventory is not None and config.metal.hosts:
        yield Finding(
            at,
            files,
            "is there beside metal.hosts, and nobody knows which of the two is right",
            "leave out one of the two",
            (GIVEN_HOSTS,),
        )
    elif inventory is not None and len(files) != 1:
        yield Finding(
            at,
            files,
            f"names {'both files' if files else 'no file'}, but one lists the hosts",
            "write {terraform: outputs.json} or {ansible: inventory.yaml}",
        )


def _masters(config: ClusterConfig) -> Iterator[Finding]:
    """As many as etcd can use."""
    masters = {i: host.name for i, host in enumerate(config.metal.hosts) if host.group is None}
    names = ", ".join(masters.values())
    if not masters and config.metal.hosts:
        yield Finding(GIVEN_HOSTS, None, "has no master", "give one host role: master")
    words = {
        len(masters) > MASTER_COUNTS[-1]: f"and etcd has {MASTER_COUNTS[-1]} members at most",
        len(masters) % 2 == 0: "and etcd survives no more losses than with one fewer",
    }
    if masters and True in words:
        yield Finding(
            (*GIVEN_HOSTS, max(masters), "role"),
            Role.MASTER,
            f"is the role of {len(masters)} hosts ({names}), {words[True]}",
            f"give {COUNTS} hosts role: master",
            _said(config, "role"),
        )


def _said(config: ClusterConfig, *keys: str) -> tuple[Loc, ...]:
    """These keys of all hosts, on which a verdict rests; of no hosts, what should list them."""
    hosts = range(len(config.metal.hosts))
    return tuple((*GIVEN_HOSTS, i, key) for i in hosts for key in keys) or (GIVEN_HOSTS,)


def _counts(config: ClusterConfig) -> Iterator[Finding]:
    """The hosts say how many there are; what else says it agrees, and every pool has some."""
    counts = Counter(host.group for host in config.metal.hosts)
    masters, rests_on = config.masters, _said(config, "role", "pool")
    if "count" in masters.model_fields_set and masters.count != counts[None]:
        yield _contradiction(
            ("masters", "count"), masters.count, f"{counts[None]} are masters", rests_on
        )
    for index, pool in enumerate(config.pools if "pools" in config.model_fields_set else ()):
        at, given = ("pools", index), counts[pool.name]
        if "count" in pool.model_fields_set and pool.count != given:
            words = f"{given} are in the pool {pool.name}"
            yield _contradiction((*at, "count"), pool.count, words, (*rests_on, (*at, "name")))
        elif not given and pool.count:
            yield Finding(
                (*at, "name"),
                pool.name,
                "is a pool that no host is in",
                f"write pool: {pool.name} at its hosts, or leave the pool out",
                rests_on,
            )


def _contradiction(at: Loc, value: int, words: str, rests_on: tuple[Loc, ...]) -> Finding:
    return Finding(
        at,
        value,
        f"contradicts the hosts, of which {words}",
        "leave it out: the hosts are counted",
        rests_on,
    )


def _pools(config: ClusterConfig) -> Iterator[Finding]:
    """Masters are in none."""
    for index, host in enumerate(config.metal.hosts):
        at = (*GIVEN_HOSTS, index)
        if host.role is Role.MASTER and host.pool is not None:
            yield Finding(
                (*at, "pool"),
                host.pool,
                "has no effect: masters are in no pool",
                "leave it out, or write role: node",
                ((*at, "role"),),
            )


def _same(config: ClusterConfig) -> Iterator[Finding]:
    """No two hosts have what only one can have."""
    for words, part in ONLY_ONE.items():
        first: dict[str, str] = {}
        for index, host in enumerate(config.metal.hosts):
            key, value = part(host)
            if value in first:
                yield Finding(
                    (*GIVEN_HOSTS, index, key),
                    value,
                    f"is {words} of the host {first[value]} too",
                    "write what only this host has, or leave one of the two out",
                    ((*GIVEN_HOSTS, index, "internalAddress"),),
                )
            first.setdefault(value, host.name)


def _inner_key(host: MetalHost) -> str:
    return "internalAddress" if host.internal_address else "address"


# What is said of a host, and the key that says it.
ONLY_ONE: Mapping[str, Callable[[MetalHost], tuple[str, str]]] = {
    "the name": lambda host: ("name", host.name),
    "the address": lambda host: (_inner_key(host), host.inner_address),
}


def _addresses(config: ClusterConfig) -> Iterator[Finding]:
    """Hosts reach each other by an IPv4 address that is theirs."""
    for index, host in enumerate(config.metal.hosts):
        words = _address_fault(host.inner_address)
        if words:
            at = (*GIVEN_HOSTS, index)
            rests_on = ((*at, "internalAddress"),)
            yield Finding((*at, _inner_key(host)), host.inner_address, *words, rests_on)


def _address_fault(text: str) -> tuple[str, str] | None:
    advice = "write the address by which the other hosts reach it, such as 10.0.0.11"
    try:
        address = IPv4Address(text)
    except ValueError:
        return (
            "is a name: kubelets and etcd need the address by which the other hosts reach it",
            "add internalAddress: 10.0.0.11, or write the address itself",
        )
    if address.is_loopback or address.is_unspecified or address.is_link_local:
        return "is every host's own, and reaches no other", advice
    if address.is_multicast or address.is_reserved:
        return "is no host's address", advice
    return None


def _api_host(config: ClusterConfig) -> Iterator[Finding]:
    """With several masters somebody has to say what leads to all of them."""
    count = sum(host.role is Role.MASTER for host in config.metal.hosts)
    at = GIVEN_API_HOST
    if config.metal.api_host is None and count > 1:
        yield Finding(
            at,
            None,
            f"is missing: there are {count} masters, and nothing leads to all of them",
            "add apiHost: the address or name of a load balancer, a virtual address or a DNS name "
            "that leads to the API port of all masters",
            _said(config, "role"),
        )
    if config.metal.api_host in {"localhost", "127.0.0.1"}:
        yield Finding(
            at,
            config.metal.api_host,
            "is every host's own, and leads to no master",
            "write what nodes and this computer reach the masters by",
        )
