"""The SSH keys of phase 1: the one that may log in, and those that machines are known by.

ED25519, which OpenSSH and all three clouds take for Linux machines.
"""

from __future__ import annotations

from pulumi import Resource, ResourceOptions
from pulumi_tls import PrivateKey


def login_key(name: str, parent: Resource) -> PrivateKey:
    """The key that phase 2 logs in with, on every host of the cluster."""
    return PrivateKey(f"{name}-ssh", algorithm="ED25519", opts=ResourceOptions(parent=parent))


def host_key(name: str, parent: Resource) -> PrivateKey:
    """What a machine is known by: made here, so that SSH can trust it from the first login."""
    return PrivateKey(f"{name}-host-key", algorithm="ED25519", opts=ResourceOptions(parent=parent))
