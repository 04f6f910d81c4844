"""The only file of phase 2 that knows pulumi-command. Its rules for running things live here.

- A step's whole text goes by standard input: nothing of it is on a command line, in an environment
  that sshd would have to accept, or in an error message.
- No `update`, no `triggers`, no `delete`: a changed text runs again, in place, and every step is
  idempotent. `triggers` would replace, and a `delete` could undo what a step just made
  (pulumi/pulumi-command#189, #104). One step here has a `delete`, which asks the API and no host.
- A step dies with its machine (`deleted_with`), so a dead host blocks nothing.
- Output is stored in the state in clear even where the input is secret: steps print nothing secret,
  and those that handle keys are not logged at all (pulumi/pulumi-command#260).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from pulumi import CustomTimeouts, Input, Output, Resource, ResourceOptions
from pulumi_command.local import Command
from pulumi_command.local import Logging as LocalLogging
from pulumi_command.remote import Command as RemoteCommand
from pulumi_command.remote import ConnectionArgs, Logging, ProxyConnectionArgs

from interface import Connection, Host

OperatorStep = Command
OPERATOR_STEP_TYPE = "command:local:Command"

# sshd may take minutes to come up on a new machine; the time limit below ends the wait, no count.
UNLIMITED = -1
DIAL_SECONDS = 15
STEP_TIMEOUT = "20m"
ROOT = "root"


def connection(host: Host) -> ConnectionArgs:
    """How a step reaches its host. Built here only, so its shape never differs between runs."""
    proxy = host.connection.proxy
    return ConnectionArgs(
        **_endpoint(host.connection),
        proxy=ProxyConnectionArgs(**_endpoint(proxy)) if proxy else None,
    )


def _endpoint(connection: Connection) -> dict[str, Any]:
    return {
        "host": connection.host,
        "port": Output.from_input(connection.port).apply(float),
        "user": connection.user,
        "private_key": connection.private_key,
        "host_key": connection.host_key,
        "dial_error_limit": UNLIMITED,
        "per_dial_timeout": DIAL_SECONDS,
    }


def remote_step(  # noqa: PLR0913 (by name, all but three)
    name: str,
    host: Host,
    text: Input[str],
    *,
    parent: Resource,
    after: Sequence[Resource],
    secret: bool = False,
) -> RemoteCommand:
    """Run a step's text on a host. `secret`: the text holds keys, so nothing of it is shown."""
    return RemoteCommand(
        name,
        connection=connection(host),
        create=f"exec {'' if host.connection.user == ROOT else 'sudo -n '}bash -s",
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
