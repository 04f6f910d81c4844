"""Check and Diff of the command types: the golden cases C14 to C22."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2

from airgap.plugins.values import UNKNOWN, Asset, Secret

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.plugins.client import Client, Inputs


DEFAULTS: Inputs = {"port": 22, "user": "root", "dialErrorLimit": 10, "perDialTimeout": 15}
KINDS = provider_pb2.PropertyDiff.Kind


def diff(
    client: Client, old: Inputs, new: Inputs, ignore: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    answer = client.diff(old, new, {**old, "stdout": "", "stderr": ""}, ignore)
    detailed = {path: KINDS.Name(change.kind) for path, change in answer.detailedDiff.items()}
    assert answer.hasDetailedDiff
    assert not any(change.inputDiff for change in answer.detailedDiff.values())
    assert (answer.changes == answer.DIFF_SOME) == bool(answer.diffs) == bool(detailed)
    assert not answer.deleteBeforeReplace
    return detailed, list(answer.replaces)


@pytest.mark.parametrize(
    ("old", "new", "detailed"),
    [
        # C14, C15, C17
        ({"create": "a"}, {"create": "b"}, {"create": "UPDATE"}),
        ({"triggers": [1.0, "x"]}, {"triggers": [1.0, "y"]}, {"triggers[1]": "UPDATE"}),
        (
            {"environment": {"A": "1", "B": "2"}},
            {"environment": {"A": "1"}},
            {"environment.B": "DELETE"},
        ),
        ({"environment": {}}, {"environment": {"a.b": "1"}}, {'environment["a.b"]': "ADD"}),
        ({"interpreter": ["a"]}, {"interpreter": ["a", "b"]}, {"interpreter[1]": "ADD"}),
        ({"triggers": [{"k": 1.0}]}, {"triggers": [{"k": True}]}, {"triggers[0].k": "UPDATE"}),
        ({"stdin": "a"}, {"stdin": Secret("a")}, {"stdin": "UPDATE"}),
        ({"stdin": "a"}, {"stdin": UNKNOWN}, {"stdin": "UPDATE"}),
        ({"stdin": "a"}, {"stdin": "a", "version": "1.2.1", "__x": 1.0}, {}),
        ({"triggers": [1.0, "x"]}, {"triggers": [1.0, "x"]}, {}),
    ],
)
def test_changes_are_updates(
    local: Client, old: Inputs, new: Inputs, detailed: dict[str, str]
) -> None:
    assert diff(local, old, new) == (detailed, [])


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ({}, {"triggers": []}, "ADD_REPLACE"),  # C16
        ({"triggers": []}, {}, "DELETE_REPLACE"),
        ({"triggers": [1.0]}, {"triggers": UNKNOWN}, "UPDATE_REPLACE"),
        ({"triggers": Secret([1.0])}, {"triggers": Secret([2.0])}, "UPDATE_REPLACE"),
    ],
)
def test_c16_triggers_as_a_whole_replace(
    local: Client, old: Inputs, new: Inputs, kind: str
) -> None:
    assert diff(local, old, new) == ({"triggers": kind}, ["triggers"])


def test_c18_connection(remote: Client) -> None:
    old: Inputs = {"host": "a", "port": 22.0}
    new: Inputs = {"host": "b", "port": 22.0}
    secret = diff(remote, {"connection": Secret(old)}, {"connection": Secret(new)})
    assert secret == ({"connection": "UPDATE"}, [])
    plain = diff(remote, {"connection": old}, {"connection": new})
    assert plain == ({"connection.host": "UPDATE"}, [])


def test_ignored_changes(local: Client) -> None:
    old, new = {"create": "a", "stdin": "a"}, {"create": "b", "delete": "d"}
    assert diff(local, old, new, ["create", "stdin", "delete"]) == ({}, [])


def test_assets_are_compared_by_content(copy: Client) -> None:
    def inputs(path: str, digest: str) -> Inputs:
        return {"source": Asset(path=path, hash=digest)}

    assert diff(copy, inputs("a", "1"), inputs("b", "1")) == ({}, [])
    assert diff(copy, inputs("a", "1"), inputs("a", "2")) == ({"source": "UPDATE"}, [])


@pytest.mark.parametrize(
    ("inputs", "path", "reason"),
    [
        # C20
        ({"create": 1.0}, "create", "must be a 'string'; got 'float64' instead"),
        ({"create": True}, "create", "must be a 'string'; got 'bool' instead"),
        ({"environment": {"A": 1.0}}, "environment[A] value", "must be a 'string'"),
        ({"interpreter": "sh"}, "interpreter", "must be a '[]string'; got 'string'"),
        ({"version": "1"}, "version", "Unrecognized field 'version' on 'local.CommandInputs'"),
        ({"connection": {}}, "connection", "Unrecognized field"),
    ],
)
def test_c20_wrong_inputs(local: Client, inputs: Inputs, path: str, reason: str) -> None:
    returned, ((property_, text),) = local.check(inputs)
    assert property_ == path
    assert reason in text
    assert set(returned) == set(inputs)


def test_nulls_are_dropped_and_empties_kept(local: Client) -> None:
    kept = {"create": "", "interpreter": [], "environment": {}, "stdin": UNKNOWN}
    assert local.check({**kept, "update": None}) == (kept, [])


def test_c21_defaults_of_a_connection(remote: Client) -> None:
    inputs, failures = remote.check({"connection": {"host": "h", "port": None}})
    assert failures == []
    assert inputs == {"connection": Secret({"host": "h", **DEFAULTS})}


def test_defaults_do_not_override(remote: Client) -> None:
    given: Inputs = {
        "host": "h",
        "port": 0.0,
        "user": "",
        "dialErrorLimit": 0.0,
        "perDialTimeout": 0.0,
    }
    assert remote.check({"connection": given})[0] == {"connection": Secret(given)}


def test_defaults_of_a_proxy(remote: Client) -> None:
    given: Inputs = {"host": "h", "proxy": {"host": "p", "password": Secret("x")}}
    inputs, failures = remote.check({"connection": Secret(given)})
    assert failures == []
    proxy: Inputs = {"host": "p", "password": Secret("x"), **DEFAULTS}
    assert inputs == {"connection": Secret({"host": "h", "proxy": proxy, **DEFAULTS})}


def test_unknown_connection(remote: Client) -> None:
    assert remote.check({"connection": UNKNOWN}) == ({"connection": Secret(UNKNOWN)}, [])
    assert remote.check({"connection": Secret(UNKNOWN)}) == ({"connection": Secret(UNKNOWN)}, [])


@pytest.mark.parametrize(
    ("inputs", "reason"),
    [
        ({}, "Missing required field 'connection' on 'remote.CommandInputs'"),  # C22
        ({"connection": {}}, "Missing required field 'host' on 'remote.Connection'"),
        ({"connection": {"host": "h", "x": "secret"}}, "Unrecognized field 'x'"),
        ({"connection": {"host": "h", "proxy": {}}}, "Missing required field 'host' on 'remote.Pr"),
    ],
)
def test_c22_wrong_connections(remote: Client, inputs: Inputs, reason: str) -> None:
    _, ((property_, text),) = remote.check(inputs)
    assert property_ == "connection"
    assert reason in text
    assert "secret" not in text


def test_unknown_types_and_calls(command: Client, tls: Client) -> None:
    command.token = "command:local:Nope"
    answer = command.failure(command.check, {})
    assert answer == (grpc.StatusCode.NOT_FOUND, "Resource 'local:Nope' not found")
    tls.token = "tls:index/nope:Nope"
    code, text = tls.failure(tls.check, {})
    assert code is grpc.StatusCode.UNKNOWN
    assert "unknown resource token" in text
    handshake = provider_pb2.ProviderHandshakeRequest()
    unimplemented = grpc.StatusCode.UNIMPLEMENTED
    assert command.failure(command.stub.Handshake, handshake)[0] is unimplemented


def test_provider(command: Client, tls: Client) -> None:
    empty = empty_pb2.Empty()
    assert command.stub.GetPluginInfo(empty).version == "1.2.1"
    assert tls.stub.GetPluginInfo(empty).version == "5.6.2"
    answer = command.stub.Configure(provider_pb2.ConfigureRequest())
    assert answer.acceptSecrets
    assert answer.acceptResources
    assert answer.acceptOutputs
    assert answer.supportsPreview
    request = provider_pb2.CheckRequest(urn="u")
    request.news["version"] = "5.6.2"
    answer = tls.stub.CheckConfig(request)
    assert (dict(answer.inputs), list(answer.failures)) == ({"version": "5.6.2"}, [])
    request.news["surplus"] = "x"
    assert len(tls.stub.CheckConfig(request).failures) == 1
    assert len(command.stub.CheckConfig(request).failures) == 0
