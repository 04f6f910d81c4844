"""The add-ons as Pulumi resources: one an object, through a provider for this cluster alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi import ComponentResource, CustomResource, Input, Output, Resource, ResourceOptions
from pulumi_kubernetes import Provider

from addons.objects import Manifest, merged, name_of, needs, pod_spec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from addons import Delivery


@dataclass(frozen=True, kw_only=True, slots=True)
class AddonsArgs:
    """What to put into which cluster."""

    delivery: Delivery
    kubeconfig: Input[str]  # an administrator's, reaching the API from this computer
    # What the cluster is recognized by. Objects are made anew when it changes, and not when the
    # kubeconfig does: a renewed certificate or another endpoint is still the same cluster.
    cluster_identifier: Input[str]
    # What makes the API answer. A provider that finds no API takes the cluster for dead.
    after: Sequence[Resource] = ()
    deleted_with: Resource | None = None  # with it the cluster is gone, and so is every object


class Addons(ComponentResource):
    """Every object of the add-ons, or none of them when the addon-manager owns them."""

    def __init__(self, name: str, args: AddonsArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:addons:Addons", name, {}, opts)
        for skipped in args.delivery.skipped:
            pulumi.log.warn(str(skipped), resource=self)
        if args.delivery.objects:
            self._register(name, args)
        self.register_outputs({})

    def _register(self, name: str, args: AddonsArgs) -> None:
        provider = Provider(
            name,
            kubeconfig=Output.secret(args.kubeconfig),
            cluster_identifier=args.cluster_identifier,
            # A cluster that cannot be reached must not keep `destroy` from ending. Should it come
            # back, the next `up` takes its objects over again: to apply is to create or update.
            delete_unreachable=True,
            enable_server_side_apply=True,
            # Pods roll by the checksum that they carry; without this a changed ConfigMap of a fixed
            # name is deleted before it is made anew, and is missing in between.
            enable_config_map_mutable=True,
            # On the provider, since a component hands no `depends_on` down to its children.
            opts=ResourceOptions(parent=self, depends_on=list(args.after)),
        )
        # In order: what an object needs has been registered before it.
        resources: list[tuple[Manifest, KubernetesObject]] = []
        for manifest in args.delivery.objects:
            options = ResourceOptions(
                parent=self,
                provider=provider,
                version=version("pulumi-kubernetes"),
                deleted_with=args.deleted_with,
                depends_on=[resource for made, resource in resources if needs(manifest, made)],
            )
            resources.append((manifest, KubernetesObject(manifest, options)))


# These objects are this program's alone: one that a killed run made and did not note is taken over,
# although the server sees another owner of its fields.
OWNED = {"pulumi.com/patchForce": "true"}
# The last gate waits for all pods at once. The provider would, object by object: a Deployment is
# looked at for ten seconds more, and a Service until it has pods.
NOT_AWAITED = {"pulumi.com/skipAwait": "true"}


class KubernetesObject(CustomResource):
    """One object just as it is rendered: no generated class that would rename its fields."""

    def __init__(self, manifest: Manifest, opts: ResourceOptions) -> None:
        made = marked(manifest)
        super().__init__(type_token(made), name_of(made), properties(made), opts)


def marked(manifest: Manifest) -> Manifest:
    """The object with what the provider is to know about it."""
    is_awaited = bool(pod_spec(manifest)) or manifest["kind"] == "Service"
    annotations = {**OWNED, **(NOT_AWAITED if is_awaited else {})}
    return merged(manifest, {"metadata": {"annotations": annotations}})


def properties(manifest: Manifest) -> dict[str, Any]:
    """The object's fields; what a Secret holds is a secret in the state, too."""
    hidden = {"data", "stringData"} if manifest["kind"] == "Secret" else set()
    return {
        key: Output.secret(value) if key in hidden else value for key, value in manifest.items()
    }


def type_token(manifest: Manifest) -> str:
    """The provider's name of the object's type: `kubernetes:core/v1:Service`."""
    api_version = str(manifest["apiVersion"])
    group = api_version if "/" in api_version else f"core/{api_version}"
    return f"kubernetes:{group}:{manifest['kind']}"
