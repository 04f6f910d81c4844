"""Keys with their certificates, and what a run says about how long these are valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pulumi import Output, Resource, log

from components.pki import expiry


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """A private key and its certificate, both PEM."""

    key: Output[str]
    certificate: Output[str]
    valid_from: Output[str]  # RFC 3339
    valid_until: Output[str]  # likewise
    request: Output[str] | None = None  # what an authority signed; None: nobody did, it is one


def watch(
    owner: Resource,
    *,
    authorities: Mapping[str, Pair],
    leaves: Mapping[str, Pair],
    renew_hours: int,
) -> Output[dict[str, dict[str, str]]]:
    """Which leaf and which authority end first, and when; warns of what `owner` is to renew.

    The certificates are given by the names of their resources.
    """

    def warn_of_authorities(ends: Mapping[str, str]) -> None:
        for warning in expiry.old_authorities(ends, datetime.now(UTC)):
            log.warn(warning, resource=owner)

    def warn_of_renewals(names: list[str]) -> None:
        if names:
            log.warn(expiry.renewals(names, renew_hours), resource=owner)

    authorities_end = _ends(authorities)
    authorities_end.apply(warn_of_authorities)
    renewed: Output[list[str]] = Output.from_input(_renewed(leaves))
    renewed.apply(warn_of_renewals)
    return Output.all(
        leaves=_ends(leaves).apply(expiry.earliest),
        authorities=authorities_end.apply(expiry.earliest),
    )


def _ends(pairs: Mapping[str, Pair]) -> Output[dict[str, str]]:
    return Output.all(**{name: pair.valid_until for name, pair in pairs.items()})


async def _renewed(leaves: Mapping[str, Pair]) -> list[str]:
    return [name for name, pair in leaves.items() if await _is_renewed(pair)]


async def _is_renewed(pair: Pair) -> bool:
    """Whether a preview does not know the certificate yet, although it knows what is signed."""
    return (
        pair.request is not None
        and await pair.request.is_known()
        and not await pair.certificate.is_known()
    )
