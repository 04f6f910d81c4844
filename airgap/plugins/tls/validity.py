"""The times of certificates, and when one is due for renewal."""

from __future__ import annotations

import time
from datetime import UTC, datetime

from airgap.plugins.protocol import PluginError
from airgap.plugins.tls.resource import TlsError
from airgap.plugins.values import Properties, Value, plain

_NANOSECONDS = 1_000_000_000
_SECONDS_PER_HOUR = 3600
# Beyond this, the official plugin's arithmetic overflows.
_MOST_HOURS = 2_562_047


class Period:
    """From now on for a number of hours."""

    def __init__(self, hours: int) -> None:
        if hours > _MOST_HOURS:
            detail = f"validity_period_hours must be at most {_MOST_HOURS}, got: {hours}"
            raise TlsError("Invalid validity period", detail)
        self._start = time.time_ns()
        self._end = self._start + hours * _SECONDS_PER_HOUR * _NANOSECONDS

    @property
    def not_before(self) -> datetime:
        """The start, as certificates have it."""
        return datetime.fromtimestamp(self._start // _NANOSECONDS, UTC)

    @property
    def not_after(self) -> datetime:
        """The end, as certificates have it."""
        return datetime.fromtimestamp(self._end // _NANOSECONDS, UTC)

    def outputs(self) -> Properties:
        """Both, as the state has them."""
        return {
            "validityStartTime": _rfc3339(self._start),
            "validityEndTime": _rfc3339(self._end),
        }


def _rfc3339(nanoseconds: int) -> str:
    """Write a time in the local zone with as many digits as it has."""
    seconds, rest = divmod(nanoseconds, _NANOSECONDS)
    local = datetime.fromtimestamp(seconds).astimezone()
    fraction = f".{rest:09d}".rstrip("0").rstrip(".")
    zone = local.strftime("%z")
    zone = "Z" if zone == "+0000" else f"{zone[:3]}:{zone[3:]}"
    return f"{local:%Y-%m-%dT%H:%M:%S}{fraction}{zone}"


def is_due(state: Properties, early_hours: Value) -> bool:
    """Say whether a certificate is about to expire, or has."""
    text = str(plain(state.get("validityEndTime")))
    try:
        end = datetime.fromisoformat(text)
        left = end - datetime.now(UTC)
    except (ValueError, TypeError) as error:
        raise PluginError(f"Failed to parse data from string: {text!r}: {error}") from error
    return left.total_seconds() <= hours(early_hours) * _SECONDS_PER_HOUR


def hours(value: Value) -> int:
    """Read a number of hours; what is unknown or absent is none."""
    number = plain(value)
    return int(number) if isinstance(number, int | float) else 0
