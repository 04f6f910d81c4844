"""Reading the files that the config points to."""

from __future__ import annotations

from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2]
LIMIT = 32 * 1024 * 1024  # bytes; the inventory of a thousand hosts with all its variables has 10


class UnreadableError(Exception):
    """A file cannot be read; the message says why."""


def resolve(path: str) -> Path:
    """The file that a path of the config means: relative to the program's folder."""
    return PROGRAM / Path(path).expanduser()


def read_text(path: str) -> str:
    """A text file. Raises UnreadableError."""
    file = resolve(path)
    try:
        if file.stat().st_size > LIMIT:
            raise UnreadableError(f"has more than {LIMIT} bytes")
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UnreadableError(f"is not there: no file {file}") from None
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnreadableError("is no text") from None


def unreadable(path: str) -> str | None:
    """Why a text file cannot be read; None if it can."""
    try:
        read_text(path)
    except UnreadableError as error:
        return str(error)
    return None
