"""Runs the measurements, or shows what one of them has kept.

    python -m bench run [--runs 3] [--nodes 2 5] [--parts compare alone] [--json FILE]
    python -m bench waterfall FILE      where the time of each `up` in FILE went

`make bench` gets ready what it needs and runs all of it.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from airgap.engine import hear_interrupts
from airgap.progress import BuildError
from bench import BenchError, events, packages
from bench.events import Span
from bench.machine import Machine, this_machine
from bench.measure import Bench, Trace, ratios
from bench.report import as_json
from bench.settings import cluster, effective
from components.local.containers.shell import CommandError
from config import ClusterConfig
from validation import MIRROR_VARIABLE, ConfigError

PARTS = ("compare", "alone")


def versions(config: ClusterConfig) -> dict[str, str]:
    """What both clusters run."""
    images = {"flannel": config.release.images["flannel"].rsplit(":", 1)[1]}
    archives = {archive.name: archive.version for archive in config.release.archives}
    own = {"kubernetes": config.kubernetes_version, "etcd": config.release.etcd}
    return {**own, "coredns": config.release.coredns, **images, **archives}


def heading(machine: Machine, found: dict[str, str], runs: int) -> list[str]:
    """What the figures were found on, in words."""
    size = f"{machine.cores} cores ({machine.processor}), {machine.memory_gib} GiB"
    return [
        f"{size}, Linux {machine.kernel}; {runs} runs in turn",
        ", ".join(f"{name} {version}" for name, version in found.items()),
    ]


def run(arguments: argparse.Namespace) -> None:
    """Measure, print, and keep. Raises BenchError, BuildError, CommandError, ConfigError."""
    began = dt.datetime.now(dt.UTC)
    config = effective(cluster(1), os.environ)
    mirror = packages.fill(config.release)
    with tempfile.TemporaryDirectory(prefix="kubernetes-anywhere-bench-") as folder:
        bench = Bench(
            folder=Path(folder),
            mirror=mirror,
            # Both fetch from this one.
            environment={**os.environ, MIRROR_VARIABLE: str(mirror)},
            runs=arguments.runs,
        )
        if "compare" in arguments.parts:
            for nodes in arguments.nodes:
                bench.compare(nodes)
        if "alone" in arguments.parts:
            bench.alone()
    wanted = ratios(arguments.nodes)
    about = heading(this_machine(), versions(config), arguments.runs)
    print("\n".join([*about, *bench.figures.lines(wanted)]))
    for trace in bench.traces:
        print("\n".join(["", f"{trace.group}: the longest path", *_path(trace)]))
    if arguments.json:
        document = {
            "date": began.isoformat(timespec="seconds"),
            "machine": asdict(this_machine()),
            "versions": versions(config),
            "groups": bench.figures.document(wanted),
            "traces": [asdict(trace) for trace in bench.traces],
        }
        arguments.json.write_text(as_json(document))


def _path(trace: Trace) -> list[str]:
    return events.path_lines([Span(**span) for span in trace.path])  # type: ignore[arg-type]  # JSON


def waterfall(arguments: argparse.Namespace) -> None:
    """Show the traces of a file that `run` kept."""
    for item in json.loads(arguments.file.read_text())["traces"]:
        trace = Trace(**item)
        found = [Span(**span) for span in trace.spans]  # type: ignore[arg-type]  # JSON
        print("\n".join([f"\n{trace.group}", *events.waterfall(found), "", *_path(trace)]))


def parse_arguments(words: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(required=True)
    measure = verbs.add_parser("run")
    measure.set_defaults(verb=run)
    measure.add_argument("--runs", type=int, default=3, help="of each, in turn; medians are shown")
    measure.add_argument("--nodes", type=int, nargs="+", default=[2, 5], help="beside one master")
    measure.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    measure.add_argument("--json", type=Path, help="keep all figures and spans in this file")
    show = verbs.add_parser("waterfall")
    show.set_defaults(verb=waterfall)
    show.add_argument("file", type=Path)
    return parser.parse_args(words)


def main() -> int:
    """Entry point."""
    hear_interrupts()  # as a background job, too, or each `pulumi` command takes 5 seconds more
    arguments = parse_arguments(sys.argv[1:])
    try:
        arguments.verb(arguments)
    except (BenchError, BuildError, CommandError, ConfigError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
