"""A cluster made by the real program through the real CLI, and the ways to look into it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import asyncssh
import pytest

from config import ClusterConfig, HostSpec
from model import Role
from tests.e2e import machine
from tests.engine.cli import CLUSTER_KEY, Config, Done, Plan, Pulumi, done_steps
from validation import MIRROR_VARIABLE, parse, with_environment

Found = TypeVar("Found")
POLL_SECONDS = 1.0
UP_LIMIT = 900.0


@dataclass(frozen=True, kw_only=True)
class Start:
    """When a host's kubelet and runtime last started: equal as long as nothing restarted them."""

    kubelet: str
    runtime: str


class Cluster:
    """One cluster and its stack. `up` may be called again and again, with another config or not."""

    def __init__(self, folder: Path, variables: Mapping[str, str], config: Config) -> None:
        self.wanted: Config = config
        self.pulumi = Pulumi(folder, config["name"], variables)
        self.name = str(config["name"])
        self.kubeconfig = folder / "kubeconfig"
        self.is_up = False
        self.has_failed = False  # whether an `up` did: the next one is not worth its minutes

    @property
    def config(self) -> ClusterConfig:
        """The effective config."""
        return parse(with_environment(self.wanted, self.pulumi.environment))

    @property
    def hosts(self) -> dict[str, HostSpec]:
        """Every host that the config asks for, by name."""
        return {host.name: host for host in self.config.hosts}

    @property
    def masters(self) -> list[str]:
        """The masters' names."""
        return [name for name, host in self.hosts.items() if host.role is Role.MASTER]

    @property
    def nodes(self) -> list[str]:
        """The other hosts' names."""
        return [name for name, host in self.hosts.items() if host.role is Role.NODE]

    @property
    def unavailable(self) -> set[str]:
        """The images that this computer's mirror could not get."""
        folder = self.pulumi.environment.get(MIRROR_VARIABLE)
        if not folder:
            return set()
        return set(json.loads((Path(folder) / "catalog.json").read_text())["unavailable"])

    # What a person does

    def write_config(self, config: Config) -> None:
        """Edit the stack file."""
        self.wanted = config
        self.pulumi.configure({CLUSTER_KEY: config})

    def up(self) -> Done:
        """`pulumi up`, and the kubeconfig that comes out of it."""
        self.write_config(self.wanted)
        done = self.pulumi.up(check=False)
        self._after_up(done)
        return done

    def ensure_up(self) -> bool:
        """`pulumi up`, unless it is up; whether it was called. Fails if an earlier one has."""
        if self.has_failed:
            pytest.fail(
                f"an earlier `pulumi up` of {self.name} failed; the first such test says why"
            )
        if self.is_up:
            return False
        began = time.monotonic()
        self.up()
        print(f"{self.name}: up in {time.monotonic() - began:.1f} s", file=sys.stderr)
        return True

    def up_steps(self) -> Plan:
        """`pulumi up --json`: what was done."""
        self.write_config(self.wanted)
        done = self.pulumi.call("up", "--yes", "--skip-preview", "--json", check=False)
        self._after_up(done)
        return done_steps(done.stdout)

    def _after_up(self, done: Done) -> None:
        self.has_failed = done.code != 0
        if self.has_failed:
            pytest.fail(f"{done.explained()}\n{self.explain()}")
        self.is_up = True
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(self.pulumi.outputs()["kubeconfig"])

    def destroy(self) -> Done:
        """`pulumi destroy`."""
        self.is_up = False
        return self.pulumi.destroy()

    def destroy_all(self, *, check: bool = True) -> Done:
        """`make down`: what is protected as well."""
        self.pulumi.state("state", "unprotect", "--all", "--yes", check=check)
        self.is_up = False
        return self.pulumi.destroy(check=check)

    # Looking into it

    def connection(self, name: str) -> dict[str, Any]:
        """How phase 2 reaches a host."""
        state = self.pulumi.secrets()["deployment"]["resources"]
        (step,) = [item for item in state if item["urn"].endswith(f"::{name}-reachable")]
        return dict(revealed(step["inputs"]["connection"]))

    def login(self, name: str, command: str) -> str:
        """What a command prints on a host, by SSH as phase 2 does it."""
        return asyncio.run(self._login(self.connection(name), command))

    async def _login(self, connection: dict[str, Any], command: str) -> str:
        async with AsyncExitStack() as stack:
            tunnel = None
            for place in filter(None, (connection.get("proxy"), connection)):
                known = f"* {place['hostKey']}".encode()
                tunnel = await stack.enter_async_context(
                    asyncssh.connect(
                        place["host"],
                        port=int(place["port"]),
                        username=place["user"],
                        client_keys=[asyncssh.import_private_key(place["privateKey"])],
                        known_hosts=known,
                        tunnel=tunnel or (),
                        config=None,
                        agent_path=None,
                        connect_timeout=10,
                    )
                )
            assert tunnel is not None
            done = await tunnel.run(command, check=True, timeout=30)
            return str(done.stdout)

    def host(self, name: str, script: str, *, check: bool = True) -> str:
        """What a shell script prints on a host."""
        return machine.run("docker", "exec", "-i", name, "bash", "-s", stdin=script, check=check)

    def kubectl_as(self, kubeconfig: Path, *arguments: str, stdin: str | None = None) -> Done:
        """kubectl with somebody's kubeconfig, whatever comes of it."""
        command = ("kubectl", "--kubeconfig", str(kubeconfig), *arguments)
        began = time.monotonic()
        done = subprocess.run(
            command,
            env=self.pulumi.environment,
            input=stdin,
            stdin=None if stdin else subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return Done(
            arguments=command,
            code=done.returncode,
            stdout=done.stdout,
            stderr=done.stderr,
            seconds=time.monotonic() - began,
        )

    def kubectl(self, *arguments: str, stdin: str | None = None) -> str:
        """What kubectl prints for the administrator."""
        done = self.kubectl_as(self.kubeconfig, *arguments, stdin=stdin)
        assert done.code == 0, done.explained()
        return done.stdout

    def get(self, *arguments: str) -> Any:
        """`kubectl get ... -o json`."""
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def items(self, *arguments: str) -> list[dict[str, Any]]:
        """`kubectl get ...` of a list."""
        return list(self.get(*arguments)["items"])

    def address(self, name: str) -> str:
        """A host's address."""
        (found,) = machine.inspected("container", [name])
        return str(found["NetworkSettings"]["Networks"][self.name]["IPAddress"])

    def starts(self) -> dict[str, Start]:
        """When each host's kubelet and runtime last started."""
        return {name: self.start(name) for name in self.hosts}

    def start(self, name: str) -> Start:
        """When a host's kubelet and runtime last started."""
        show = "systemctl show --value -p InvocationID,MainPID,ActiveEnterTimestampMonotonic"
        return Start(
            kubelet=self.host(name, f"{show} kubelet"),
            runtime=self.host(name, f"{show} containerd-anywhere"),
        )

    def pods_running(self) -> dict[str, str]:
        """The id of each running container, by namespace, pod and name."""
        return {
            f"{pod['metadata']['namespace']}/{pod['metadata']['name']}/{status['name']}": status[
                "containerID"
            ]
            for pod in self.items("pods", "--all-namespaces")
            for status in pod["status"].get("containerStatuses", [])
            if "running" in status["state"]
        }

    def wait(self, what: str, found: Callable[[], Found | None], limit: float) -> Found:
        """Ask until there is an answer; the last reason and the cluster's state say why not."""
        began, reason = time.monotonic(), ""
        while time.monotonic() < began + limit:
            try:
                answer = found()
            except AssertionError as error:
                answer, reason = None, str(error)[-2000:]
            if answer:
                print(f"{what}: after {time.monotonic() - began:.1f} s", file=sys.stderr)
                return answer
            time.sleep(POLL_SECONDS)
        pytest.fail(f"{what}: not within {limit:.0f} s. {reason}\n{self.explain()}")

    def explain(self) -> str:
        """What a person would look at after a failure."""
        asked = [("get", "nodes", "-o", "wide"), ("get", "pods", "-A", "-o", "wide")]
        parts = []
        if self.kubeconfig.exists():
            shown = [self.kubectl_as(self.kubeconfig, *words).output for words in asked]
            events = self.kubectl_as(
                self.kubeconfig, "get", "events", "-A", "--field-selector=type!=Normal"
            )
            parts = [*shown, "\n".join(events.output.splitlines()[-30:])]
        for name in self.hosts:
            script = "journalctl -n 15 --no-pager -o cat -u kubelet -u containerd-anywhere"
            parts.append(f"--- {name}: {script}\n{self.host(name, script, check=False)}")
        return "\n".join(parts)


def revealed(value: Any) -> Any:
    """A value of a state that was exported with its secrets, without their wrappings."""
    if isinstance(value, dict) and "plaintext" in value:
        return json.loads(value["plaintext"])
    if isinstance(value, dict):
        return {key: revealed(member) for key, member in value.items()}
    return value
