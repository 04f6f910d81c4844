"""Files that this computer fetches while it plans: small ones, by address, kept by checksum."""

from __future__ import annotations

import os
from functools import cache
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from urllib.request import urlopen

SECONDS = 30
BYTES = 16 * 1024 * 1024


class FetchError(Exception):
    """There is no such file to be had; the message says why."""


def kept(checksum: str) -> Path:
    """Where the file of that checksum is kept, once it has been fetched or put there by hand."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "kubernetes-anywhere" / "manifests" / checksum


@cache
def fetch(address: str, checksum: str = "") -> bytes:
    """What is at that address, once a run. With a checksum, what is kept of it. Raises FetchError.

    The address is of http or https: `forms` and the version table see to that.
    """
    place = kept(checksum)
    if checksum and place.is_file() and _sum(data := place.read_bytes()) == checksum:
        return data
    data = _download(address)
    if not checksum:
        return data
    if _sum(data) != checksum:
        raise FetchError(f"has the checksum {_sum(data)}, expected {checksum}")
    partial = place.with_name(f".{checksum}.{os.getpid()}")
    place.parent.mkdir(parents=True, exist_ok=True)
    partial.write_bytes(data)
    partial.replace(place)
    return data


def _sum(data: bytes) -> str:
    return sha256(data).hexdigest()


def _download(address: str) -> bytes:
    try:
        with urlopen(address, timeout=SECONDS) as response:  # noqa: S310 - http or https, as above
            data: bytes = response.read(BYTES + 1)
    except (OSError, HTTPException) as error:
        raise FetchError(f"cannot be fetched: {getattr(error, 'reason', error)}") from None
    if len(data) > BYTES:
        raise FetchError(f"has more than {BYTES} bytes")
    return data
