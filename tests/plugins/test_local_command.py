"""local.Command: the golden cases C1 to C27 that concern it, and C40."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf import empty_pb2

from airgap.plugins.values import UNKNOWN, Asset, Secret

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.client import Client, Inputs


OLD = {"create": "echo a", "stdout": "OLD", "stderr": "ERR"}


def test_c1_both_streams_are_kept_and_shown(local: Client) -> None:
    identity, outputs = local.create({"create": "echo a; echo b >&2"})
    assert re.fullmatch(r"foo[0-9a-f]{8}", identity)
    assert outputs == {"create": "echo a; echo b >&2", "stdout": "a", "stderr": "b"}
    assert sorted(local.logs) == ["a", "b"]
    assert {(m.severity, m.ephemeral, m.urn, m.streamId) for m in local.messages} == {
        (1, True, local.urn, 0)
    }


def test_c2_one_newline_is_cut(local: Client) -> None:
    _, outputs = local.create({"create": r"printf 'x\n\n'"})
    assert outputs["stdout"] == "x\n"
    assert local.logs == ["x", ""]


def test_c3_nothing_to_run(local: Client) -> None:
    _, outputs = local.create({})
    assert outputs == {"stdout": "", "stderr": ""}
    assert local.logs == []


def test_c4_failure_tells_command_and_output(local: Client) -> None:
    code, text = local.failure(local.create, {"create": "echo o; sleep 0.1; echo e >&2; exit 4"})
    assert code is grpc.StatusCode.UNKNOWN
    assert text == 'exit status 4: running "echo o; sleep 0.1; echo e >&2; exit 4":\no\ne\n'


def test_a_secret_command_is_not_shown(local: Client) -> None:
    _, text = local.failure(local.create, {"create": Secret("exit 4 # hunter2")})
    assert text == "exit status 4: running [secret]:\n"


def test_c5_empty_stdin_is_none(local: Client) -> None:
    assert local.create({"create": "cat; echo done", "stdin": ""})[1]["stdout"] == "done"


def test_stdin(local: Client) -> None:
    assert local.create({"create": "cat", "stdin": "a\nb\n"})[1]["stdout"] == "a\nb"


def test_stdin_that_nobody_reads(local: Client) -> None:
    assert local.create({"create": "exec true", "stdin": "x" * 1_000_000})[1]["stdout"] == ""


def test_c6_interpreter(local: Client) -> None:
    inputs = {"interpreter": ["python3", "-c"], "create": "print(1+1)"}
    assert local.create(inputs)[1]["stdout"] == "2"


def test_empty_interpreter_is_the_shell(local: Client) -> None:
    assert local.create({"interpreter": [], "create": "echo $0"})[1]["stdout"] == "/bin/sh"


def test_c7_no_such_directory(local: Client) -> None:
    _, text = local.failure(local.create, {"create": "pwd", "dir": "/nope"})
    assert text == 'chdir /nope: no such file or directory: running "pwd":\n'


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("nopenope", 'exec: "nopenope": executable file not found in $PATH'),
        ("/nope/x", "fork/exec /nope/x: no such file or directory"),
        ("/etc/passwd", "fork/exec /etc/passwd: permission denied"),
    ],
)
def test_no_such_program(local: Client, program: str, reason: str) -> None:
    _, text = local.failure(local.create, {"create": "a", "interpreter": [program]})
    assert text == f'{reason}: running "a":\n'


def test_directory(local: Client, tmp_path: Path) -> None:
    assert local.create({"create": "pwd", "dir": str(tmp_path)})[1]["stdout"] == str(tmp_path)


def test_c8_previous_output_prevails(local: Client) -> None:
    inputs = {
        "create": "echo $PULUMI_COMMAND_STDOUT",
        "environment": {"PULUMI_COMMAND_STDOUT": "given"},
    }
    assert local.create(inputs)[1]["stdout"] == "given"
    assert local.update(OLD, inputs)["stdout"] == "OLD"


def test_c9_update_without_update_runs_create(local: Client) -> None:
    create = "echo new $PULUMI_COMMAND_STDOUT $PULUMI_COMMAND_STDERR"
    outputs = local.update(OLD, {"create": create})
    assert outputs == {"create": create, "stdout": "new OLD ERR", "stderr": ""}


def test_c10_previous_output_may_be_off(local: Client) -> None:
    inputs = {
        "create": "exit 1",
        "update": "echo upd-$PULUMI_COMMAND_STDOUT-",
        "addPreviousOutputInEnv": False,
    }
    assert local.update(OLD, inputs)["stdout"] == "upd--"


def test_c11_empty_previous_output_is_not_set(local: Client) -> None:
    inputs = {"update": "env | grep -c PULUMI_COMMAND_STDERR; true"}
    assert local.update({**OLD, "stderr": ""}, inputs)["stdout"] == "0"


def test_c12_nothing_to_update_with(local: Client) -> None:
    outputs = local.update(OLD, {"triggers": [1.0]})
    assert outputs == {"triggers": [1.0], "stdout": "OLD", "stderr": "ERR"}
    assert local.logs == []


@pytest.mark.parametrize(
    ("inputs", "stdout"),
    [
        ({"create": "echo b", "stdin": "s"}, UNKNOWN),
        ({"create": "echo a", "stdin": "s", "delete": "echo"}, "OLD"),
        ({"create": "echo a"}, UNKNOWN),
        ({"create": UNKNOWN, "stdin": "s"}, UNKNOWN),
    ],
)
def test_c13_preview_of_update(local: Client, inputs: Inputs, stdout: object) -> None:
    outputs = local.update({**OLD, "stdin": "s"}, inputs, preview=True)
    assert outputs["stdout"] == stdout
    assert local.logs == []


def test_preview_of_create(local: Client) -> None:
    identity, outputs = local.create({"create": "exit 1"}, preview=True)
    assert identity.startswith("foo")
    assert outputs == {"create": "exit 1", "stdout": UNKNOWN, "stderr": UNKNOWN}


def test_c19_removed_delete_runs_create_again(local: Client) -> None:
    outputs = local.update({**OLD, "delete": "echo x"}, {"create": "echo again"})
    assert outputs == {"create": "echo again", "stdout": "again", "stderr": ""}


FILES = ["assets/logos/logo.svg", "src/index.js", "src/secret.js", "src/sub/x.js", "src/.hidden"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in FILES:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        # C23, C24
        (
            ["assets/**", "src/**.js", "!**secret.*"],
            ["assets/logos/logo.svg", "src/index.js", "src/sub/x.js"],
        ),
        (["src/**/*.js"], ["src/sub/x.js"]),
        (["!**", "src/index.js"], ["src/index.js"]),
        (["src/[a-i]*.{js,ts}"], ["src/index.js"]),
        (["src/[!a-i]*.js"], ["src/secret.js"]),
        (["src/*"], ["src/.hidden", "src/index.js", "src/secret.js"]),
        (["./src/index.js"], []),
        ([], []),
    ],
)
def test_c23_c24_asset_patterns(
    local: Client, tree: Path, patterns: list[str], found: list[str]
) -> None:
    _, outputs = local.create({"create": "true", "dir": str(tree), "assetPaths": patterns})
    assert sorted(outputs["assets"]) == found
    for name, asset in outputs["assets"].items():
        assert asset.path == str(tree / name)


def test_archive(local: Client, tree: Path) -> None:
    inputs = {"create": "true", "dir": str(tree), "archivePaths": ["src/*.js"]}
    archive = local.create(inputs)[1]["archive"]
    assert isinstance(archive, Asset)
    assert archive.archive
    assert sorted(archive.assets or {}) == ["src/index.js", "src/secret.js"]


def test_bad_pattern(local: Client, tree: Path) -> None:
    inputs = {"create": "true", "dir": str(tree), "assetPaths": ["src/[a"]}
    assert "unexpected end of input" in local.failure(local.create, inputs)[1]


def test_c25_lines_are_shown_when_complete(local: Client) -> None:
    local.create({"create": "printf a; sleep 0.3; printf 'b\\n'; sleep 0.3; printf tail"})
    (first, line), (second, tail) = local.engine.messages
    assert (line.message, tail.message) == ("ab", "tail")
    assert second - first > 0.2


def test_c26_waits_for_children_that_hold_the_output(local: Client) -> None:
    began = time.monotonic()
    _, outputs = local.create({"create": "(sleep 0.5; echo late) & echo now"})
    assert outputs["stdout"] == "now\nlate"
    assert time.monotonic() - began >= 0.5


def test_c27_timeout_kills(local: Client) -> None:
    began = time.monotonic()
    _, text = local.failure(local.create, {"create": "exec sleep 5"}, timeout=0.3)
    assert text == 'signal: killed: running "exec sleep 5":\n'
    assert time.monotonic() - began < 2


def test_cancel_kills_and_then_refuses(local: Client) -> None:
    running = local.calls.submit(local.failure, local.create, {"create": "echo up; exec sleep 5"})
    while not local.logs:
        time.sleep(0.01)
    local.stub.Cancel(empty_pb2.Empty())
    assert running.result(2)[1] == 'signal: killed: running "echo up; exec sleep 5":\nup\n'
    assert local.failure(local.create, {})[0] is grpc.StatusCode.CANCELLED
    assert local.stub.GetPluginInfo(empty_pb2.Empty()).version == "1.2.1"


def test_c39_failing_delete(local: Client) -> None:
    code, text = local.failure(local.delete, {**OLD, "delete": "exit 5"})
    assert (code, text) == (grpc.StatusCode.UNKNOWN, 'exit status 5: running "exit 5":\n')


def test_delete_uses_the_state(local: Client, tmp_path: Path) -> None:
    file = tmp_path / "file"
    state = {**OLD, "delete": "echo $A $PULUMI_COMMAND_STDOUT > $F"}
    local.delete({**state, "environment": {"A": "a", "F": str(file)}})
    assert file.read_text() == "a OLD\n"


def test_c40_secrets_stay_where_they_are(local: Client) -> None:
    inputs = {
        "create": Secret("echo $X$Y"),
        "environment": {"X": Secret("x"), "Y": "y"},
        "triggers": [Secret(1.0), 2.0],
    }
    checked, failures = local.check(inputs)
    assert not failures
    assert checked == inputs
    assert local.create(checked)[1] == {**inputs, "stdout": "xy", "stderr": ""}


@pytest.mark.parametrize(
    ("logging", "shown"),
    [
        (None, ["e", "o"]),
        ("stdout", ["o"]),
        ("stderr", ["e"]),
        ("stdoutAndStderr", ["e", "o"]),
        ("none", []),
        ("whatever", []),
    ],
)
def test_logging_filters_the_log_only(local: Client, logging: str | None, shown: list[str]) -> None:
    inputs = {"create": "echo o; echo e >&2", **({"logging": logging} if logging else {})}
    _, outputs = local.create(inputs)
    assert (outputs["stdout"], outputs["stderr"]) == ("o", "e")
    assert sorted(local.logs) == shown


def test_a_very_long_line_does_not_hang(local: Client) -> None:
    _, outputs = local.create({"create": "head -c 300000 /dev/zero | tr '\\0' x"})
    assert outputs["stdout"] == "x" * 300_000
    assert local.logs == ["x" * 300_000]


def test_output_that_is_no_text(local: Client) -> None:
    code, _ = local.failure(local.create, {"create": r"printf '\377'"})
    assert code is grpc.StatusCode.INTERNAL


def test_read_changes_nothing(local: Client) -> None:
    assert local.read(OLD) == OLD


def test_many_run_at_once(local: Client) -> None:
    began = time.monotonic()
    runs = [local.calls.submit(local.create, {"create": f"sleep 0.5; echo {i}"}) for i in range(8)]
    assert [run.result()[1]["stdout"] for run in runs] == [str(i) for i in range(8)]
    assert time.monotonic() - began < 3
