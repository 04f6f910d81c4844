"""The only file of phase 2 that knows pulumi-command. Its rules for running things live here.

- A step's whole text goes by standard input: nothing of it is on a command line, in an environment
  that sshd would have to accept, or in an error message.
- No `update`, no `triggers`, no `delete`: a changed text runs again, in place, and every step is
  idempotent. `triggers` would replace, and a `delete` could undo what a step just made
  (pulumi/pulumi-command#189, #104). One step here has a `delete`, which asks the API and no host.
- A step dies with its machine (`deleted_with`), so a dead host blocks nothing. A machine that is
  not ours has a step that does nothing but `delete`, with a short limit on what it waits for.
- Output is stored in the state in clear even where the input is secret: steps print nothing secret,
  and those that handle keys are not logged at all (pulumi/pulumi-command#260).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pulumi import CustomTimeouts, Input, Output, Resource, ResourceOptions
from pulumi_command.local import Command
from pulumi_command.local import Logging as LocalLogging
from pulumi_command.remote import Command as RemoteCommand
from pulumi_command.remote import ConnectionArgs, Logging, ProxyConnectionArgs

from interface import Connection, Host

OperatorStep = Command
OPERATOR_STEP_TYPE = "command:local:Command"
HostStep = RemoteCommand


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How long a host may take to answer: so many failures, so many seconds for each attempt.

    Between failures are 0.1 s, then half as much again each time, up to 5 s.
    """

    dial_error_limit: int
    per_dial_timeout: int


# A new machine boots: 8 minutes where the port refuses, 16 where nothing answers yet. The count
# ends the wait, not the time limit below, whose error would not say which host and port it was.
BOOT = Patience(dial_error_limit=100, per_dial_timeout=5)
# A machine that was there before: half a minute where the port or the key is refused, two where
# nothing answers.
EXISTING = Patience(dial_error_limit=14, per_dial_timeout=5)
# One that is left: 11 s where the port refuses, 55 s where nothing answers.
TAKEOFF = Patience(dial_error_limit=10, per_dial_timeout=4)
STEP_TIMEOUT = "20m"
TAKEOFF_DIAL_TIMEOUT = "2m"  # through a bastion, which has limits of its own
ROOT = "root"
SHELL = "exec bash -s"
BY_SUDO = "exec sudo -n bash -s"
# Where sudo wants a password it does not say what to do about it. An error shows the whole command,
# so only the first step has this one.
FIRST_BY_SUDO = (
    "exec sh -c 'sudo -n true </dev/null && exec sudo -n bash -s; "
    'echo "$(uname -n): $(id -un) may not use sudo without a password; '
    "allow it in /etc/sudoers.d, or log in as root\" >&2; exit 1'"
)


def connection(host: Host, patience: Patience) -> ConnectionArgs:
    """How a step reaches its host. Built here only, so its shape never differs between runs."""
    proxy = host.connection.proxy
    return ConnectionArgs(
        **_endpoint(host.connection, patience),
        proxy=ProxyConnectionArgs(**_endpoint(proxy, patience)) if proxy else None,
    )


def _endpoint(connection: Connection, patience: Patience) -> dict[str, Any]:
    return {
        "host": connection.host,
        "port": Output.from_input(connection.port).apply(float),
        "user": connection.user,
        "private_key": connection.private_key,
        "host_key": connection.host_key,
        "dial_error_limit": patience.dial_error_limit,
        "per_dial_timeout": patience.per_dial_timeout,
    }


def remote_step(  # noqa: PLR0913 (by name, all but three)
    name: str,
    host: Host,
    text: Input[str],
    *,
    parent: Resource,
    after: Sequence[Resource],
    first: bool = False,
    secret: bool = False,
) -> HostStep:
    """Run a step's text on a host.

    `first`: no other step ran there before. `secret`: the text holds keys; nothing of it is shown.
    """
    return HostStep(
        name,
        connection=connection(host, BOOT if host.machine else EXISTING),
        create=_shell(host, first=first),
        stdin=Output.secret(text) if secret else text,
        add_previous_output_in_env=False,
        logging=Logging.NONE if secret else Logging.STDOUT_AND_STDERR,
        opts=ResourceOptions(
            parent=parent,
            depends_on=list(after),
            deleted_with=host.machine,
            additional_secret_outputs=["stdout", "stderr"] if secret else None,
            custom_timeouts=CustomTimeouts(create=STEP_TIMEOUT, update=STEP_TIMEOUT),
        ),
    )


def takeoff_step(name: str, host: Host, text: Input[str], *, parent: Resource) -> HostStep:
    """Run a text when the host is taken off, and never before: without `create` none is dialled."""
    return HostStep(
        name,
        connection=connection(host, TAKEOFF),
        delete=_shell(host),
        stdin=text,
        add_previous_output_in_env=False,
        opts=ResourceOptions(
            parent=parent, custom_timeouts=CustomTimeouts(delete=TAKEOFF_DIAL_TIMEOUT)
        ),
    )


def note_once(name: str, text: Input[str], *, parent: Resource) -> Output[str]:
    """A text as it was when this resource was made, whatever has become of it since."""
    return Command(
        name,
        interpreter=[os.path.relpath(sys.executable), "-c"],
        create="pass",
        stdin=text,
        add_previous_output_in_env=False,
        logging=LocalLogging.NONE,
        opts=ResourceOptions(parent=parent, ignore_changes=["stdin"]),
    ).stdin.apply(str)


def _shell(host: Host, *, first: bool = False) -> str:
    if host.connection.user == ROOT:
        return SHELL
    return FIRST_BY_SUDO if first else BY_SUDO


def operator_step(  # noqa: PLR0913 (by name, all but four)
    name: str,
    module: str,
    verb: str,
    request: Input[str],
    *,
    parent: Resource,
    after: Sequence[Resource],
    delete: str | None = None,
    deleted_with: Resource | None = None,
    protect: bool | None = None,
) -> OperatorStep:
    """Run a module of this program on this computer, with a secret request on standard input.

    `delete` is the verb that runs when the step goes, with the request as it was at the last `up`.
    """
    return Command(
        name,
        # Relative: the state of a stack should not depend on where somebody's clone lies.
        interpreter=[os.path.relpath(sys.executable), "-m", module],
        create=verb,
        delete=delete,
        stdin=Output.secret(request),
        add_previous_output_in_env=False,
        logging=LocalLogging.STDERR,
        opts=ResourceOptions(
            parent=parent,
            depends_on=list(after),
            deleted_with=deleted_with,
            protect=protect,
            custom_timeouts=CustomTimeouts(
                create=STEP_TIMEOUT, update=STEP_TIMEOUT, delete=STEP_TIMEOUT
            ),
        ),
    )
