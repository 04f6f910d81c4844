"""One host that exists already, and how SSH reaches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from pulumi import Output

from components.metal.files import read_text
from config import ClusterConfig, HostSpec
from interface import Connection, Host
from metal import Bastion, MetalHost

_Value = TypeVar("_Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class MachinesArgs:
    """The hosts of a role, and the bastion that the way to them leads through."""

    config: ClusterConfig
    specs: tuple[HostSpec, ...]
    bastion: Connection | None


def login(machine: Bastion | MetalHost, proxy: Connection | None = None) -> Connection:
    """How SSH reaches a machine. The key is secret as soon as it is read."""
    return Connection(
        host=machine.address,
        port=_known(machine.port),
        user=_known(machine.user),
        private_key=Output.secret(read_text(_known(machine.key_file))),
        host_key=_known(machine.host_key),
        proxy=proxy,
    )


def find_machines(args: MachinesArgs) -> tuple[Host, ...]:
    """The hosts of the specs. Nothing dies with them, since nothing of them is ours."""
    given = {host.name: host for host in args.config.metal.hosts}
    return tuple(
        Host(
            spec=spec,
            address=given[spec.name].inner_address,
            connection=login(given[spec.name], args.bastion),
        )
        for spec in args.specs
    )


def _known(value: _Value | None) -> _Value:
    """A value that has been filled in: without it the rules would have refused the config."""
    if value is None:
        raise ValueError("the config was not completed")
    return value
