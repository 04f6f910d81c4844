"""Checks of the certificates' keys against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from findings import Finding, Loc

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from config import ClusterConfig

VALID: Loc = ("certificates", "validHours")
RENEW: Loc = ("certificates", "renewHours")


def renewal(config: ClusterConfig) -> Iterator[Finding]:
    """A certificate that is due as soon as it is made would be made anew by every run."""
    valid, renew = config.certificates.valid_hours, config.certificates.renew_hours
    if renew >= valid:
        yield Finding(
            at=RENEW,
            value=renew,
            message=f"is not less than certificates.validHours, {valid}: every run would make all "
            "certificates anew",
            remedy=f"write renewHours: {valid - 1} or less, or a greater validHours",
            rests_on=(VALID,),
        )


CERTIFICATE_CHECKS: tuple[Callable[[ClusterConfig], Iterator[Finding]], ...] = (renewal,)
