"""A cluster on a simulated cloud: made by the real program through the real CLI."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.clouds.core.account import Account, Thing, read
from tests.clouds.core.addresses import INTERNET
from tests.clouds.environment import PLATFORMS, variables, write_plugin
from tests.e2e import machine
from tests.e2e.cluster import Cluster, Start
from tests.engine.cli import ROOT, Config
from validation import MIRROR_VARIABLE

# Ranges that no other cluster of these tests has.
HOST_CIDRS = {"aws": "10.120.0.0/16", "gce": "10.121.0.0/16", "azure": "10.122.0.0/16"}


def config(platform: str, **more: Any) -> Config:
    """A stack's cluster config object: one master and two nodes."""
    return {
        "name": f"sim-{platform}",
        "platform": platform,
        "arch": "amd64",
        "masters": {"count": 1},
        "pools": [{"name": "node", "count": 2}],
        "network": {"hostCidr": HOST_CIDRS[platform]},
        "tags": {"made-by": "tests"},
        **more,
    }


class CloudCluster(Cluster):
    """A cluster on a simulated cloud, and the ways to look into that cloud."""

    def __init__(
        self, folder: Path, base: Mapping[str, str], platform: str, wanted: Config
    ) -> None:
        self.platform, self.plugin = platform, PLATFORMS[platform][0]
        self.folder = folder / "simulated"
        plugins = write_plugin(self.plugin, self.folder / "plugins")
        environment = {
            **base,
            **variables(platform, self.folder, base[MIRROR_VARIABLE]),
            "PATH": f"{plugins}:{base['PATH']}",
        }
        super().__init__(folder, environment, wanted)
        self.previewed: set[str] = set()  # what the first preview listed

    @property
    def account(self) -> Account:
        """The simulated account, as it is now."""
        return read(self.account_file)

    @property
    def account_file(self) -> Path:
        """Where it is kept."""
        return self.folder / "accounts" / f"{self.plugin}.json"

    def instance(self, host: str) -> Thing:
        """The virtual machine of a host."""
        tokens = {
            "aws": "aws:ec2/instance:Instance",
            "gce": "gcp:compute/instance:Instance",
            "azure": "azure-native:compute:VirtualMachine",
        }
        named: Mapping[str, Callable[[Thing], object]] = {
            "aws": lambda thing: thing["tags"]["Name"],
            "gce": lambda thing: thing["name"],
            "azure": lambda thing: thing["vmName"],
        }
        (found,) = [
            thing
            for thing in self.account.of(tokens[self.platform])
            if named[self.platform](thing) == host
        ]
        return found

    def mishap(self, verb: str, identity: str) -> None:
        """Something happens in the cloud that Pulumi does not know of."""
        self._clouds("mishap", self.plugin, verb, identity)

    def realise(self) -> None:
        """What the account says is made."""
        self._clouds("realise", self.plugin)

    def _clouds(self, *arguments: str) -> None:
        subprocess.run(
            [sys.executable, "-m", "tests.clouds", *arguments],
            cwd=ROOT,
            env=self.pulumi.environment,
            check=True,
            timeout=120,
        )

    @property
    def here(self) -> str:
        """This computer's address, as the cloud sees it."""
        return str(INTERNET[self.plugin][1])

    def address(self, name: str) -> str:
        """A host's private address."""
        (found,) = [n for n in self.pulumi.outputs()["nodes"] if n["name"] == name]
        return str(found["address"])

    @property
    def endpoint(self) -> str:
        """The API's load balancer."""
        return str(self.pulumi.outputs()["apiEndpoint"]).removeprefix("https://").split(":")[0]

    def public_address(self, name: str) -> str:
        """Where a host is reached from outside, by what its first step says."""
        return str(self.connection(name)["host"])

    def starts_of(self, names: set[str]) -> dict[str, Start]:
        """When these hosts' kubelets and runtimes last started."""
        return {name: self.start(name) for name in names}

    def sweep(self) -> None:
        """Remove what is left of the simulated cloud, such as by a run that was killed."""
        for kind in ("container", "network", "volume"):
            for prefix in (self.name, f"simulated-{self.plugin}"):
                for found in machine.listed(kind, prefix):
                    force = ["--force", "--volumes"] if kind == "container" else []
                    machine.run("docker", kind, "rm", *force, found, check=False)


@contextmanager
def cluster_in_a_cloud(
    folder: Path, base: Mapping[str, str], platform: str, **more: Any
) -> Iterator[CloudCluster]:
    """A cluster that is not up yet, in a cloud without a trace of an earlier run.

    However it ends, nothing of it stays; its config has what `more` says.
    """
    made = CloudCluster(folder, base, platform, config(platform, **more))
    made.sweep()
    try:
        yield made
    finally:
        made.destroy_all(check=False)
        made.sweep()


def listening(cluster: CloudCluster, name: str) -> set[int]:
    """The TCP ports on which something of a host listens for others than itself."""
    lines = cluster.host(name, "ss -Hltn | awk '{print $4}'").split()
    pairs = (line.rsplit(":", 1) for line in lines)
    return {int(port) for address, port in pairs if not address.startswith(("127.", "[::1]"))}
