"""Times: milliseconds since the Unix epoch, UTC; at the border RFC 3339."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

from contracts.errors import RejectedError

UTC_MS_MAX: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, beyond which RFC 3339 has no form."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND: Final = timedelta(milliseconds=1)


def now_ms() -> int:
    """Return this machine's time."""
    return time.time_ns() // 1_000_000


def moment(utc_ms: int) -> datetime:
    """Return the time `utc_ms`, exactly, in UTC."""
    return _EPOCH + utc_ms * _MILLISECOND


def utc_ms_of(moment: datetime) -> int:
    """Return a time with zone in milliseconds, rounded down; before 1970 it is negative."""
    return (moment - _EPOCH) // _MILLISECOND


def rfc3339(utc_ms: int) -> str:
    """Return the time `utc_ms` as text: UTC, with milliseconds."""
    return moment(utc_ms).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_rfc3339(text: str) -> int:
    """Parse an RFC 3339 time.

    Raises:
        RejectedError: Not a time, without zone, before 1970 or after the year 9999.
    """
    try:
        found = datetime.fromisoformat(text)
        utc_ms = utc_ms_of(found) if found.tzinfo else -1
    except (ValueError, OverflowError):
        utc_ms = -1
    if not 0 <= utc_ms <= UTC_MS_MAX:
        raise RejectedError(
            f"expected a time with zone such as 2026-03-02T06:00:00Z, got {text[:80]!r}"
        )
    return utc_ms


def check_utc_ms(name: str, value: int) -> None:
    """Check a claimed time, milliseconds since the Unix epoch.

    Raises:
        RejectedError: Before 1970 or after the year 9999.
    """
    if not 0 <= value <= UTC_MS_MAX:
        raise RejectedError(f"{name} must be 0..{UTC_MS_MAX}: {value}")
