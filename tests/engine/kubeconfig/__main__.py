"""One object in a cluster that a kubeconfig leads to."""

from __future__ import annotations

import pulumi
from pulumi import Output
from pulumi_tls import PrivateKey

from addons import Delivery
from addons.deploy import Addons, AddonsArgs

config = pulumi.Config("kubeconfig")
OBJECT = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "kept", "namespace": "default"},
}
# Another kind of key, and a preview does not know it yet, nor what is made of it.
key = PrivateKey("admin", algorithm=config.require("algorithm"))
text = Output.all(config.require("text"), key.id).apply(lambda known: str(known[0]))
Addons(
    "c",
    AddonsArgs(
        delivery=Delivery(objects=(OBJECT,)),
        kubeconfig=text,
        cluster_identifier=config.require("cluster"),
    ),
)
