"""What the local platform asks of Docker, without a Docker engine."""

from __future__ import annotations

import dataclasses
import json
import sys
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any

import pytest

from components.local import docker as program
from components.local.containers import balancers, containers, engine, machines, networks
from components.local.containers.networks import NetworkState, free_address, host_routes, overlap
from components.local.containers.privileges import CAPABILITIES, capabilities, options
from components.local.containers.requests import (
    BalancerRequest,
    MachineRequest,
    MirrorRequest,
    NetworkRequest,
    parse,
)
from components.local.containers.resolvers import machine_name_servers, name_servers, upstream
from components.local.containers.shell import CommandError, run

GOLDEN = Path(__file__).parent / "golden"
SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n"
NETWORK = NetworkState(
    name="demo",
    cidr=IPv4Network("172.30.0.0/29"),
    gateway=IPv4Address("172.30.0.1"),
    internal=True,
    labels={engine.CLUSTER: "demo"},
    taken=frozenset({IPv4Address("172.30.0.2")}),
)
MACHINE = MachineRequest(
    name="demo-master-0",
    network="demo",
    image="kubernetes-anywhere/machine:0123",
    authorized_key="ssh-ed25519 AAAA login",
    host_key_private=SECRET,
    host_key_public="ssh-ed25519 AAAA host",
    memory="2g",
    cpus="1.5",
    cpu_shares="4096",
)
STATUS = "Name:\tpython\nCapBnd:\t{:016x}\n"
ALL = (1 << 41) - 1


def machine_spec(request: MachineRequest = MACHINE) -> containers.Spec:
    return containers.Spec(
        request=request,
        role="machine",
        port=22,
        options=lambda network, address: machines.options(request, network, address),
        files=machines.key_files(request),
        volume_path="/var",
    )


@pytest.fixture
def known_computer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        machines,
        "machine_options",
        lambda *, in_vm: options(STATUS.format(ALL & ~(1 << 24)), modules=not in_vm),
    )


class TestArguments:
    @pytest.mark.usefixtures("known_computer")
    def test_machine_is_as_recorded(self) -> None:
        found = containers.create_arguments(
            machine_spec(), NETWORK, IPv4Address("172.30.0.3"), None
        )
        assert "\n".join([*found, ""]) == (GOLDEN / "create-machine.txt").read_text()

    @pytest.mark.usefixtures("known_computer")
    def test_no_key_is_an_argument(self) -> None:
        found = containers.create_arguments(
            machine_spec(), NETWORK, IPv4Address("172.30.0.3"), None
        )
        assert "canary" not in " ".join(found)
        assert "AAAA" not in " ".join(found)
        assert "canary" not in repr(machine_spec())

    @pytest.mark.usefixtures("known_computer")
    def test_port_is_published_on_the_loopback_address_only(self) -> None:
        found = containers.create_arguments(
            machine_spec(), NETWORK, IPv4Address("172.30.0.3"), 40022
        )
        assert found[found.index("--publish") + 1] == "127.0.0.1:40022:22"

    def test_private_key_is_its_owners_alone(self) -> None:
        modes = {path: mode for path, (mode, _) in machines.key_files(MACHINE).items()}
        assert modes == {
            "/root/.ssh/authorized_keys": 0o600,
            "/etc/ssh/ssh_host_ed25519_key": 0o600,
            "/etc/ssh/ssh_host_ed25519_key.pub": 0o644,
        }

    def test_no_limits_unless_asked(self) -> None:
        request = parse(MachineRequest, {**json_machine(), "memory": None})
        assert machines.limits(request) == []


class TestHaproxy:
    def test_config_is_as_recorded(self) -> None:
        config = balancers.haproxy_config(6443, ["172.30.0.10", "172.30.0.9", "172.30.0.10"])
        assert config == (GOLDEN / "haproxy.cfg").read_text()

    def test_backends_may_come_later(self) -> None:
        assert "    server " not in balancers.haproxy_config(6443, [])


class TestCapabilities:
    def test_names_are_the_kernels(self) -> None:
        assert CAPABILITIES.index("SYS_ADMIN") == 21
        assert CAPABILITIES.index("AUDIT_READ") == 37

    def test_all_when_none_is_missing(self) -> None:
        assert capabilities(STATUS.format(ALL)) == ["ALL"]

    def test_missing_one_is_left_out(self) -> None:
        found = capabilities(STATUS.format(ALL & ~(1 << 24)))
        assert "SYS_RESOURCE" not in found
        assert len(found) == len(CAPABILITIES) - 1

    def test_all_when_the_engine_is_on_another_kernel(self) -> None:
        assert capabilities("") == ["ALL"]


