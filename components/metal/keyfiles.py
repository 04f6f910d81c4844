"""Private keys that log in: which file is meant, and whether SSH can use what is in it."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence

from components.metal.files import UnreadableError, read_text, resolve

# Where OpenSSH's own `ssh-keygen` puts keys, the best first.
DEFAULTS = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")
_OPENSSH = b"openssh-key-v1\0"
_BEGIN = "-----BEGIN "
_LEGACY_ENCRYPTED = "Proc-Type: 4,ENCRYPTED"
_KINDS = ("OPENSSH", "RSA", "EC", "")  # of a PRIVATE KEY; the last is PKCS#8
Words = tuple[str, str]  # what is wrong, what to write instead

NO_PASSPHRASE = (
    "needs a passphrase, which nobody could type in each run",
    "write a key without one, made for this by `ssh-keygen -t ed25519 -N '' -f FILE`",
)


def default_key_file() -> str | None:
    """The first of the usual files that exists."""
    return next((path for path in DEFAULTS if resolve(path).is_file()), None)


def file_fault(path: str) -> Words | None:
    """What is wrong with a key file; None if nothing is."""
    try:
        return fault(read_text(path))
    except UnreadableError as error:
        return str(error), "write the file of a private key that may log in to the hosts"


def fault(text: str) -> Words | None:
    """What is wrong with the text of a key file. Nothing of the key is in the words."""
    first, *rest = text.strip().splitlines() or [""]
    if first.startswith(("ssh-", "ecdsa-")):
        return "is a public key", "write the file without .pub"
    if first.startswith("PuTTY-User-Key-File"):
        return "is a key of PuTTY", "convert it: `puttygen FILE -O private-openssh -o NEW`"
    if first == f"{_BEGIN}ENCRYPTED PRIVATE KEY-----" or rest[:1] == [_LEGACY_ENCRYPTED]:
        return NO_PASSPHRASE
    kinds = [f"{_BEGIN}{kind} PRIVATE KEY-----".replace("  ", " ") for kind in _KINDS]
    if first not in kinds:
        return "is no private key that SSH knows", "write one that `ssh-keygen` made"
    return _openssh_fault(rest) if first == kinds[0] else None


def _openssh_fault(lines: Sequence[str]) -> Words | None:
    """OpenSSH's own form (PROTOCOL.key): cipher, its parameters, number of keys, public key, ..."""
    try:
        data = b64decode("".join(line for line in lines if not line.startswith("-----")))
    except ValueError:
        data = b""
    if not data.startswith(_OPENSSH):
        return "is a broken private key", "write one that `ssh-keygen` made"
    cipher, rest = _part(data[len(_OPENSSH) :])
    if cipher != b"none":
        return NO_PASSPHRASE
    _, rest = _part(_part(rest)[1])
    public, _ = _part(rest[4:])
    if _part(public)[0].startswith(b"sk-"):
        return (
            "is the handle of a key in a hardware token, which has to be touched for each login",
            "write the file of a key of its own: `ssh-keygen -t ed25519 -N '' -f FILE`",
        )
    return None


def _part(data: bytes) -> tuple[bytes, bytes]:
    """The first string of SSH's wire format, and what follows."""
    end = 4 + int.from_bytes(data[:4])
    return data[4:end], data[end:]
