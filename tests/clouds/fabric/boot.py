"""A machine's first boot: its user data as cloud-init would take it, turned into files.

A stand-in runs the commands when the machine boots (`files/first-boot.sh`) and answers
`cloud-init status`. It knows just what this program's user data has, and refuses everything else,
so that nothing is believed to have been done that was not.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

import yaml

from components.local.containers.containers import Files
from components.local.containers.machines import HOST_KEY

FOLDER = "/etc/simulated-cloud"
_HEADER = "#cloud-config"
_STATIC = {
    "/usr/bin/cloud-init": (0o755, "cloud-init"),
    "/etc/systemd/system/cloud-final.service": (0o644, "cloud-final.service"),
    f"{FOLDER}/first-boot.sh": (0o644, "first-boot.sh"),
}
# What `systemctl enable` would say with a link.
_WANTED = "[Unit]\nWants=cloud-final.service\n"


class UserDataError(ValueError):
    """User data that the simulated cloud-init does not understand; the text says which part."""


def text(name: str) -> str:
    """One of this package's files."""
    return files(__package__).joinpath("files", name).read_text()


def boot_files(user_data: str) -> Files:
    """What is in the machine before its first boot. Raises UserDataError."""
    document = parse(user_data)
    keys, runcmd = document.get("ssh_keys", {}), document.get("runcmd", [])
    return {
        **{path: (mode, text(name)) for path, (mode, name) in _STATIC.items()},
        "/etc/systemd/system/multi-user.target.d/simulated-cloud.conf": (0o644, _WANTED),
        f"{FOLDER}/runcmd.sh": (0o700, commands([*document.get("bootcmd", []), *runcmd])),
        **{item["path"]: (0o644, item["content"]) for item in document.get("write_files", [])},
        **({HOST_KEY: (0o600, _line(keys["ed25519_private"]))} if keys else {}),
        **({f"{HOST_KEY}.pub": (0o644, _line(keys["ed25519_public"]))} if keys else {}),
    }


def parse(user_data: str) -> Mapping[str, Any]:
    """The document, known to be one that is understood. No user data is an empty one."""
    if not user_data:
        return {}
    if user_data.splitlines()[0] != _HEADER:
        raise UserDataError(f"user data has to begin with a line `{_HEADER}`")
    try:
        document = yaml.safe_load(user_data)
    except yaml.YAMLError as error:
        # Only what and where: the text has the machine's private key.
        place = getattr(error, "problem_mark", None)
        where = f" (line {place.line + 1})" if place else ""
        raise UserDataError(f"user data is no YAML{where}") from None
    if not isinstance(document, dict):
        raise UserDataError("user data has to be a mapping of keys to values")
    wrong = [key for key, value in document.items() if not _FORMS.get(key, _unknown)(value)]
    if wrong:
        raise UserDataError(
            f"the simulated cloud-init does not know the user data's {', '.join(map(str, wrong))} "
            f"in this form: it knows {', '.join(_FORMS)}"
        )
    return document


def commands(runcmd: Sequence[str | Sequence[str]]) -> str:
    """The script that cloud-init makes: a failure does not end it, and its last command decides."""
    lines = (item if isinstance(item, str) else shlex.join(item) for item in runcmd)
    return "".join(f"{line}\n" for line in ("#!/bin/sh", *lines))


def _unknown(_value: object) -> bool:
    return False


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _commands(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) or _texts(item) for item in value)


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "ssh_deletekeys": lambda value: isinstance(value, bool),
    "ssh_genkeytypes": _texts,
    "ssh_keys": lambda value: (
        isinstance(value, dict)
        and value.keys() == {"ed25519_private", "ed25519_public"}
        and _texts(list(value.values()))
    ),
    "bootcmd": _commands,
    "runcmd": _commands,
    "write_files": lambda value: (
        isinstance(value, list)
        and all(
            isinstance(item, dict)
            and item.keys() == {"path", "content"}
            and _texts(list(item.values()))
            for item in value
        )
    ),
}


def _line(value: str) -> str:
    return f"{value.strip()}\n"
