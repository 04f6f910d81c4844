"""The steps of every host, and in which order they run.

Per host: `reachable` -> `prepare` -> `identity` -> `activate`. Hosts are reached and prepared side
by side. Activation is chained, masters one after another and nodes likewise, so that a change which
breaks a host stops there; on a host's first start it returns as soon as the unit runs, so that the
chain costs next to nothing and etcd members can find each other.

A machine that was there before us has one more, `takeoff`, which is made first and so deleted last:
it does nothing until then.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from pulumi import ComponentResource, Input, Output, Resource, ResourceOptions

from bootstrap import preflight, render
from bootstrap.remote import HostStep, note_once, remote_step, takeoff_step
from bootstrap.view import HostView
from config import ClusterConfig
from interface import Host, HostFiles, Machines
from model import Role


@dataclass(frozen=True, kw_only=True, slots=True)
class BootstrapArgs:
    """The three things that phase 2 takes, and the add-on files that masters keep."""

    config: ClusterConfig
    machines: Machines
    keys: Mapping[str, HostFiles]  # by host name: {path: secret content}
    valid_from: Mapping[str, Input[str]]  # by host name: when its certificates begin to be valid
    addons: Mapping[str, str]  # {path: content}, for the addon-manager; may be empty
    archive_sums: Mapping[str, str]  # {file: sha256} of the mirror's archives; empty: upstream's
    pod_images: tuple[str, ...]  # what pods of every node will run: references


class Bootstrap(ComponentResource):
    """The steps on every host. Complete when each host's kubelet runs with its final files."""

    lifetime: Resource | None  # what the cluster dies with as a whole, and its objects unasked
    masters: tuple[Resource, ...]  # done when each master's kubelet runs
    revision: Output[str]  # another one whenever a host gets other files; secret, as keys are

    def __init__(self, name: str, args: BootstrapArgs, opts: ResourceOptions | None = None) -> None:
        super().__init__("kubernetes-anywhere:bootstrap:Bootstrap", name, {}, opts)
        self._args = args
        self._takeoffs = {
            host.spec.name: self._takeoff(host)
            for host in args.machines.hosts
            if host.machine is None
        }
        self.lifetime = args.machines.lifetime or next(iter(self._takeoffs.values()), None)
        self._founders = self._note_founders(name)
        texts: list[Output[str | None]] = []
        done: dict[Role, tuple[Resource, ...]] = {}
        for role in Role:
            for host in args.machines.hosts:
                if host.spec.role is role:
                    chain = done.get(role, ())
                    identity, activated = self._steps(host, chain[-1:])
                    done[role] = (*chain, activated)
                    texts += (identity.stdin, activated.stdin)
        self.masters = done[Role.MASTER]
        self.revision = Output.all(*texts).apply(
            lambda known: sha256("".join(map(str, known)).encode()).hexdigest()
        )
        self.register_outputs({})

    def _steps(self, host: Host, previous: Sequence[Resource]) -> tuple[HostStep, HostStep]:
        """All steps of a host; the two that place files."""
        name, args = host.spec.name, self._args
        views = _view(host, args, self._founders)
        keys = Output.all(**args.keys[name])
        reachable = remote_step(
            f"{name}-reachable",
            host,
            Output.all(views, args.valid_from[name]).apply(
                lambda pair: preflight.reachable(pair[0], pair[1])
            ),
            parent=self,
            after=(host.machine or self._takeoffs[name],),
            first=True,
        )
        prepared = remote_step(
            f"{name}-prepare", host, views.apply(render.prepare), parent=self, after=(reachable,)
        )
        identity = remote_step(
            f"{name}-identity",
            host,
            Output.all(views, keys).apply(lambda pair: render.identity(pair[0], pair[1])),
            parent=self,
            after=(prepared, *previous),
            secret=True,
        )
        activated = remote_step(
            f"{name}-activate",
            host,
            views.apply(lambda view: render.activate(view, args.addons)),
            parent=self,
            after=(identity,),
        )
        return identity, activated

    def _note_founders(self, name: str) -> Output[str]:
        """{master: identity} of the machines that the cluster begins with, as JSON.

        etcd on a machine without data may begin a cluster, or must join one. Its peers cannot say
        which while they are down, and to begin beside them would be a second cluster.
        """
        masters = _masters(self._args.machines)
        founders = Output.json_dumps({host.spec.name: host.identity for host in masters})
        return note_once(f"{name}-founders", founders, parent=self)

    def _takeoff(self, host: Host) -> Resource:
        text = render.takeoff(self._args.config)
        return takeoff_step(f"{host.spec.name}-takeoff", host, text, parent=self)


def _masters(machines: Machines) -> list[Host]:
    return [host for host in machines.hosts if host.spec.role is Role.MASTER]


def _view(host: Host, args: BootstrapArgs, founders: Output[str]) -> Output[HostView]:
    # Nodes do not look at the masters, so that a new master changes nothing on them.
    is_master = host.spec.role is Role.MASTER
    masters = _masters(args.machines) if is_master else []
    return Output.all(
        host.address,
        host.identity,
        args.machines.mirror_url,
        founders if is_master else "{}",
        *(master.address for master in masters),
    ).apply(
        lambda known: HostView(
            config=args.config,
            spec=host.spec,
            address=known[0],
            identity=known[1],
            labels=host.labels,
            mirror_url=known[2],
            masters=dict(zip((master.spec.name for master in masters), known[4:], strict=True)),
            founder=json.loads(known[3]).get(host.spec.name) == known[1],
            traits=args.machines.traits,
            archive_sums=args.archive_sums,
            pod_images=args.pod_images,
        )
    )
