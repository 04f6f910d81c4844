"""What of a simulated cloud is on this computer, by its label: two questions to the engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.local.containers.engine import CLUSTER, LABEL, ROLE, docker
from tests.clouds.fabric.place import Place

IDENTITY = f"{LABEL}.identity"  # what an object is; another identity is another object
_RUNNING = {"running", "restarting"}
_HALF_MADE = {"created", "removing", "dead"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A container that is there."""

    running: bool
    whole: bool  # not one whose making or removal was interrupted
    networks: frozenset[str]
    role: str
    identity: str


@dataclass(frozen=True, kw_only=True, slots=True)
class There:
    """All that is there, by name."""

    containers: Mapping[str, Found]
    networks: Mapping[str, str]  # with their identity


def look(place: Place) -> There:
    """Ask the engine."""
    mine = ("--filter", f"label={CLUSTER}={place.prefix}")
    labels = [_label(ROLE), _label(IDENTITY)]
    containers = _rows(
        "ps", "--all", *mine, fields=["{{.Names}}", "{{.State}}", "{{.Networks}}", *labels]
    )
    networks = _rows("network", "ls", *mine, fields=["{{.Name}}", _label(IDENTITY)])
    return There(
        containers={
            name: Found(
                running=state in _RUNNING,
                whole=state not in _HALF_MADE,
                networks=frozenset(on.split(",")),
                role=role,
                identity=identity,
            )
            for name, state, on, role, identity in containers
        },
        networks={name: identity for name, identity in networks},  # noqa: C416 (rows are lists)
    )


def _label(name: str) -> str:
    return f'{{{{.Label "{name}"}}}}'


def _rows(*command: str, fields: list[str]) -> list[list[str]]:
    listed = docker(*command, "--format", "\t".join(fields))
    return [line.split("\t") for line in listed.splitlines()]