class TestAddresses:
    def test_first_free_one(self) -> None:
        pinned = [IPv4Address("172.30.0.3"), IPv4Address("172.30.0.5")]
        assert free_address(NETWORK, pinned) == IPv4Address("172.30.0.4")

    def test_full_network_names_the_key_to_change(self) -> None:
        with pytest.raises(CommandError, match=r"network\.hostCidr"):
            free_address(NETWORK, NETWORK.cidr.hosts())

    def test_overlap_is_told_in_words(self) -> None:
        others = [
            ("the Docker network a", IPv4Network("172.29.0.0/16")),
            ("the Docker network b", IPv4Network("172.30.0.0/16")),
        ]
        assert overlap(NETWORK.cidr, others) == "the Docker network b (172.30.0.0/16)"

    def test_default_route_is_no_overlap(self) -> None:
        assert overlap(NETWORK.cidr, [("eth0", IPv4Network("0.0.0.0/0"))]) is None

    def test_routes_of_the_kernel(self) -> None:
        table = (
            "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
            "eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
            "br-1\t00001EAC\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
        )
        assert host_routes(table) == [
            ("this computer's route through eth0", IPv4Network("0.0.0.0/0")),
            ("this computer's route through br-1", IPv4Network("172.30.0.0/24")),
        ]

    @pytest.mark.parametrize("cidr", ["172.30.0.1/24", "x"])
    def test_wrong_network_names_the_key_to_change(self, cidr: str) -> None:
        with pytest.raises(CommandError, match=r"network\.hostCidr"):
            networks.create_network(NetworkRequest(name="demo", cidr=cidr))


class TestResolvers:
    def test_loopback_is_of_no_use_to_others(self) -> None:
        text = "# stub\nnameserver 127.0.0.53\nnameserver ::1\nnameserver 192.0.2.1 # x\nsearch a\n"
        assert name_servers(text) == ["192.0.2.1"]

    def test_stub_names_its_servers_elsewhere(self, tmp_path: Path) -> None:
        stub, real = tmp_path / "stub", tmp_path / "real"
        stub.write_text("nameserver 127.0.0.53\n")
        real.write_text("nameserver 192.0.2.53\n")
        assert upstream((stub, real)) == ["192.0.2.53"]
        assert upstream((stub, tmp_path / "missing")) == []

    def test_machine_without_a_way_out_asks_itself(self) -> None:
        assert machine_name_servers(NETWORK, IPv4Address("172.30.0.3"), "") == ["172.30.0.3"]


def json_machine() -> dict[str, object]:
    return {
        "name": "a",
        "network": "n",
        "image": "i",
        "authorizedKey": "k",
        "hostKeyPrivate": SECRET,
        "hostKeyPublic": "p",
    }


class TestRequests:
    def test_json_names(self) -> None:
        assert parse(MachineRequest, json_machine()).host_key_private == SECRET

    def test_all_problems_at_once_and_no_value(self) -> None:
        wrong = {**json_machine(), "image": 5, "netwrok": SECRET, "labels": {"a": 1}}
        del wrong["network"]
        with pytest.raises(CommandError) as error:
            parse(MachineRequest, wrong)
        for words in (
            "netwrok is not known",
            "network is missing",
            "image is not",
            "labels is not",
        ):
            assert words in str(error.value)
        assert "canary" not in str(error.value)

    def test_every_field_can_be_parsed(self) -> None:
        common = {"name": "a", "network": "n", "image": "i", "cluster": "c", "labels": {"a": "b"}}
        balancer = parse(BalancerRequest, {**common, "port": 443, "backends": ["10.0.0.1"]})
        assert (balancer.port, balancer.backends) == (443, ["10.0.0.1"])
        assert (
            parse(MirrorRequest, {**common, "directory": "d", "nginxConf": "x"}).nginx_conf == "x"
        )
        assert parse(NetworkRequest, {"name": "a", "cidr": "c", "internal": True}).internal

    def test_a_flag_is_no_number(self) -> None:
        with pytest.raises(CommandError, match="port is not a whole number"):
            parse(BalancerRequest, {"name": "a", "network": "n", "image": "i", "port": True})


