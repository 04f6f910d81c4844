"""One object in a cluster that a kubeconfig leads to."""

from __future__ import annotations

import pulumi

from addons import Delivery
from addons.deploy import Addons, AddonsArgs

config = pulumi.Config("kubeconfig")
OBJECT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kept", "namespace": "default"},
}
Addons(
    "c",
    AddonsArgs(
        delivery=Delivery(objects=(OBJECT,)),
        kubeconfig=config.require("text"),
        cluster_identifier=config.require("cluster"),
    ),
)
