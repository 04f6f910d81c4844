"""SSH connections: credentials, pinned host keys, bastions, and retries until a host answers."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import asyncssh

from airgap.plugins.command.credentials import Credentials
from airgap.plugins.command.schema import CONNECTION_DEFAULTS
from airgap.plugins.protocol import Log, PluginError, Stop

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from airgap.plugins.values import Properties, Value

# A server that accepts a connection and then says nothing must not hold up everything else.
_HANDSHAKE_SECONDS = 30
_KEEPALIVE_SECONDS = 30
_KEEPALIVES = 6
_FIRST_WAIT = 0.1
_WAIT_FACTOR = 1.5
_LONGEST_WAIT = 5.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """One SSH server, as the inputs describe it."""

    host: str
    port: int
    user: str
    dial_error_limit: int
    per_dial_timeout: int
    credentials: Credentials = field(repr=False)

    @classmethod
    def read(cls, connection: Properties) -> Endpoint:
        """Take it from plain inputs; what Check did not fill in gets its default here."""
        members = {**CONNECTION_DEFAULTS, **connection}
        return cls(
            host=str(members["host"]),
            port=_integer(members["port"]),
            user=str(members["user"]),
            dial_error_limit=_integer(members["dialErrorLimit"]),
            per_dial_timeout=_integer(members["perDialTimeout"]),
            credentials=Credentials.read(members),
        )


def _integer(value: Value) -> int:
    return int(value) if isinstance(value, int | float) else 0


@asynccontextmanager
async def connect(
    connection: Value, log: Log, stop: Stop
) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """Connect, by way of the proxy if there is one, and close all of it afterwards."""
    members = connection if isinstance(connection, dict) else {}
    target = Endpoint.read(members)
    proxy = members.get("proxy")
    async with AsyncExitStack() as stack:
        if not isinstance(proxy, dict):
            dialler = _Dialler(stack, log, stop)
            yield await dialler.dial("Dial", target, None)
            return
        dialler = _Dialler(stack, log, stop, prefix="proxy: ")
        tunnel = await dialler.dial("Dial proxy", Endpoint.read(proxy), None)
        yield await dialler.dial("Dial from proxy", target, tunnel)


@dataclass(frozen=True, slots=True)
class _Dialler:
    """Makes connections that end with the stack."""

    stack: AsyncExitStack
    log: Log
    stop: Stop
    prefix: str = ""

    async def dial(
        self, label: str, endpoint: Endpoint, tunnel: asyncssh.SSHClientConnection | None
    ) -> asyncssh.SSHClientConnection:
        """Try until the endpoint answers, or has failed too often."""
        try:
            options = await endpoint.credentials.options(self.stack)
            connection = await self._retry(
                label,
                endpoint.dial_error_limit,
                lambda: _attempt(endpoint, tunnel, options),
            )
        except PluginError as error:
            raise PluginError(f"{self.prefix}{error}", error.code) from error
        return await self.stack.enter_async_context(connection)

    async def _retry(self, label: str, limit: int, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Try once more than the limit says; a negative limit is none."""
        shown = "inf" if limit == -1 else limit
        wait = _FIRST_WAIT
        last = ""
        for failures in itertools.count(1):
            try:
                return await self._in_time(attempt(), last)
            except _DialError as error:
                last = str(error)
            if 0 <= limit < failures:
                raise PluginError(f"after {limit} failed attempts: {last}")
            await self.log.status(f"{label} {failures}/{shown} failed: retrying")
            await self._in_time(asyncio.sleep(wait), last)
            wait = min(wait * _WAIT_FACTOR, _LONGEST_WAIT)
        raise AssertionError  # counting does not end

    async def _in_time(self, work: Awaitable[_T], last: str) -> _T:
        try:
            return await self.stop.within(work)
        except PluginError as error:
            raise PluginError(f"{error}: {last}" if last else str(error), error.code) from error


class _DialError(Exception):
    """One attempt has failed."""


async def _attempt(
    endpoint: Endpoint,
    tunnel: asyncssh.SSHClientConnection | None,
    options: asyncssh.SSHClientConnectionOptions,
) -> asyncssh.SSHClientConnection:
    sock = None if tunnel else await _open_socket(endpoint)
    try:
        with _closed_on_failure(sock):
            return await asyncssh.connect(
                endpoint.host,
                endpoint.port,
                username=endpoint.user,
                options=options,
                tunnel=tunnel or (),
                sock=sock,
                config=None,
                connect_timeout=_HANDSHAKE_SECONDS,
                keepalive_interval=_KEEPALIVE_SECONDS,
                keepalive_count_max=_KEEPALIVES,
            )
    except asyncssh.HostKeyNotVerifiable as error:
        raise _DialError("ssh: handshake failed: ssh: host key mismatch") from error
    except asyncssh.ChannelOpenError as error:
        raise _DialError(f"ssh: rejected: connect failed ({error.reason})") from error
    except TimeoutError as error:
        text = f"ssh: handshake failed: no answer within {_HANDSHAKE_SECONDS} s"
        raise _DialError(text) from error
    except (asyncssh.Error, OSError) as error:
        raise _DialError(f"ssh: handshake failed: {error}") from error


async def _open_socket(endpoint: Endpoint) -> socket.socket:
    """Open a TCP connection to the first address that takes one."""
    loop = asyncio.get_running_loop()
    try:
        addresses = await loop.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise _DialError(f"dial tcp: lookup {endpoint.host}: {error.strerror}") from error
    failure = _DialError(f"dial tcp: lookup {endpoint.host}: no such host")
    for family, kind, protocol, _, address in addresses:
        sock = socket.socket(family, kind, protocol)
        sock.setblocking(False)  # noqa: FBT003 - its only parameter
        try:
            with _closed_on_failure(sock):
                connecting = loop.sock_connect(sock, address)
                await asyncio.wait_for(connecting, endpoint.per_dial_timeout or None)
        except OSError as error:  # a TimeoutError is one
            failure = _DialError(_tcp_failure(str(address[0]), endpoint.port, error))
        else:
            return sock
    raise failure


@contextmanager
def _closed_on_failure(sock: socket.socket | None) -> Iterator[None]:
    """Close the socket if what is done with it fails, or is given up."""
    try:
        yield
    except BaseException:
        if sock:
            sock.close()
        raise


def _tcp_failure(host: str, port: int, error: OSError) -> str:
    shown = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    reason = f"connect: {os.strerror(error.errno).lower()}" if error.errno else "i/o timeout"
    return f"dial tcp {shown}: {reason}"
