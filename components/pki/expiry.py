"""When certificates end: what of it is an output, and what is warned of. Pure functions.

The output has dates and no days, which would make each run a change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

# An authority that ends so soon is told of in each run: to have another one takes some care.
WARNING_DAYS = 90
SHOWN_NAMES = 5


def earliest(ends: Mapping[str, str]) -> dict[str, str]:
    """The certificate that ends first, of {name: RFC 3339}: {"first": its name, "expires": when}.

    `expires` is in UTC and whole seconds, as certificates have it.
    """
    moment, name = min((_moment(text), name) for name, text in ends.items())
    return {"first": name, "expires": _text(moment)}


def old_authorities(ends: Mapping[str, str], now: datetime) -> list[str]:
    """A warning for each authority of {name: RFC 3339} that ends soon, or has ended."""
    left = {name: (_moment(text) - now).days for name, text in ends.items()}
    return [
        f"the authority {name} ends at {_text(_moment(ends[name]))} ({days} days left), and with "
        "it all that it has signed; see docs/certificates.md"
        for name, days in left.items()
        if days < WARNING_DAYS
    ]


def renewals(names: Sequence[str], renew_hours: int) -> str:
    """The warning of certificates that a run is about to make anew."""
    shown = ", ".join(names[:SHOWN_NAMES])
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return (
        f"{len(names)} certificate(s) will be made anew, since no more than {renew_hours} hours "
        "(certificates.renewHours) are left or certificates.validHours is another; what uses them "
        f"restarts, host by host: {shown}{more}"
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
