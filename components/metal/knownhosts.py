"""Which key a host is known by, as OpenSSH's known_hosts files have it (sshd(8)).

A line is `[@marker] patterns type key [comment]`. Patterns are names and addresses with commas in
between, with `*`, `?` and `!`, or one hash of a name. A port other than 22 is part of the name.
"""

from __future__ import annotations

import hmac
import re
from base64 import b64decode
from collections.abc import Iterator

from forms import HOST_KEYS

UNNAMED_PORT = 22
REVOKED = "@revoked"
HASHED = "|1|"


def key_of(text: str, host: str, port: int) -> str | None:
    """The key that a host is known by; None if there is none, or more than one could be it."""
    found = keys_of(text, host, port)
    return found[0] if len(found) == 1 else None


def keys_of(text: str, host: str, port: int) -> tuple[str, ...]:
    """The keys that a host is known by, of the best type that there is: `ssh-ed25519 AAAA...`.

    More than one of a type: nobody knows which one the host has now.
    """
    name = (host if port == UNNAMED_PORT else f"[{host}]:{port}").lower()
    lines = [(marker, key) for marker, names, key in _lines(text) if _matches(names, name)]
    revoked = {key for marker, key in lines if marker == REVOKED}
    trusted = [key for marker, key in lines if not marker and key not in revoked]
    for kind in HOST_KEYS:
        if found := dict.fromkeys(key for key in trusted if key.startswith(f"{kind} ")):
            return tuple(found)
    return ()


def _lines(text: str) -> Iterator[tuple[str, str, str]]:
    """(marker or nothing, patterns, type and key) of each line that has them."""
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        marker = words.pop(0) if words[0].startswith("@") else ""
        if len(words) >= 3:  # noqa: PLR2004 - patterns, type, key
            yield marker, words[0], f"{words[1]} {words[2]}"


def _matches(patterns: str, name: str) -> bool:
    if patterns.startswith(HASHED):
        return _is_hash_of(patterns, name)
    covering = [each for each in patterns.split(",") if _covers(each.removeprefix("!"), name)]
    return bool(covering) and not any(each.startswith("!") for each in covering)


def _covers(pattern: str, name: str) -> bool:
    # Not fnmatch: it would take the brackets around an address for a choice of letters.
    expression = re.escape(pattern.lower()).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(expression, name) is not None


def _is_hash_of(hashed: str, name: str) -> bool:
    try:
        salt, digest = (b64decode(part, validate=True) for part in hashed[len(HASHED) :].split("|"))
    except ValueError:
        return False
    return hmac.compare_digest(hmac.digest(salt, name.encode(), "sha1"), digest)
