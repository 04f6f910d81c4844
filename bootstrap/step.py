"""The text of a step: one shell program that a host's bash reads from standard input.

A step is the functions it needs (`files/common.sh` and others), then facts and files as calls of
those functions, then the call that acts. It reads like the script an operator would write, and
`pulumi preview --diff` shows a change in it line by line.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files

SECRET_MODE = "0600"  # noqa: S105 (a file mode)
PUBLIC_MODE = "0644"
_DELIMITER = "END-OF-FILE"


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A file as it will be on a host."""

    path: str
    content: str
    mode: str = PUBLIC_MODE


def read(name: str) -> str:
    """A text that lies beside this module, in `files/`."""
    return files(__package__).joinpath("files", name).read_text()


def call(function: str, *arguments: str) -> str:
    """A call of a shell function, with its arguments quoted."""
    return shlex.join((function, *arguments))


def place(file: File) -> str:
    """The call that stages a file: its content as a here-document that nothing expands.

    Raises ValueError if the content holds the line that would end it.
    """
    if _DELIMITER in file.content.splitlines():
        raise ValueError(f"{file.path} holds the line {_DELIMITER}, which ends a file in a step")
    content = file.content if file.content.endswith("\n") else file.content + "\n"
    return f"{call('file', file.path, file.mode)} <<'{_DELIMITER}'\n{content}{_DELIMITER}"


def program(names: Iterable[str], statements: Iterable[str]) -> str:
    """The whole text of a step: shared functions, those of `files/<name>.sh`, the statements.

    In braces, so that bash reads all of it before it runs any: a text that was cut off on its way
    is an error of syntax, and does nothing.
    """
    functions = (read(f"{name}.sh") for name in ("common", *names))
    return "\n".join(("{", *functions, *statements, "}", ""))