class TestProgram:
    def run(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verb: str, request: str) -> int:
        stdin = tmp_path / "request"
        stdin.write_text(request)
        monkeypatch.setattr(sys, "argv", ["docker", *verb.split()])
        with stdin.open() as file:
            monkeypatch.setattr(sys, "stdin", file)
            return program.main()

    def test_unknown_verb(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        assert self.run(monkeypatch, tmp_path, "explode", "{}") == 2

    def test_no_json_is_not_shown(
        self,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        assert self.run(monkeypatch, tmp_path, "create-machine", SECRET) == 1
        said = capsys.readouterr()
        assert "no JSON" in said.err
        assert "canary" not in said.err + said.out

    def test_delete_takes_the_request_of_create(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        gone: list[str] = []

        def delete(name: str) -> dict[str, object]:
            gone.append(name)
            return {"name": name}

        monkeypatch.setattr(program, "delete", delete)
        assert self.run(monkeypatch, tmp_path, "delete-machine", json.dumps(json_machine())) == 0
        assert gone == ["a"]
        assert json.loads(capsys.readouterr().out) == {"name": "a"}


class TestEngine:
    def test_failure_is_told_in_words(self) -> None:
        with pytest.raises(CommandError, match="failed with code 3: it broke"):
            run(["sh", "-c", "echo it broke >&2; exit 3"])
        with pytest.raises(CommandError, match="not installed"):
            run(["no-such-program-here"])

    def test_removal_of_what_is_not_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def docker(*arguments: str, stdin: bytes | None = None) -> str:
            assert stdin is None
            raise CommandError(f"Error: No such {arguments[0]}: a")

        monkeypatch.setattr(engine, "docker", docker)
        engine.remove("container", "a")

    def test_missing_image_is_not_pulled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[tuple[str, ...]] = []

        def docker(*arguments: str, stdin: bytes | None = None) -> str:
            assert stdin is None
            asked.append(arguments)
            raise CommandError("Error response from daemon: No such image: other:1")

        monkeypatch.setattr(engine, "docker", docker)
        with pytest.raises(CommandError, match="there is no image other:1"):
            engine.create(["other:1"], "other:1")
        assert asked == [("create", "--pull=never", "other:1")]

    def test_half_made_container_is_made_anew(self, monkeypatch: pytest.MonkeyPatch) -> None:
        state: dict[str, Any] = {"State": {"Status": "created"}}
        did: list[str] = []
        place = containers.Running(name="a", address="1", host="1", port=22, found=False)
        monkeypatch.setattr(containers, "inspect", lambda *_: state)
        monkeypatch.setattr(
            containers, "remove", lambda kind, name: did.append(f"rm {kind} {name}")
        )

        def create(_: containers.Spec) -> containers.Running:
            did.append("create")
            return place

        monkeypatch.setattr(containers, "_create", create)
        monkeypatch.setattr(containers, "put_files", lambda *_: did.append("keys"))
        monkeypatch.setattr(containers, "docker", lambda *words: did.append(" ".join(words)))
        assert containers.ensure(machine_spec()) == place
        name = MACHINE.name
        assert did == [f"rm container {name}", "create", "keys", f"start {name}"]

    def test_another_container_of_the_name_is_left_alone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = {"State": {"Status": "running", "Running": True}, "Config": {"Labels": {}}}
        monkeypatch.setattr(containers, "inspect", lambda *_: found)
        with pytest.raises(CommandError, match="role unset instead of machine"):
            containers.ensure(machine_spec())


@pytest.mark.parametrize(("owner", "fits"), [("mine", True), ("", True), ("other", False)])
def test_a_network_of_another_stack_is_refused(
    owner: str, monkeypatch: pytest.MonkeyPatch, *, fits: bool
) -> None:
    """Two stacks of one cluster name would take each other's machines over."""
    labels = {**NETWORK.labels, **({"stack": owner} if owner else {})}
    there = dataclasses.replace(NETWORK, labels=labels)
    monkeypatch.setattr(networks, "network_state", lambda _: there)
    request = NetworkRequest(
        name="demo", cidr=str(NETWORK.cidr), internal=True, labels={"stack": "mine"}
    )
    if fits:
        assert networks.create_network(request)["name"] == "demo"
        return
    with pytest.raises(CommandError, match=r"another stack's cluster.*`name`"):
        networks.create_network(request)
