"""Files that are fetched: from a server on this computer, and from what is kept of them."""

from __future__ import annotations

import threading
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from addons import fetch as fetching
from addons.fetch import FetchError, fetch, kept

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = b"kind: ConfigMap\n"
SUM = sha256(TEXT).hexdigest()


class Server:
    """A web server with one file, which counts who asks for it."""

    def __init__(self) -> None:
        self.asked = 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked += 1
                self.send_response(200 if self.path == "/file.yaml" else 404)
                self.end_headers()
                self.wfile.write(TEXT)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}/file.yaml"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fetch.cache_clear()
    found = Server()
    yield found
    found.stop()
    fetch.cache_clear()


def test_a_file_without_a_checksum_is_fetched_once_a_run(server: Server, tmp_path: Path) -> None:
    assert fetch(server.address) == fetch(server.address) == TEXT
    assert server.asked == 1
    assert list(tmp_path.iterdir()) == []
    fetch.cache_clear()
    assert fetch(server.address) == TEXT
    assert server.asked == 2


def test_a_file_with_a_checksum_is_kept_for_later_runs(server: Server) -> None:
    assert fetch(server.address, SUM) == TEXT
    server.stop()
    fetch.cache_clear()
    assert fetch(server.address, SUM) == TEXT
    assert [path.name for path in kept(SUM).parent.iterdir()] == [SUM]


def test_a_kept_file_that_was_changed_is_fetched_again(server: Server) -> None:
    kept(SUM).parent.mkdir(parents=True)
    kept(SUM).write_bytes(b"kind: Secret\n")
    assert fetch(server.address, SUM) == TEXT
    assert kept(SUM).read_bytes() == TEXT


def test_another_file_than_was_meant_is_refused_and_not_kept(server: Server) -> None:
    other = "0" * 64
    with pytest.raises(FetchError, match=f"has the checksum {SUM}, expected {other}"):
        fetch(server.address, other)
    assert not kept(other).exists()


def test_what_is_not_there_or_not_reached_is_told(server: Server) -> None:
    with pytest.raises(FetchError, match=r"cannot be fetched: Not Found"):
        fetch(f"{server.address}x")
    server.stop()
    with pytest.raises(FetchError, match=r"cannot be fetched: .*refused"):
        fetch(server.address)


def test_what_is_too_big_for_objects_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "BYTES", len(TEXT) - 1)
    with pytest.raises(FetchError, match="has more than 15 bytes"):
        fetch(server.address)
