"""The order of the runs. What is compared is run in turn, since a computer's speed changes."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench import events, kubeadm
from bench.machine import memory_speed
from bench.place import Place, clear
from bench.report import Figures, Ratio
from bench.settings import NAME, cluster, effective
from bench.stack import Stack, Up
from config import ClusterConfig

OURS = "ours: nodes Ready, DNS available"
PACKAGES = "kubeadm: packages installed"
WITH_PACKAGES = "kubeadm: nodes Ready, DNS available"
WITHOUT_PACKAGES = "kubeadm: the same, packages were there before"
ADD = "`up` with one node more"
ALONE = "`pulumi` alone, 1 + 2, default add-ons"
_ADDING_TO = (2, 10)
_RATIOS = (
    Ratio(label="ours / kubeadm", figure=OURS, to=WITH_PACKAGES),
    Ratio(label="ours / kubeadm whose packages were there", figure=OURS, to=WITHOUT_PACKAGES),
)


def size(nodes: int) -> str:
    """The name of a group of figures: one master and so many nodes."""
    return f"1 + {nodes}"


def _adding_to(nodes: int) -> str:
    return f"a node more than {nodes}"


def ratios(sizes: Sequence[int]) -> dict[str, tuple[Ratio, ...]]:
    """What is compared with what, by group."""
    few, many = (_adding_to(nodes) for nodes in _ADDING_TO)
    growth = Ratio(label=f"against {few}", figure=ADD, to=ADD, to_group=few)
    return {**{size(nodes): _RATIOS for nodes in sizes}, many: (growth,)}


@dataclass(kw_only=True, slots=True)
class Trace:
    """Where the time of one `up` went."""

    group: str
    spans: list[dict[str, str | float]]
    path: list[dict[str, str | float]]


@dataclass(kw_only=True, slots=True)
class Bench:
    """One whole measurement: where its files are, and what was found so far."""

    folder: Path
    mirror: Path
    environment: Mapping[str, str]
    runs: int
    figures: Figures = field(default_factory=Figures)
    traces: list[Trace] = field(default_factory=list)

    def compare(self, nodes: int) -> None:
        """Our `up` and kubeadm in turn, each on fresh hosts with sshd. Raises BenchError."""
        group = size(nodes)
        keys = cluster(nodes, alike=True)
        config = effective(keys, self.environment)
        for run in range(self.runs):
            for name, program in (("ours", self._ours), ("kubeadm", self._kubeadm)):
                self._note(group, "memory copied", memory_speed(), "GB/s")
                with Place(config, self.mirror, self._fresh(f"{group}-{run}-{name}")) as place:
                    program(group, config, place)

    def _ours(self, group: str, config: ClusterConfig, place: Place) -> None:
        stack = Stack(self._fresh("stack"), NAME, self.environment)
        stack.configure(cluster(len(place.hosts) - 1, alike=True))
        up = stack.up()
        self._note(group, OURS, up.end_of(f"{config.name}-cluster-ready"))
        self._note(group, "ours: the command has returned", up.ended)
        self._trace(group, config, stack, up)

    def _kubeadm(self, group: str, config: ClusterConfig, place: Place) -> None:
        marks = kubeadm.install(config, place, self.mirror)
        self._note(group, PACKAGES, marks.packages)
        self._note(group, "kubeadm: `init` done", marks.init)
        self._note(group, "kubeadm: nodes joined", marks.joined)
        self._note(group, WITH_PACKAGES, marks.ready)
        self._note(group, WITHOUT_PACKAGES, marks.ready - marks.packages)

    def _trace(self, group: str, config: ClusterConfig, stack: Stack, up: Up) -> None:
        state = stack.state()
        needs = events.dependencies(state)
        self._note(group, "ours: resources", len(needs), "")
        self._note(group, "ours: peak memory", up.peak_memory, "MiB")
        (last,) = [span.urn for span in up.spans if span.name == f"{config.name}-cluster-ready"]
        path = events.critical_path(up.spans, needs, last)
        self.traces.append(
            Trace(
                group=group,
                spans=[asdict(span) for span in up.spans],
                path=[asdict(span) for span in path],
            )
        )

    def alone(self) -> None:
        """What only we have: previews, an `up` from nothing, one with nothing to do, more nodes."""
        few, many = _ADDING_TO
        for _ in range(self.runs):
            stack = Stack(self._fresh("stack"), NAME, self.environment)
            stack.configure(cluster(few))
            self._note(ALONE, "first preview", stack.preview())
        stack = Stack(self._fresh("stack"), NAME, self.environment)
        config = effective(cluster(few), self.environment)
        clear(config)
        try:
            stack.configure(cluster(few))
            up = stack.up()
            self._note(ALONE, "`up` from nothing, machines made, too", up.ended)
            self._trace(ALONE, config, stack, up)
            for _ in range(self.runs):
                self._note(ALONE, "`up` with nothing to do", stack.up().ended)
            self._grow(stack, few)
            stack.configure(cluster(many))
            stack.up()
            self._grow(stack, many)
        finally:
            stack.destroy()

    def _grow(self, stack: Stack, nodes: int) -> None:
        """Add a node and take it away again, several times."""
        for _ in range(self.runs):
            stack.configure(cluster(nodes + 1))
            up = stack.up()
            self._note(_adding_to(nodes), ADD, up.ended)
            self._note(_adding_to(nodes), "peak memory", up.peak_memory, "MiB")
            stack.configure(cluster(nodes))
            stack.up()

    def _fresh(self, name: str) -> Path:
        """A folder that is not there yet."""
        return self.folder / f"{len(list(self.folder.iterdir()))}-{name.replace(' ', '')}"

    def _note(self, group: str, name: str, value: float, unit: str = "s") -> None:
        self.figures.add(group, name, value, unit)
        print(f"{group}: {name}: {value:.1f} {unit}".rstrip(), file=sys.stderr, flush=True)
