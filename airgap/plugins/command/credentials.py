"""How a connection proves who it is, and whom it expects: read before anything is dialled."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncssh

from airgap.plugins.protocol import PluginError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AsyncExitStack

    from airgap.plugins.values import Properties, Value


class _Client(asyncssh.SSHClient):
    """Answers whatever an interactive server asks with the password."""

    def __init__(self, password: str | None) -> None:
        self._password = password

    def kbdint_auth_requested(self) -> str | None:
        """Take part, if there is a password."""
        return None if self._password is None else ""

    def kbdint_challenge_received(
        self, _name: str, _instructions: str, _lang: str, prompts: Sequence[tuple[str, bool]]
    ) -> list[str]:
        """Answer."""
        return [self._password or ""] * len(prompts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Keys and passwords."""

    password: str | None = field(repr=False)
    private_key: str | None = field(repr=False)
    private_key_password: str | None = field(repr=False)
    agent_socket: str | None
    host_key: str | None

    @classmethod
    def read(cls, members: Properties) -> Credentials:
        """Take them from plain inputs."""
        agent = _text(members.get("agentSocketPath"))
        return cls(
            password=_text(members.get("password")),
            private_key=_text(members.get("privateKey")),
            private_key_password=_text(members.get("privateKeyPassword")),
            agent_socket=os.environ.get("SSH_AUTH_SOCK") or None if agent is None else agent,
            host_key=_text(members.get("hostKey")),
        )

    async def options(self, stack: AsyncExitStack) -> asyncssh.SSHClientConnectionOptions:
        """Return what asyncssh wants to know; an agent stays connected as long as the stack."""
        keys = await self._client_keys(stack)
        return asyncssh.SSHClientConnectionOptions(
            client_factory=lambda: _Client(self.password),
            # Not (): that would mean the keys and hosts of the user who runs this.
            client_keys=keys or None,
            known_hosts=self._known_hosts(),
            config=None,
            agent_path=None,
            password=self.password,
            gss_host=None,
        )

    async def _client_keys(
        self, stack: AsyncExitStack
    ) -> list[asyncssh.SSHKey] | list[asyncssh.SSHKeyPair]:
        # As in the official plugin, a key that is given keeps the agent's out.
        if self.private_key:
            return [_import_key(self.private_key, self.private_key_password)]
        if self.agent_socket is None:
            return []
        try:
            agent = await stack.enter_async_context(asyncssh.connect_agent(self.agent_socket))
            return list(await agent.get_keys())
        except (OSError, asyncssh.Error) as error:
            number = error.errno if isinstance(error, OSError) else None
            reason = os.strerror(number).lower() if number else str(error)
            raise PluginError(f"dial unix {self.agent_socket}: {reason}") from error

    def _known_hosts(self) -> tuple[list[asyncssh.SSHKey], list[str], list[str]] | None:
        if not self.host_key:
            return None
        try:
            return [_import_host_key(self.host_key)], [], []
        except (asyncssh.KeyImportError, IndexError) as error:
            raise PluginError("failed to parse host key: ssh: no key found") from error


def _import_host_key(line: str) -> asyncssh.SSHKey:
    """Read `type base64 [comment]`, also with a known_hosts file's host before it."""
    words = line.split()
    start = 1 if words and words[0].startswith("[") else 0
    return asyncssh.import_public_key(f"{words[start]} {words[start + 1]}")


def _import_key(text: str, password: str | None) -> asyncssh.SSHKey:
    try:
        key = asyncssh.import_private_key(text, password)
    except asyncssh.KeyEncryptionError as error:
        raise PluginError("x509: decryption password incorrect") from error
    except asyncssh.KeyImportError as error:
        raise PluginError(_key_problem(str(error))) from error
    if password is not None and _is_plain(text):
        raise PluginError("ssh: key is not password protected")
    return key


def _key_problem(reason: str) -> str:
    if "Passphrase must be specified" in reason:
        return "ssh: this private key is passphrase protected"
    if "Unable to decrypt" in reason:
        return "x509: decryption password incorrect"
    return "ssh: no key found"


def _is_plain(text: str) -> bool:
    try:
        asyncssh.import_private_key(text)
    except asyncssh.KeyImportError:
        return False
    return True


def _text(value: Value) -> str | None:
    return value if isinstance(value, str) else None
