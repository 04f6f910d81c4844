"""The gates between the phases: what must be true of the cluster before the program goes on.

And, the other way round, before `destroy` takes anything away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pulumi import ComponentResource, Input, Output, Resource, ResourceOptions, create_urn

from bootstrap.remote import OPERATOR_STEP_TYPE, OperatorStep, operator_step
from config import ClusterConfig
from interface import ApiClient, Machines, Workload
from model import Role

TYPE = "kubernetes-anywhere:bootstrap:Gates"


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
        super().__init__(TYPE, name, {}, opts)
        self._name, self._config, self._machines, self._client = name, config, machines, client
        self.register_outputs({})

    def api(self, after: Sequence[Resource]) -> OperatorStep:
        """Opens when the API server says that it is ready, which takes `after`: the masters."""
        return self._gate("api", {}, after)

    def cluster(
        self, workloads: Sequence[Workload], revision: Input[str], after: Sequence[Resource]
    ) -> OperatorStep:
        """Opens when every node is Ready and every pod of the add-ons works.

        Its stdout is the health summary. Another `revision`, of the hosts' files and of the
        objects, asks again.
        """
        hosts = self._config.hosts
        expected: dict[str, Input[object]] = {
            "cluster": self._config.name,
            "nodes": [host.name for host in hosts],
            "masters": [host.name for host in hosts if host.role is Role.MASTER],
            "network": self._config.network.plugin != "none",
            "dns": self._config.addons.dns != "none",
            "workloads": [asdict(workload) for workload in workloads],
            "revision": revision,
        }
        return self._gate("cluster", expected, after)

    def owned(self, after: Sequence[Resource]) -> OperatorStep | None:
        """Goes before all else, and with it what the cluster has made in the cloud by itself.

        Its controllers need everything for that, so it comes after everything: each machine, the
        ways between them and the endpoint. It does not die with the machines, or it would never
        run. Whenever this resource goes, a running cluster loses its volumes: hence the protection,
        and hence nothing that would replace it, such as another name or parent.
        """
        machines = self._machines
        if not machines.traits.makes_cloud_things:
            return None
        name = f"{self._name}-owned"
        # Of names, since the component's own would have the step wait for itself.
        urn = create_urn(name, OPERATOR_STEP_TYPE, parent=create_urn(self._name, TYPE))
        return operator_step(
            name,
            "bootstrap.owned",
            "keep",
            self._request({"urn": urn}),
            parent=self,
            after=[*after, *filter(None, [machines.everything])],
            delete="release",
            protect=machines.traits.protect,
        )

    def _gate(
        self, verb: str, expected: Mapping[str, Input[object]], after: Sequence[Resource]
    ) -> OperatorStep:
        return operator_step(
            f"{self._name}-{verb}-ready",
            "bootstrap.ready",
            verb,
            self._request(expected),
            parent=self,
            after=after,
            deleted_with=self._machines.lifetime,
        )

    def _request(self, more: Mapping[str, Input[object]]) -> Output[str]:
        client = self._client
        return Output.json_dumps(
            {
                "server": client.server,
                "ca": client.ca,
                "certificate": client.certificate,
                "key": client.key,
                **more,
            }
        )
