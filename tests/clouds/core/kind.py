"""What a simulated cloud knows of one type of resource: a row of its table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.clouds.core.account import Account, Inputs, Thing


class CloudError(Exception):
    """The cloud refuses, in its own words: `InvalidSubnet.Conflict: ...`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """A creation or an update that the cloud is asked for. All inputs are known."""

    account: Account
    id: str  # of what is made or changed
    name: str  # the last part of the resource's URN
    inputs: Inputs  # with defaults filled in
    old: Thing | None  # what is there, in an update
    settings: Mapping[str, Any]  # the provider's own: region, project, ...


def nothing_computed(_request: Request) -> Inputs:
    """For types that have no outputs of their own."""
    return {}


def nothing_blocks(_account: Account, _thing: Thing) -> str | None:
    """For types that can go whatever else there is."""
    return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One type. `token` and every property are as the wire has them (camelCase).

    `supported` are the inputs that the simulation understands and acts on: any other is refused,
    so that no test passes because something was silently ignored.
    """

    token: str  # "aws:ec2/instance:Instance"
    sdk: str  # the class in the installed SDK: "pulumi_aws.ec2.Instance"
    supported: frozenset[str]
    identify: Callable[[Request], str]  # the new thing's id
    immutable: frozenset[str] = frozenset()  # paths whose change replaces: "bootDisk.autoDelete"
    fixed: Mapping[str, str] = field(default_factory=dict)  # paths whose update fails: the error
    defaults: Mapping[str, Any] = field(default_factory=dict)  # what the cloud fills in
    check: Callable[[Inputs], Iterable[str]] = lambda _inputs: ()  # faults that need no account;
    # unknown values are absent from these inputs
    rules: Callable[[Request], Iterable[str]] = lambda _request: ()  # faults, as the API says them
    computed: Callable[[Request], Inputs] = nothing_computed  # asked once, at the creation
    updated: Callable[[Request], Inputs] = nothing_computed  # outputs that an update changes
    open_enums: frozenset[str] = frozenset()  # paths where the cloud knows more than the SDK
    blocks: Callable[[Account, Thing], str | None] = nothing_blocks  # why it cannot be deleted
    secret_outputs: frozenset[str] = frozenset()


Invoke = Callable[[Inputs, Mapping[str, Any]], Inputs]  # (arguments, settings) -> result
