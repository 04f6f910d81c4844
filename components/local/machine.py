"""One local machine: a system container with systemd and sshd, and the key that it is known by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pulumi import ComponentResource, Input, Resource

from components.keys import host_key
from components.local.host import answer, docker_verb
from components.local.image.build import image_tag
from config import ClusterConfig, HostSpec
from interface import Connection, Host
from model import Role

# All machines share this computer: when it is busy, nodes wait for the control plane, and not the
# other way round. Docker's own weight is 1024.
CPU_SHARES: Mapping[Role, str] = {Role.MASTER: "4096", Role.NODE: "1024"}


@dataclass(frozen=True, kw_only=True, slots=True)
class MachinesArgs:
    """The machines to make, all alike, and the key that may log in to them."""

    config: ClusterConfig
    specs: tuple[HostSpec, ...]
    network: Resource
    load_balancer: Resource
    ssh_private_key: Input[str]
    ssh_public_key: Input[str]


def make_machine(parent: ComponentResource, spec: HostSpec, args: MachinesArgs) -> Host:
    """A container for the spec, with a host key made here: SSH trusts it from the first login."""
    key = host_key(spec.name, parent)
    container = docker_verb(
        spec.name,
        "create-machine",
        {
            "cluster": args.config.name,
            "name": spec.name,
            "network": args.config.name,
            "image": image_tag(),
            "cpuShares": CPU_SHARES[spec.role],
            "authorizedKey": args.ssh_public_key,
            "hostKeyPrivate": key.private_key_openssh,
            "hostKeyPublic": key.public_key_openssh,
        },
        parent=parent,
        delete="delete-machine",
        delete_first=True,
        after=(args.network,),
    )
    return Host(
        spec=spec,
        address=answer(container, "address"),
        machine=container,
        identity=answer(container, "id"),
        connection=Connection(
            host=answer(container, "sshHost"),
            port=answer(container, "sshPort").apply(int),
            user="root",
            private_key=args.ssh_private_key,
            host_key=key.public_key_openssh,
        ),
    )
