"""Quoting of texts as Go's %q does it, which is how failures show a command."""

from __future__ import annotations

_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}
_ASCII_LIMIT = 0x80
_SHORT_LIMIT = 0x10000


def quote(text: str) -> str:
    """Put a text in double quotes, on one line."""
    return '"' + "".join(_ESCAPES.get(char) or _escape(char) for char in text) + '"'


def _escape(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if code < _ASCII_LIMIT:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < _SHORT_LIMIT else f"\\U{code:08x}"
