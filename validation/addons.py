"""Checks of the add-ons and of the mirror that they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalogue import CatalogueError, read_catalogue
from findings import Finding
from versions import Arch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config import ClusterConfig


def logging(config: ClusterConfig) -> Iterator[Finding]:
    """A receiver is given exactly if logs are to be forwarded."""
    logs = config.addons.logging
    output, forward = ("addons", "logging", "output"), ("addons", "logging", "forward")
    if logs.output == "forward" and logs.forward is None:
        yield Finding(
            at=forward,
            value=None,
            message="is missing: addons.logging.output is forward, but nothing says where to",
            remedy="add forward: {host: logs.example.com}, or write output: stdout",
            rests_on=(output,),
        )
    if logs.output != "forward" and logs.forward is not None:
        yield Finding(
            at=forward,
            value=logs.forward.host,
            message=f"has no effect: addons.logging.output is {logs.output}",
            remedy="write output: forward, or leave out forward",
            rests_on=(output,),
        )


def heapster(config: ClusterConfig) -> Iterator[Finding]:
    """Heapster's last image was built for one architecture."""
    if config.addons.metrics == "heapster" and config.arch not in {None, Arch.AMD64}:
        yield Finding(
            at=("addons", "metrics"),
            value=config.addons.metrics,
            message=f"has an image for {Arch.AMD64} only, but arch is {config.arch}",
            remedy="write metrics-server or none",
            rests_on=(("arch",),),
        )


def mirror(config: ClusterConfig) -> Iterator[Finding]:
    """The mirror is one, and one for this release."""
    if config.mirror is None:
        return
    at, directory = ("mirror", "directory"), config.mirror.directory
    try:
        made_for = read_catalogue(directory).release
    except CatalogueError as error:
        yield Finding(
            at,
            directory,
            str(error),
            "write a folder that `python -m airgap mirror` made, or leave out mirror (and unset "
            "KUBERNETES_ANYWHERE_MIRROR)",
        )
        return
    if made_for != config.kubernetes_version:
        yield Finding(
            at=at,
            value=directory,
            message=f"was made for {made_for}, but kubernetesVersion is "
            f"{config.kubernetes_version}",
            remedy=f"write a mirror made for {config.kubernetes_version}, or kubernetesVersion: "
            f"{made_for}",
            rests_on=(("kubernetesVersion",),),
        )


ADDON_CHECKS: tuple[Callable[[ClusterConfig], Iterator[Finding]], ...] = (
    logging,
    heapster,
    mirror,
)
