"""What each verb is asked, as JSON outside and as a dataclass inside."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeVar

from components.local.containers.shell import CommandError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, kw_only=True)
class Named:
    """The object to act on."""

    name: str


@dataclass(frozen=True, kw_only=True)
class NetworkRequest(Named):
    """A bridge; `internal` ones have no way out."""

    cidr: str
    internal: bool = False
    cluster: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ContainerRequest(Named):
    """What every container has. The cluster is the network's unless it is said."""

    network: str
    image: str
    address: str = ""
    cluster: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class MachineRequest(ContainerRequest):
    """A machine, and the keys that it is reached with and known by."""

    authorized_key: str
    host_key_private: str = field(repr=False)
    host_key_public: str
    memory: str = ""
    cpus: str = ""
    cpu_shares: str = ""


@dataclass(frozen=True, kw_only=True)
class BalancerRequest(ContainerRequest):
    """A TCP load balancer; without `backends` an existing one keeps those it has."""

    port: int
    backends: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class BackendsRequest(Named):
    """A load balancer's new backends."""

    backends: list[str]
    cluster: str = ""


@dataclass(frozen=True, kw_only=True)
class MirrorRequest(ContainerRequest):
    """A web server of a folder of this computer."""

    directory: str
    nginx_conf: str = ""


_Request = TypeVar("_Request", bound=Named)
_KINDS: Mapping[str, tuple[type, str]] = {
    "str": (str, "a text"),
    "bool": (bool, "true or false"),
    "int": (int, "a whole number"),
    "list[str]": (list, "a list of texts"),
    "list[str] | None": (list, "a list of texts"),
    "Mapping[str, str]": (dict, "an object of texts"),
}


def camel(name: str) -> str:
    """A field's name as it is in JSON."""
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def parse(kind: type[_Request], data: object, *, strict: bool = True) -> _Request:
    """Check a request; all problems are told at once, and no value is: it may be a key."""
    if not isinstance(data, dict):
        raise CommandError("the request on standard input is not a JSON object")
    known = {camel(item.name): item for item in fields(kind)}
    problems = [f"{key} is not known" for key in data if strict and key not in known]
    values: dict[str, Any] = {}
    for key, item in known.items():
        given = data.get(key)
        if given is None:
            if item.default is MISSING and item.default_factory is MISSING:
                problems.append(f"{key} is missing")
            continue
        wanted, words = _KINDS[str(item.type)]
        if _fits(given, wanted):
            values[item.name] = given
        else:
            problems.append(f"{key} is not {words}")
    if problems:
        raise CommandError(f"the request is wrong: {'; '.join(problems)}")
    return kind(**values)


def _fits(value: object, wanted: type) -> bool:
    if isinstance(value, bool):
        return wanted is bool
    if isinstance(value, list):
        return wanted is list and all(isinstance(item, str) for item in value)
    if isinstance(value, dict):
        return wanted is dict and all(isinstance(item, str) for item in value.values())
    return isinstance(value, wanted)
