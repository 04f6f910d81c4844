"""The bastion in the arguments that Ansible hands to ssh, as `-J` or `-o ProxyJump=`."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from pydantic import JsonValue

JUMP = "proxyjump"
# Options that do not change where a connection leads, or whether the host is the right one: they
# are ssh's, and of no use here. Host keys are always checked, whatever these say.
HARMLESS = frozenset(
    {
        "compression",
        "connecttimeout",
        "controlmaster",
        "controlpath",
        "controlpersist",
        "forwardagent",
        "identitiesonly",
        "loglevel",
        "preferredauthentications",
        "serveralivecountmax",
        "serveraliveinterval",
        "stricthostkeychecking",
        "userknownhostsfile",
    }
)
HARMLESS_FLAGS = frozenset({"-A", "-a", "-C", "-q", "-x"})
_PLACE = re.compile(
    r"(?:ssh://)?(?:(?P<user>[^@,\s]+)@)?(?P<address>[A-Za-z0-9.-]+)(?::(?P<port>\d+))?"
)


class JumpError(Exception):
    """Arguments that this program cannot follow; the message says which."""


def bastion_of(arguments: str) -> dict[str, JsonValue] | None:
    """The bastion, as the config has one; None if the way leads there directly.

    Raises JumpError.
    """
    try:
        words = shlex.split(arguments)
    except ValueError as error:
        raise JumpError(f"cannot be split into words: {error}") from None
    jumps = list(_jumps(words))
    if not jumps:
        return None
    place = _PLACE.fullmatch(jumps[0])
    if not place or len(jumps) > 1:
        raise JumpError(f"has {' and '.join(jumps)}, where one USER@HOST:PORT is understood")
    parts = {key: value for key, value in place.groupdict().items() if value}
    return {**parts, "port": int(parts.get("port", "22"))}


def _jumps(words: list[str]) -> Iterator[str]:
    rest = iter(words)
    for word in rest:
        if word in HARMLESS_FLAGS:
            continue
        flag, value = word[:2], word[2:] or next(rest, "")
        name, _, setting = re.sub(r"\s*[=\s]\s*", "=", value.strip(), count=1).partition("=")
        if flag == "-J":
            yield value
        elif flag == "-o" and name.lower() == JUMP:
            yield setting
        elif flag != "-o" or name.lower() not in HARMLESS:
            raise JumpError(f"has {word} {value}".rstrip() if flag == word else f"has {word}")
