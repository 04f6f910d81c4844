"""What a simulated cloud consists of on this computer, said without any cloud's words.

Each cloud turns its account into a `Fabric`, by a pure function; `apply` makes Docker networks,
machines and a router of it. So a cloud's rules are tested without Docker, and the way from rules to
packets is written once.

The picture: each `Network` is a Docker bridge without a way out. One more bridge, "the internet",
has the public addresses (and this computer, and the mirror). A router container stands on all of
them: it is the gateway of each machine, translates private to public addresses one to one, is the
NAT gateway, and the load balancers. What reaches a machine is filtered in the machine's own network
namespace, by the rules that the cloud's firewall has for it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

BALANCED = "balanced"  # a peer: whatever comes by way of a load balancer, whoever sent it


@dataclass(frozen=True, kw_only=True, slots=True)
class Network:
    """A cloud's network."""

    id: str
    cidr: str
    mtu: int
    internet: bool  # whether public addresses work in it: an internet gateway, say
    # Which of its addresses the cloud gives to nobody: the router's, and one for Docker's bridge.
    kept: tuple[int, int] = (1, 2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What may pass one way. Answers pass by themselves."""

    protocol: Literal["tcp", "udp", "icmp", "any"]
    ports: tuple[int, int] | None  # first and last; None: all
    peers: tuple[str, ...]  # CIDRs of the other end, or BALANCED


@dataclass(frozen=True, kw_only=True, slots=True)
class Disk:
    """A disk beside the root disk: a file on this computer, a block device in the machine."""

    id: str
    size_gb: int  # sparse: it takes what is written
    path: str  # where the machine finds it: "/dev/disk/by-id/google-etcd"


@dataclass(frozen=True, kw_only=True, slots=True)
class Machine:
    """A virtual machine, made as a container."""

    id: str
    name: str  # its host name; the container is named after it
    network: str
    address: str
    public_address: str | None
    mtu: int
    login_keys: Mapping[str, tuple[str, ...]]  # {user: public key lines}; each user has sudo
    user_data: str  # cloud-init's, applied at the first boot
    inbound: tuple[Rule, ...]
    outbound: tuple[Rule, ...]
    disks: tuple[Disk, ...] = ()
    local_addresses: tuple[str, ...] = ()  # of balancers, where packets keep them as destination
    running: bool = True
    forwards: bool = False  # whether it may send and get packets that are not its own addresses'


@dataclass(frozen=True, kw_only=True, slots=True)
class Nat:
    """The way out for machines without a public address."""

    network: str
    sources: tuple[str, ...]  # CIDRs
    address: str  # what they look like outside


@dataclass(frozen=True, kw_only=True, slots=True)
class Probe:
    """How a balancer asks whether a backend is well."""

    protocol: Literal["tcp", "https"]
    port: int
    path: str
    source: str  # the address that the question comes from
    interval_seconds: int
    healthy: int  # answers in a row that make it well
    unhealthy: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Balancer:
    """A layer-4 load balancer with a public address. The client's address stays in the packets.

    A backend that calls the address gets lost, as in the real clouds: with `translate`, the packet
    comes back with its own source; without, it never leaves, since the address is the backend's.
    """

    id: str
    network: str
    address: str
    port: int
    backend_port: int
    backends: tuple[str, ...]  # ids of machines
    translate: bool  # whether backends see their own address as the destination
    clients: tuple[str, ...] | None  # CIDRs that it lets in by itself; None: all
    probe: Probe


@dataclass(frozen=True, kw_only=True, slots=True)
class Fabric:
    """All of it, by id."""

    networks: Mapping[str, Network] = field(default_factory=dict)
    machines: Mapping[str, Machine] = field(default_factory=dict)
    nats: Mapping[str, Nat] = field(default_factory=dict)
    balancers: Mapping[str, Balancer] = field(default_factory=dict)
    detached: tuple[Disk, ...] = ()  # that no machine has: what is on them is kept
