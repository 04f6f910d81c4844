"""remote.Command against a real sshd: the golden cases C21, C22 and C28 to C33."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from google.protobuf import empty_pb2

from airgap.plugins.command import connection as dialling
from tests.plugins.client import free_port, keygen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.client import Client, Inputs, Sshd


def run(remote: Client, sshd: Sshd, create: str, **inputs: object) -> Inputs:
    return remote.create({"create": create, "connection": sshd.connection(), **inputs})[1]


def fail(
    remote: Client,
    sshd: Sshd,
    create: str,
    *,
    connection: Inputs | None = None,
    **inputs: object,
) -> str:
    given = {"create": create, "connection": connection or sshd.connection(), **inputs}
    return remote.failure(remote.create, given)[1]


def test_output_of_both_streams(remote: Client, sshd: Sshd) -> None:
    outputs = run(remote, sshd, "echo a; echo b >&2; printf tail")
    assert (outputs["stdout"], outputs["stderr"]) == ("a\ntail", "b")
    assert sorted(remote.logs) == ["a", "b", "tail"]
    assert {message.ephemeral for message in remote.messages} == {True}


def test_lines_are_shown_while_it_runs(remote: Client, sshd: Sshd) -> None:
    run(remote, sshd, "echo a; sleep 0.5; echo b")
    (first, _), (second, _) = remote.engine.messages
    assert second - first > 0.3


def test_failure_with_a_lot_of_output(remote: Client, sshd: Sshd) -> None:
    text = fail(remote, sshd, "head -c 1000000 /dev/zero | tr '\\0' x; exit 1", logging="none")
    assert text.endswith('x; exit 1":\n' + "x" * 1_000_000)


def test_large_stdin_and_output(remote: Client, sshd: Sshd) -> None:
    text = "line of text\n" * 100_000
    outputs = run(remote, sshd, "cat", stdin=text, logging="none")
    assert outputs["stdout"] == text.removesuffix("\n")


def test_stdin_that_nobody_reads(remote: Client, sshd: Sshd) -> None:
    for size in (1, 10, 1_000_000):
        assert run(remote, sshd, "exec true", stdin="x" * size)["stdout"] == ""


def test_without_stdin_input_ends_at_once(remote: Client, sshd: Sshd) -> None:
    assert run(remote, sshd, "cat; echo done")["stdout"] == "done"


def test_nothing_to_run_needs_no_connection(remote: Client) -> None:
    connection = {"host": "127.0.0.1", "port": 1.0}
    outputs = remote.create({"connection": connection})[1]
    assert outputs == {"connection": connection, "stdout": "", "stderr": ""}
    remote.delete({"connection": connection, "stdout": "", "stderr": ""})


def test_delete_uses_the_state(remote: Client, sshd: Sshd, tmp_path: Path) -> None:
    file = tmp_path / "gone"
    file.touch()
    remote.delete({"connection": sshd.connection(), "delete": f"rm {file}", "stdout": ""})
    assert not file.exists()


def test_c28_refused(remote: Client) -> None:
    connection = {"host": "127.0.0.1", "port": 1.0, "dialErrorLimit": 3.0}
    began = time.monotonic()
    _, text = remote.failure(remote.create, {"create": "true", "connection": connection})
    assert text == ("after 3 failed attempts: dial tcp 127.0.0.1:1: connect: connection refused")
    assert remote.logs == [f"Dial {n}/3 failed: retrying" for n in (1, 2, 3)]
    assert 0.4 < time.monotonic() - began < 5


def test_unlimited_dialling_ends_with_the_time_limit(remote: Client) -> None:
    connection = {"host": "127.0.0.1", "port": 1.0, "dialErrorLimit": -1.0}
    inputs = {"create": "true", "connection": connection}
    began = time.monotonic()
    _, text = remote.failure(remote.create, inputs, timeout=0.5)
    assert text.startswith("context deadline exceeded: dial tcp")
    assert remote.logs[0] == "Dial 1/inf failed: retrying"
    assert time.monotonic() - began < 5  # where attempts never end


def test_cancel_ends_dialling(remote: Client) -> None:
    connection = {"host": "127.0.0.1", "port": 1.0, "dialErrorLimit": -1.0}
    running = remote.calls.submit(
        remote.failure, remote.create, {"create": "true", "connection": connection}
    )
    while not remote.logs:
        time.sleep(0.01)
    remote.stub.Cancel(empty_pb2.Empty())
    assert running.result(1)[1].startswith("context canceled")


def test_a_host_that_comes_up_late_is_reached(remote: Client, sshd: Sshd, tmp_path: Path) -> None:
    """A03: its port refuses, and then it does not."""
    port = free_port()
    connection = sshd.connection(port=port, dialErrorLimit=-1)
    inputs = {"create": "echo up", "connection": connection}
    running = remote.calls.submit(remote.create, inputs)
    time.sleep(0.4)
    config = (sshd.folder / "config").read_text().replace(f"Port {sshd.port}", f"Port {port}")
    (tmp_path / "config").write_text(config)
    with subprocess.Popen(["/usr/sbin/sshd", "-D", "-f", str(tmp_path / "config")]) as late:
        assert running.result(10)[1]["stdout"] == "up"
        late.terminate()


def test_a_server_that_says_nothing_is_given_up(
    remote: Client, sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialling, "_HANDSHAKE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connection = sshd.connection(port=silent.getsockname()[1])
        text = fail(remote, sshd, "true", connection=connection)
    assert text == "after 0 failed attempts: ssh: handshake failed: no answer within 0.3 s"


def test_cancel_ends_an_attempt(remote: Client, sshd: Sshd) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connection = sshd.connection(port=silent.getsockname()[1])
        inputs = {"create": "true", "connection": connection}
        running = remote.calls.submit(remote.failure, remote.create, inputs)
        peer, _ = silent.accept()
        with peer:
            remote.stub.Cancel(empty_pb2.Empty())
            assert running.result(1)[1] == "context canceled"
            while peer.recv(100):  # ends when the connection is closed
                pass


def test_c29_refused_variable(remote: Client, sshd: Sshd, tmp_path: Path) -> None:
    text = fail(remote, sshd, f"touch {tmp_path}/ran", environment={"FOO": "x"})
    assert not (tmp_path / "ran").exists()
    assert text == 'could not set environment variable "FOO": ssh: setenv failed'
    (message,) = remote.messages
    assert (message.severity, message.ephemeral) == (3, False)
    assert "'FOO'" in message.message


def test_accepted_variable(remote: Client, sshd: Sshd) -> None:
    outputs = run(remote, sshd, "echo $ALLOWED_A", environment={"ALLOWED_A": "x y"})
    assert outputs["stdout"] == "x y"


def test_c30_previous_output_is_no_must(remote: Client, sshd: Sshd) -> None:
    state = {"connection": sshd.connection(), "create": "a", "stdout": "OLD", "stderr": "ERR"}
    update = "echo $PULUMI_COMMAND_STDOUT-$PULUMI_COMMAND_STDERR-"
    outputs = remote.update(state, {"connection": sshd.connection(), "update": update})
    assert outputs["stdout"] == "OLD--"
    assert [message.severity for message in remote.messages if not message.ephemeral] == [2]


def test_c31_exit_status(remote: Client, sshd: Sshd) -> None:
    text = fail(remote, sshd, "echo o; exit 5")
    assert text == 'Process exited with status 5: running "echo o; exit 5":\no\n'


def test_c31_signal(remote: Client, sshd: Sshd) -> None:
    text = fail(remote, sshd, "kill -9 $$")
    assert text == 'Process exited with status 137 from signal KILL: running "kill -9 $$":\n'


def test_c32_refused_proxy(remote: Client, sshd: Sshd) -> None:
    proxy = {"host": "127.0.0.1", "port": 1.0, "dialErrorLimit": 2.0}
    text = fail(remote, sshd, "true", connection=sshd.connection(proxy=proxy))
    assert text == (
        "proxy: after 2 failed attempts: dial tcp 127.0.0.1:1: connect: connection refused"
    )
    assert remote.logs == [f"Dial proxy {n}/2 failed: retrying" for n in (1, 2)]


def test_proxy(remote: Client, sshd: Sshd) -> None:
    proxied = sshd.connection(proxy=sshd.connection())
    outputs = remote.create({"create": "echo $SSH_CONNECTION", "connection": proxied})[1]
    assert outputs["stdout"].endswith(f"127.0.0.1 {sshd.port}")


def test_target_refused_behind_proxy(remote: Client, sshd: Sshd) -> None:
    connection = sshd.connection(port=1, dialErrorLimit=1, proxy=sshd.connection())
    text = fail(remote, sshd, "true", connection=connection)
    assert re.match(r"proxy: after 1 failed attempts: .*\(.*[Rr]efused\)", text)
    assert remote.logs == ["Dial from proxy 1/1 failed: retrying"]


@pytest.fixture
def agent(sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    path = tmp_path / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", str(path)], stdout=subprocess.DEVNULL) as agent:
        while not path.exists():
            time.sleep(0.01)
        environment = {**os.environ, "SSH_AUTH_SOCK": str(path)}
        key = str(sshd.folder / "client")
        subprocess.run(["ssh-add", "-q", key], env=environment, check=True)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        yield str(path)
        agent.terminate()


@pytest.mark.usefixtures("agent")
def test_c33_agent(remote: Client, sshd: Sshd, tmp_path: Path) -> None:
    with_agent = sshd.connection()
    del with_agent["privateKey"]
    assert remote.create({"create": "echo in", "connection": with_agent})[1]["stdout"] == "in"
    keygen(tmp_path / "wrong")
    wrong = sshd.connection(privateKey=(tmp_path / "wrong").read_text())
    assert "ssh: handshake failed" in fail(remote, sshd, "true", connection=wrong)


def test_agent_that_is_not_there(remote: Client, sshd: Sshd) -> None:
    connection = sshd.connection(agentSocketPath="/nope/agent")
    del connection["privateKey"]
    text = fail(remote, sshd, "true", connection=connection)
    assert text == "dial unix /nope/agent: no such file or directory"


@pytest.mark.parametrize("name", ["host_ed25519", "host_rsa"])
def test_pinned_host_key(remote: Client, sshd: Sshd, name: str) -> None:
    line = sshd.key(f"{name}.pub")
    for host_key in (line, f"[127.0.0.1]:{sshd.port} {line}"):
        connection = sshd.connection(hostKey=host_key)
        outputs = remote.create({"create": "echo in", "connection": connection})[1]
        assert outputs["stdout"] == "in"


@pytest.mark.parametrize("kind", ["ed25519", "rsa", "ecdsa"])
def test_wrong_host_key(remote: Client, sshd: Sshd, tmp_path: Path, kind: str) -> None:
    keygen(tmp_path / "other", kind)
    connection = sshd.connection(hostKey=(tmp_path / "other.pub").read_text())
    assert "ssh: handshake failed" in fail(remote, sshd, "true", connection=connection)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("rsa", "RFC4716"),
        ("rsa", "PKCS8"),
        ("rsa", "PEM"),
        ("ecdsa", "RFC4716"),
        ("ecdsa", "PKCS8"),
        ("ecdsa", "PEM"),
        ("ed25519", "RFC4716"),
    ],
)
def test_key_formats(remote: Client, sshd: Sshd, tmp_path: Path, kind: str, form: str) -> None:
    keygen(tmp_path / "key", kind, "-m", form)
    with (sshd.folder / "authorized_keys").open("a") as file:
        file.write((tmp_path / "key.pub").read_text())
    connection = sshd.connection(privateKey=(tmp_path / "key").read_text())
    outputs = remote.create({"create": "echo in", "connection": connection})[1]
    assert outputs["stdout"] == "in"


def test_encrypted_key(remote: Client, sshd: Sshd, tmp_path: Path) -> None:
    key = tmp_path / "key"
    key.write_text(sshd.key("client"))
    key.chmod(0o600)
    subprocess.run(["ssh-keygen", "-q", "-p", "-N", "secret", "-f", str(key)], check=True)
    encrypted = key.read_text()

    def attempt(**members: str) -> Inputs:
        return {"create": "echo in", "connection": sshd.connection(**members)}

    good = attempt(privateKey=encrypted, privateKeyPassword="secret")
    assert remote.create(good)[1]["stdout"] == "in"
    for members, reason in (
        ({"privateKey": encrypted}, "ssh: this private key is passphrase protected"),
        (
            {"privateKey": encrypted, "privateKeyPassword": "wrong"},
            "x509: decryption password incorrect",
        ),
        ({"privateKeyPassword": "surplus"}, "ssh: key is not password protected"),
        ({"privateKey": "junk"}, "ssh: no key found"),
        ({"hostKey": "junk"}, "failed to parse host key: ssh: no key found"),
    ):
        assert remote.failure(remote.create, attempt(**members))[1] == reason


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks into Linux's table")
def test_connections_are_closed(remote: Client, sshd: Sshd) -> None:
    for _ in range(3):
        run(remote, sshd, "true")
    for _ in range(50):
        if not established(sshd.port):
            return
        time.sleep(0.1)
    pytest.fail("connections are still open")


def established(port: int) -> bool:
    """Linux lists connections with hexadecimal ports, and state 01 for established."""
    table = Path("/proc/net/tcp").read_text()
    return re.search(rf" [0-9A-F]{{8}}:{port:04X} [0-9A-F:]+ 01 ", table) is not None


def test_many_at_once(remote: Client, sshd: Sshd) -> None:
    runs = [remote.calls.submit(run, remote, sshd, f"echo {i}") for i in range(15)]
    assert [future.result()["stdout"] for future in runs] == [str(i) for i in range(15)]
