"""The gates between the phases: what must be true of the cluster before the program goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pulumi import ComponentResource, Input, Output, Resource, ResourceOptions

from bootstrap.remote import OperatorStep, operator_step
from config import ClusterConfig
from interface import ApiClient, Machines
from model import Role


class Gates(ComponentResource):
    """What must be true before the program goes on, asked through the endpoint as clients do."""

    def __init__(
        self,
        name: str,
        config: ClusterConfig,
        machines: Machines,
        client: ApiClient,
        opts: ResourceOptions | None = None,
    ) -> None:
        super().__init__("kubernetes-anywhere:bootstrap:Gates", name, {}, opts)
        self._name, self._config, self._machines, self._client = name, config, machines, client
        self.register_outputs({})

    def api(self, after: Sequence[Resource]) -> OperatorStep:
        """Opens when the API server says that it is ready."""
        return self._gate("api", {}, after)

    def cluster(self, after: Sequence[Resource]) -> OperatorStep:
        """Opens when every node is Ready and DNS is available; its stdout is the health summary."""
        hosts = self._config.hosts
        expected: dict[str, Input[object]] = {
            "cluster": self._config.name,
            "nodes": [host.name for host in hosts],
            "masters": [host.name for host in hosts if host.role is Role.MASTER],
            "network": self._config.network.plugin != "none",
            "dns": self._config.addons.dns != "none",
        }
        return self._gate("cluster", expected, after)

    def _gate(
        self, verb: str, expected: Mapping[str, Input[object]], after: Sequence[Resource]
    ) -> OperatorStep:
        client = self._client
        request = Output.json_dumps(
            {
                "server": client.server,
                "ca": client.ca,
                "certificate": client.certificate,
                "key": client.key,
                **expected,
            }
        )
        return operator_step(
            f"{self._name}-{verb}-ready",
            "bootstrap.ready",
            verb,
            request,
            parent=self,
            after=after,
            deleted_with=self._machines.lifetime,
        )
