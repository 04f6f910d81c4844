"""A cluster's certificates, and per host one step that puts its files into a file."""

from __future__ import annotations

import json

import pulumi
from pulumi import Output
from pulumi_command.local import Command, Logging

from components.pki import ClusterPki, PkiArgs
from interface import Connection, Host, Machines, Traits
from validation import parse

settings = pulumi.Config("pki")
config = parse(settings.require_object("cluster"))
machines = Machines(
    hosts=tuple(
        Host(
            spec=spec,
            address=f"192.0.2.{10 + index}",
            connection=Connection(host="h", user="root", private_key="k", host_key="k"),
        )
        for index, spec in enumerate(config.hosts)
    ),
    api_host="192.0.2.100",
    operator_api_host="192.0.2.100",
    operator_api_port=6443,
    mirror_url=None,
    traits=Traits(),
)
pki = ClusterPki(config.name, PkiArgs(config=config, machines=machines))
for name, files in pki.files.items():
    Command(
        f"{name}-identity",
        create=f"cat >'{settings.require('folder')}/{name}'",
        stdin=Output.all(**files).apply(json.dumps),  # secret, as the keys in it are
        logging=Logging.NONE,
    )
pulumi.export("certificates", pki.certificates)
pulumi.export("kubeconfig", pki.kubeconfig)
