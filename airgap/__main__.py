"""Builds and shows what stands in for the internet.

python -m airgap engine                     the Pulumi CLI, its Python host, plugins
python -m airgap mirror [--release v1.37.2] images and archives, as a folder to be served
python -m airgap flags [--release v1.37.2]  flags/: what each program's --help knows; all releases
python -m airgap status                     what is there, and its size
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping

from airgap import engine, flags, mirror, status
from airgap.progress import BuildError, say
from versions import DEFAULT_RELEASE, RELEASES


def _engine(_: argparse.Namespace) -> None:
    engine.build()
    say(f"engine: ready in {engine.bin_folder()}")


def _mirror(arguments: argparse.Namespace) -> None:
    say(f"mirror of {arguments.release}: ready in {mirror.build(arguments.release)}")


def _flags(arguments: argparse.Namespace) -> None:
    flags.write([RELEASES[name] for name in arguments.release or RELEASES])


def _status(_: argparse.Namespace) -> None:
    for line in status.lines():
        say(line)


_VERBS: Mapping[str, Callable[[argparse.Namespace], None]] = {
    "engine": _engine,
    "mirror": _mirror,
    "flags": _flags,
    "status": _status,
}


def main() -> int:
    """Entry point."""
    parser = argparse.ArgumentParser(
        prog="python -m airgap",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in _VERBS:
        verb = verbs.add_parser(name)
        if name == "mirror":
            verb.add_argument("--release", choices=sorted(RELEASES), default=DEFAULT_RELEASE)
        if name == "flags":
            verb.add_argument("--release", choices=sorted(RELEASES), action="append")
    arguments = parser.parse_args()
    try:
        _VERBS[arguments.verb](arguments)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
