"""How this computer asks the cluster's API server, and how it waits for an answer."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Callable
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, TypeVar

POLL_SECONDS = 0.3
TIMEOUT_SECONDS = 10
_CONTENT_TYPES = {"PATCH": "application/merge-patch+json", "POST": "application/json"}

Answer = TypeVar("Answer")


class NotYetError(Exception):
    """What is still missing, in words."""


class RefusedError(NotYetError):
    """The API server has answered, and not with what was asked for."""

    def __init__(self, request: str, status: int) -> None:
        super().__init__(f"{request}: HTTP {status}")
        self.status = status

    @property
    def is_ours(self) -> bool:
        """Whether the server is well and the fault is the request's: not known, not allowed."""
        return self.status < http.client.INTERNAL_SERVER_ERROR


class Api:
    """A client of one API server, authenticated by a certificate."""

    clock: datetime | None = None  # the server's, at its last answer

    def __init__(self, server: str, ca: str, certificate: str, key: str) -> None:
        address = urllib.parse.urlsplit(server)
        self._host, self._port = address.hostname or "", address.port
        self._context = ssl.create_default_context(cadata=ca)
        # ssl reads a client key from a file only: one that nobody else can read, and that is gone
        # before the first request.
        handle, path = tempfile.mkstemp(prefix="kubernetes-anywhere-")
        try:
            os.write(handle, f"{certificate}\n{key}".encode())
            self._context.load_cert_chain(path)
        finally:
            os.close(handle)
            Path(path).unlink()

    def request(
        self, method: str, path: str, body: object = None, *, accept: str = "application/json"
    ) -> Any:  # noqa: ANN401 (JSON has no narrower type)
        """One request; the answer's JSON, or else its text.

        Raises RefusedError if the server refuses, and NotYetError if it cannot be asked.
        """
        connection = http.client.HTTPSConnection(
            self._host, self._port, context=self._context, timeout=TIMEOUT_SECONDS
        )
        try:
            headers = {"Accept": accept}
            if body:
                headers["Content-Type"] = _CONTENT_TYPES[method]
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            text = response.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            raise NotYetError(f"{method} {path}: {error}") from None
        finally:
            connection.close()
        if response.status >= http.client.BAD_REQUEST:
            raise RefusedError(f"{method} {path}", response.status)
        if date := response.getheader("Date"):
            self.clock = parsedate_to_datetime(date)
        is_json = response.getheader("Content-Type", "").startswith("application/json")
        return json.loads(text) if is_json else text


def wait(check: Callable[[], Answer], limit: float) -> Answer:
    """Repeat the check until it answers. Raises NotYetError with the last reason at the limit."""
    until, last = time.monotonic() + limit, ""
    while True:
        try:
            return check()
        except NotYetError as reason:
            if time.monotonic() > until:
                raise
            if str(reason) != last:
                print(last := str(reason), file=sys.stderr, flush=True)
            time.sleep(POLL_SECONDS)
