"""The part of the cluster config object that is about hosts which exist already.

A file that another tool has written may stand for the list of hosts: `components/metal` reads it
before the model judges what it says, so that nothing here knows of such files but their paths.
"""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from forms import Address, FilePath, HostAddress, HostKey, HostName, Label, Name, User
from model import Model, Role
from versions import Arch

DEFAULT_POOL = "node"


class Bastion(Model):
    """The machine that SSH goes through on its way to the hosts."""

    address: HostAddress = Field(
        description="Its address or name, as this computer reaches it.", examples=["203.0.113.5"]
    )
    port: int = Field(default=22, ge=1, le=65535, description="Its SSH port.")
    user: User | None = Field(default=None, description="Who logs in; unset: `metal.user`.")
    key_file: FilePath | None = Field(
        default=None, description="The private key that may log in; unset: `metal.keyFile`."
    )
    host_key: HostKey | None = Field(
        default=None,
        description="Its public host key; unset: the one of `metal.knownHostsFile`.",
        examples=["ssh-ed25519 AAAA..."],
    )


class MetalHost(Model):
    """A host that exists already."""

    name: HostName = Field(
        description="What its node is called; a host that keeps it keeps its node.",
        examples=["web-1"],
    )
    role: Role = Field(strict=False, description="What it is for.")
    address: HostAddress = Field(
        description="Its address or name, as this computer (or the bastion) reaches it.",
        examples=["192.0.2.11"],
    )
    internal_address: Address | None = Field(
        default=None,
        description="Its address as the other hosts reach it; unset: `address`.",
        examples=["10.0.0.11"],
    )
    port: int | None = Field(
        default=None, ge=1, le=65535, description="Its SSH port; unset: `metal.port`."
    )
    user: User | None = Field(
        default=None, description="Who logs in, root or a user with sudo; unset: `metal.user`."
    )
    key_file: FilePath | None = Field(
        default=None, description="The private key that may log in; unset: `metal.keyFile`."
    )
    host_key: HostKey | None = Field(
        default=None,
        description="Its public host key; unset: the one of `metal.knownHostsFile`.",
        examples=["ssh-ed25519 AAAA..."],
    )
    pool: Name | None = Field(
        default=None,
        description="The pool of a node, which need not be in `pools`; unset: `node`.",
        examples=["big"],
    )
    labels: Mapping[str, Label] = Field(
        default_factory=dict,
        description="Labels that its node registers with, over those of the pool.",
        examples=[{"example.com/rack": "r7"}],
    )
    arch: Arch | None = Field(
        default=None, strict=False, description="Its architecture; unset: the pool's."
    )

    @property
    def group(self) -> str | None:
        """The pool that it is in; None for a master."""
        return None if self.role is Role.MASTER else self.pool or DEFAULT_POOL

    @property
    def inner_address(self) -> str:
        """What the other hosts call it; an IPv4 address, or the platform's rules say so."""
        return self.internal_address or self.address


class Inventory(Model):
    """A file of another tool's that lists the hosts: one of the two keys."""

    terraform: FilePath | None = Field(
        default=None,
        description="What `terraform output -json` (or `tofu`) printed, or a state file.",
        examples=["../infrastructure/outputs.json"],
    )
    ansible: FilePath | None = Field(
        default=None,
        description="An inventory in YAML or INI, or what `ansible-inventory --list` printed.",
        examples=["../ansible/inventory.yaml"],
    )


class Metal(Model):
    """Hosts that exist already, for `platform: metal`. Paths are relative to the program's folder.

    A host's keys win over the same keys here.
    """

    hosts: tuple[MetalHost, ...] = Field(
        default=(), description="The hosts, in any order; `inventory` may list them instead."
    )
    inventory: Inventory | None = Field(
        default=None, description="A file that lists the hosts; unset: `hosts` does."
    )
    api_host: HostAddress | None = Field(
        default=None,
        description="The API's address or name, which leads to the API port of all masters: a load "
        "balancer's, a virtual address, a DNS name. Unset, with one master: that one's.",
        examples=["api.example.com"],
    )
    user: User = Field(default="root", description="Who logs in, root or a user with sudo.")
    port: int = Field(default=22, ge=1, le=65535, description="The hosts' SSH port.")
    key_file: FilePath | None = Field(
        default=None,
        description="The private key that may log in, without a passphrase; unset: the first "
        "that exists of ~/.ssh/id_ed25519, id_ecdsa and id_rsa.",
        examples=["~/.ssh/cluster"],
    )
    known_hosts_file: FilePath = Field(
        default="~/.ssh/known_hosts",
        description="Where the host keys are found of hosts that have none here.",
    )
    bastion: Bastion | None = Field(
        default=None, description="The machine that SSH goes through; unset: none."
    )
    leftovers: Literal["refuse", "remove"] = Field(
        default="refuse",
        description="What becomes of another cluster's leftovers on a host: nothing is done to "
        "the host, or they are removed with their data.",
    )
