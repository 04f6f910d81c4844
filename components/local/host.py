"""Running a verb of `components.local.docker` as a resource: what makes and removes a container."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence

from pulumi import CustomTimeouts, Input, Output, Resource, ResourceOptions
from pulumi_command.local import Command, Logging


def docker_verb(  # noqa: PLR0913 (by name, all but three)
    name: str,
    create: str,
    request: Mapping[str, Input[object]],
    *,
    parent: Resource,
    delete: str | None = None,
    delete_first: bool = False,
    after: Sequence[Resource] = (),
) -> Command:
    """Run a verb with its request as JSON on standard input; its answer is JSON on stdout.

    The request is secret as a whole, since it may hold keys; `delete` gets the same request again.
    A changed request runs `create` again in place: the verbs are idempotent. `delete_first`: before
    it is made anew, since it is known by its name and the deletion would hit the new one.
    """
    text: Output[str] = Output.secret(Output.json_dumps(request))
    return Command(
        name,
        interpreter=[os.path.relpath(sys.executable), "-m", "components.local.docker"],
        create=create,
        delete=delete,
        stdin=text,
        add_previous_output_in_env=False,
        logging=Logging.STDERR,
        opts=ResourceOptions(
            parent=parent,
            depends_on=list(after),
            delete_before_replace=delete_first,
            custom_timeouts=CustomTimeouts(create="15m"),
        ),
    )


def answer(command: Command, key: str) -> Output[str]:
    """One field of a verb's answer; empty if an earlier version of the verb did not give it."""
    return command.stdout.apply(lambda text: str(json.loads(text).get(key, "")))
