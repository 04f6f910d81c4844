"""Kubernetes Anywhere: one cluster config object in, one running cluster out.

config -> machines (phase 1) -> certificates -> bootstrap over SSH (phase 2) -> add-ons (phase 3)
"""

from __future__ import annotations

import gc

import pulumi

from addons import AddonContext, deliver, podnetwork, select
from addons.deploy import Addons, AddonsArgs
from bootstrap.gates import Gates
from bootstrap.hosts import Bootstrap, BootstrapArgs
from catalogue import read_catalogue
from components import provision
from components.pki import ClusterPki, PkiArgs
from validation import load

# What is made here is there until the end. To look for garbage among it, and among a cloud's SDK,
# as often as Python does would take two fifths of the time.
gc.set_threshold(100_000)

config = load()
mirror = read_catalogue(config.mirror.directory) if config.mirror else None
images = config.release.images
selection = select(config, mirror.missing(images.values()) if mirror else {})
network = podnetwork.load(config)

machines = provision(config)
pki = ClusterPki(config.name, PkiArgs(config=config, machines=machines))

context = AddonContext(config=config, traits=machines.traits, images=images, network=network)
delivery = deliver(context, selection)

bootstrap = Bootstrap(
    config.name,
    BootstrapArgs(
        config=config,
        machines=machines,
        keys=pki.files,
        valid_from=pki.valid_from,
        addons=delivery.files,
        archive_sums=mirror.archives if mirror else {},
        pod_images=tuple(images[name] for name in selection.essential_images),
    ),
)
gates = Gates(config.name, config, machines, pki.client)
api_ready = gates.api(after=bootstrap.masters)
addons = Addons(
    config.name,
    AddonsArgs(
        delivery=delivery,
        kubeconfig=pki.kubeconfig,
        cluster_identifier=config.name,
        after=[api_ready],
        deleted_with=bootstrap.lifetime,
    ),
)
revision = bootstrap.revision.apply(lambda hosts: f"{hosts} {delivery.revision}")
ready = gates.cluster(delivery.workloads, revision, after=[bootstrap, api_ready, addons])
gates.owned(after=[bootstrap, api_ready, addons])

pulumi.export("kubeconfig", pki.kubeconfig)
pulumi.export("apiEndpoint", pki.client.server)
pulumi.export(
    "nodes",
    [
        {"name": host.spec.name, "role": host.spec.role, "address": host.address}
        for host in machines.hosts
    ],
)
pulumi.export("certificates", pki.certificates)
pulumi.export("health", ready.stdout)
