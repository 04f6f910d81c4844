"""What `remote.CopyToRemote` does once it copies: over SFTP, in the order that a folder needs."""

from __future__ import annotations

import asyncio
import io
import os
import posixpath
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import asyncssh

from airgap.plugins.command.connection import connect
from airgap.plugins.protocol import Call, PluginError, Severity
from airgap.plugins.values import Asset, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

_CHUNK = 4 * 1024 * 1024


async def copy(call: Call) -> None:
    """Copy what the inputs say to where they say."""
    source = plain(call.inputs["source"])
    connection = plain(call.inputs["connection"])
    remote = str(plain(call.inputs["remotePath"]))
    if not isinstance(source, Asset):
        raise PluginError("either asset or archive must be set")
    host = connection.get("host") if isinstance(connection, dict) else ""
    origin = "text asset" if source.path is None else f"local file {source.path}"
    await call.log.write(Severity.DEBUG, f"Creating file: {host}:{remote} from {origin}")
    call.stop.check()
    async with connect(connection, call.log, call.stop) as ssh:
        try:
            async with ssh.start_sftp_client() as sftp:
                await _Copier(sftp).copy(source, remote)
        except asyncssh.Error as error:
            raise PluginError(error.reason) from error
        except OSError as error:
            raise PluginError(f"{error.filename}: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class _Copier:
    """Copies. Modes are left to the server, as the official plugin does."""

    sftp: asyncssh.SFTPClient

    async def copy(self, source: Asset, remote: str) -> None:
        """Copy a source to where the rules for its kind say."""
        if source.path is None:
            await self._copy_text(source.text or "", remote)
        elif await asyncio.to_thread(os.path.isdir, source.path):
            await self._copy_folder(source.path, remote)
        else:
            await self._copy_file(source.path, remote)

    async def _copy_text(self, text: str, remote: str) -> None:
        if await self.sftp.isdir(remote):
            raise PluginError(
                f"remotePath {remote} is a directory; when using a text asset, remotePath must be "
                "a file path"
            )
        await self._make_parent(remote)
        failure = f"failed to write text content to {remote}"
        await self._write(io.BytesIO(text.encode()), remote, failure)

    async def _copy_file(self, path: str, remote: str) -> None:
        if await self.sftp.isdir(remote):
            remote = posixpath.join(remote, posixpath.basename(path))
        else:
            await self._make_parent(remote)
        await self._upload(path, remote)

    async def _copy_folder(self, path: str, remote: str) -> None:
        await self._make_folder(remote)
        if not path.endswith("/"):
            remote = posixpath.join(remote, posixpath.basename(path))
            await self._make_folder(remote)
        for member, is_folder in await asyncio.to_thread(lambda: list(_members(Path(path)))):
            place = posixpath.join(remote, member)
            if is_folder:
                await self._make_folder(place)
            else:
                await self._upload(posixpath.join(path, member), place)

    async def _upload(self, path: str, remote: str) -> None:
        content = await asyncio.to_thread(open, path, "rb")
        with content:
            failure = f"failed to copy file {path} to remote path {remote}"
            await self._write(content, remote, failure)

    async def _write(self, content: BinaryIO, remote: str, failure: str) -> None:
        try:
            async with self.sftp.open(remote, "wb") as file:
                while chunk := await asyncio.to_thread(content.read, _CHUNK):
                    await file.write(chunk)
        except asyncssh.SFTPError as error:
            raise PluginError(f"{failure}: {error.reason}") from error

    async def _make_parent(self, remote: str) -> None:
        parent = posixpath.dirname(remote)
        if parent:
            await self._make_folder(parent)

    async def _make_folder(self, remote: str) -> None:
        if await self.sftp.isdir(remote):
            return
        failure = f"failed to create remote directory {remote}"
        if await self.sftp.exists(remote):
            raise PluginError(f"{failure}: exists but is not a directory")
        try:
            await self.sftp.makedirs(remote, exist_ok=True)
        except asyncssh.SFTPError as error:
            raise PluginError(f"{failure}: {error.reason}") from error


def _members(root: Path) -> Iterator[tuple[str, bool]]:
    """Return what is in a folder, the folders before their content."""
    for path in sorted(root.iterdir()):
        is_folder = path.is_dir() and not path.is_symlink()
        yield path.name, is_folder
        if is_folder:
            for member, inner in _members(path):
                yield f"{path.name}/{member}", inner
