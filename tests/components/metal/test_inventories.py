"""Hosts from files of other tools: each format says the same, and what is wrong is told."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.components.metal.cases import (
    HERE,
    HOST_KEY,
    Raw,
    good,
    host,
    keys,
    private_key,
    problems,
    public_key,
)

KEYS = {name: public_key(name) for name in ("m1", "n1", "n2", "jump")}
KNOWN = f"""\
192.0.2.11 {KEYS["m1"]}
192.0.2.21 {KEYS["n1"]}
[192.0.2.22]:2222 {KEYS["n2"]}
[203.0.113.5]:2200 {KEYS["jump"]}
"""
COMMON = {"user": "operator", "keyFile": "~/.ssh/cluster"}
# What every file of this folder says.
HOSTS: list[Raw] = [
    {
        **COMMON,
        "name": "m1",
        "role": "master",
        "address": "192.0.2.11",
        "internalAddress": "10.0.0.11",
    },
    {
        **COMMON,
        "name": "n1",
        "role": "node",
        "address": "192.0.2.21",
        "internalAddress": "10.0.0.21",
    },
    {
        **COMMON,
        "name": "n2",
        "role": "node",
        "address": "192.0.2.22",
        "internalAddress": "10.0.0.22",
        "port": 2222,
        "user": "beth",
        "pool": "big",
        "labels": {"example.com/rack": "b"},
    },
]
BASTION = {"address": "203.0.113.5", "port": 2200, "user": "gate", "keyFile": "~/.ssh/cluster"}
FILES = {
    "inventory.ini": "ansible",
    "inventory.yaml": "ansible",
    "inventory.json": "ansible",
    "outputs.json": "terraform",
    "terraform.tfstate": "terraform",
}


@pytest.fixture
def known(home: Path) -> Path:
    """Who is known to the person at this home, whose key is there."""
    (home / ".ssh" / "cluster").write_text(private_key())
    (home / ".ssh" / "known_hosts").write_text(KNOWN)
    return home


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("file", FILES)
def test_every_format_says_the_same(file: str) -> None:
    read = good(keys(inventory={FILES[file]: str(HERE / file)}))
    written = good(keys(*HOSTS, bastion=BASTION))
    assert read == written
    assert read.hosts == written.hosts
    assert [spec.name for spec in read.hosts] == ["m1", "n2", "n1"]
    assert read.metal.bastion is not None
    assert read.metal.bastion.host_key == KEYS["jump"]
    assert [each.host_key for each in read.metal.hosts] == [KEYS["m1"], KEYS["n1"], KEYS["n2"]]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("file", FILES)
def test_the_config_wins_over_the_file(file: str) -> None:
    bastion = {"address": "other.example.com", "hostKey": HOST_KEY}
    config = good(
        keys(inventory={FILES[file]: str(HERE / file)}, bastion=bastion, apiHost="api.example.com")
    )
    assert config.metal.bastion is not None
    assert config.metal.bastion.address == "other.example.com"
    assert config.metal.api_host == "api.example.com"


PLACES = {
    "inventory.ini": ("host n2, ansible_user", "host m1, ip", "host jump.hostKey"),
    "inventory.yaml": ("host n2, ansible_user", "host m1, ip", "host jump.hostKey"),
    "inventory.json": ("host n2, ansible_user", "host m1, ip", "host jump.hostKey"),
    "outputs.json": (
        "kubernetes_anywhere_hosts[2].user",
        "kubernetes_anywhere_hosts[0].internalAddress",
        "kubernetes_anywhere_bastion.hostKey",
    ),
    "terraform.tfstate": (
        'kubernetes_anywhere_hosts["n2"].user',
        'kubernetes_anywhere_hosts["m1"].internalAddress',
        "kubernetes_anywhere_bastion.hostKey",
    ),
}


@pytest.mark.parametrize("file", FILES)
def test_a_problem_names_the_file_and_the_place_in_it(
    file: str, known: Path, tmp_path: Path
) -> None:
    """Problems of the form, and of what it comes to, all at once."""
    text = (HERE / file).read_text().replace("beth", "Beth").replace("10.0.0.11", "10.0.0.999")
    copy = tmp_path / file
    copy.write_text(text)
    (known / ".ssh" / "known_hosts").write_text("\n".join(KNOWN.splitlines()[:3]))
    found = problems(keys(inventory={FILES[file]: str(copy)}, more={"region": "eu"}))
    assert set(found) == {"region", *(f"{copy}: {place}" for place in PLACES[file])}
    user, internal, key = (found[f"{copy}: {place}"] for place in PLACES[file])
    assert user.value == "Beth"
    assert internal.message == "is not an IPv4 address"
    assert "203.0.113.5 port 2200" in key.message
    assert "hunter2" not in str(list(found.values())), "another output's value"


def test_a_path_is_relative_to_the_program(known: Path) -> None:
    assert known
    relative = (HERE / "outputs.json").relative_to(Path.cwd())
    assert len(good(keys(inventory={"terraform": str(relative)})).hosts) == 3


@pytest.mark.parametrize("tool", ["terraform", "ansible"])
def test_a_file_that_cannot_be_read(tool: str, tmp_path: Path) -> None:
    """What it would have said is not blamed: neither counts nor ranges."""
    more = {"masters": {"count": 3}, "network": {"podCidr": "172.30.0.0/16"}}
    for path, words in {
        tmp_path / "none": f"is not there: no file {tmp_path / 'none'}",
        tmp_path: "cannot be read: Is a directory",
    }.items():
        (problem,) = problems(keys(inventory={tool: str(path)}, more=more)).values()
        assert (problem.path, problem.value) == (f"metal.inventory.{tool}", str(path))
        assert problem.message == words
        assert problem.remedy == "write a file that is there and may be read"


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    (problem,) = problems(keys(inventory={"ansible": str(tmp_path / "x")})).values()
    assert problem.message == "is no text"


@pytest.mark.parametrize("folders", [["group_vars"], ["host_vars"], ["group_vars", "host_vars"]])
def test_variables_beside_an_inventory_are_not_overlooked(
    folders: list[str], known: Path, tmp_path: Path
) -> None:
    assert known
    for name in ("inventory.ini", "inventory.json"):
        shutil.copy(HERE / name, tmp_path)
    for name in folders:
        (tmp_path / name).mkdir()
    path = str(tmp_path / "inventory.ini")
    (problem,) = problems(keys(inventory={"ansible": path})).values()
    assert (problem.path, problem.value) == ("metal.inventory.ansible", path)
    assert problem.message.startswith(f"has {' and '.join(folders)} beside it")
    assert "ansible-inventory -i INVENTORY --list" in problem.remedy
    # Ansible has put them together already.
    assert len(good(keys(inventory={"ansible": str(tmp_path / "inventory.json")})).hosts) == 3


# Terraform.


def output(value: Any, **more: Any) -> Raw:
    return {"sensitive": False, "type": "string", "value": value, **more}


def terraform(document: Any, tmp_path: Path, **metal: Any) -> Raw:
    file = tmp_path / "outputs.json"
    file.write_text(document if isinstance(document, str) else json.dumps(document))
    return keys(inventory={"terraform": str(file)}, **metal)


GIVEN = [host("m1", "master"), host("n1")]
AGAIN = "terraform output -json >outputs.json"
# (the document, what is said, the remedy)
BAD_OUTPUTS: dict[str, tuple[Any, str, str]] = {
    "no-json": ("{", "the file: is no JSON: ", AGAIN),
    "list": ([], "the file: has no outputs by name", AGAIN),
    "values-without-outputs": ({"hosts": GIVEN}, "the file: is neither the outputs nor a", AGAIN),
    "old-state": ({"version": 3, "modules": []}, "the file: is a state of version 3, not 4", AGAIN),
    "state-without-outputs": ({"version": 4}, "the file: is neither the outputs nor a", AGAIN),
    "encrypted": (
        {"serial": 1, "meta": {}, "encrypted_data": "AAAA", "encryption_version": "v0"},
        "the file: is an encrypted state",
        AGAIN,
    ),
    "show": (
        {"format_version": "1.0", "terraform_version": "1.9.8", "values": {"outputs": {}}},
        "the file: is what `terraform show -json` prints",
        AGAIN,
    ),
    "none-yet": (
        {},
        "the output kubernetes_anywhere_hosts: is missing: it has no outputs",
        "add `output kubernetes_anywhere_hosts`",
    ),
    "others-only": (
        {"vpc": output("vpc-1"), "hosts": output(GIVEN)},
        "the output kubernetes_anywhere_hosts: is missing: its outputs are hosts, vpc",
        "docs/metal.md",
    ),
    "text": (
        {"kubernetes_anywhere_hosts": output("m1")},
        "the output kubernetes_anywhere_hosts: is neither a list nor a map of hosts",
        "make it a list of objects",
    ),
    "sensitive": (
        {"kubernetes_anywhere_hosts": output(GIVEN, sensitive=True)},
        "the output kubernetes_anywhere_hosts: is sensitive",
        "wrap its value in nonsensitive()",
    ),
    "sensitive-bastion": (
        {
            "kubernetes_anywhere_hosts": output(GIVEN),
            "kubernetes_anywhere_bastion": output(
                {"address": "b", "host_key": HOST_KEY}, sensitive=True
            ),
        },
        "the output kubernetes_anywhere_bastion: is sensitive",
        "wrap its value in nonsensitive()",
    ),
}


@pytest.mark.parametrize(("document", "message", "remedy"), BAD_OUTPUTS.values(), ids=BAD_OUTPUTS)
def test_bad_outputs(document: Any, message: str, remedy: str, tmp_path: Path) -> None:
    (problem,) = problems(terraform(document, tmp_path)).values()
    assert problem.path == "metal.inventory.terraform"
    assert problem.value == str(tmp_path / "outputs.json")
    assert message in problem.message
    assert remedy in problem.remedy


@pytest.mark.parametrize("name", ["version", "format_version", "encrypted_data", "outputs"])
def test_an_output_may_have_any_name(name: str, tmp_path: Path) -> None:
    document = {"kubernetes_anywhere_hosts": output(GIVEN), name: output("x")}
    assert len(good(terraform(document, tmp_path)).hosts) == 2


def test_what_the_config_says_is_not_asked_of_the_outputs(tmp_path: Path) -> None:
    document = {
        "kubernetes_anywhere_hosts": output(GIVEN),
        "kubernetes_anywhere_bastion": output({"address": "b"}, sensitive=True),
    }
    raw = terraform(document, tmp_path, bastion={"address": "c", "hostKey": HOST_KEY})
    bastion = good(raw).metal.bastion
    assert bastion is not None
    assert bastion.address == "c"


def test_keys_of_outputs_have_underscores_or_not(tmp_path: Path) -> None:
    node = {**host("n1"), "internal_address": "10.0.0.9", "hostKey": None, "host_key": HOST_KEY}
    document = {
        "kubernetes_anywhere_hosts": output([GIVEN[0], node]),
        "kubernetes_anywhere_api_host": output("api.example.com"),
        "kubernetes_anywhere_bastion": output(None),
    }
    metal = good(terraform(document, tmp_path)).metal
    assert metal.hosts[1].internal_address == "10.0.0.9"
    assert metal.hosts[1].host_key == HOST_KEY
    assert metal.api_host == "api.example.com"
    assert metal.bastion is None


def test_a_map_s_keys_are_names_unless_the_objects_have_some(tmp_path: Path) -> None:
    nameless = {key: value for key, value in GIVEN[1].items() if key != "name"}
    document = {"kubernetes_anywhere_hosts": output({"a": GIVEN[0], "b": nameless})}
    assert [each.name for each in good(terraform(document, tmp_path)).hosts] == ["m1", "b"]


def test_what_is_wrong_with_an_output_s_hosts_is_said_as_of_any_host(tmp_path: Path) -> None:
    file = f"{tmp_path / 'outputs.json'}: kubernetes_anywhere"
    document = {
        "kubernetes_anywhere_hosts": output([GIVEN[0], "n1", {**host("n2"), "mac_address": "x"}]),
        "kubernetes_anywhere_api_host": output(7),
    }
    found = problems(terraform(document, tmp_path))
    assert list(found) == [f"{file}_api_host", f"{file}_hosts[1]", f"{file}_hosts[2].macAddress"]
    assert found[f"{file}_hosts[2].macAddress"].message == "is not a known key"
    assert problems(terraform({"kubernetes_anywhere_hosts": output([])}, tmp_path)).keys() == {
        f"{file}_hosts"
    }
