"""Times, and how far a claimed time can be trusted.

Times are milliseconds since the Unix epoch, UTC; at the border RFC 3339.
"""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum
from typing import Final, Self

from contracts.errors import RejectedError
from contracts.proto.payload_pb2 import Clock as ClockMessage

BOOT_ID_BYTES: Final = 16
MONOTONIC_MS_END: Final = 1 << 63
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


class ClockOrigin(IntEnum):
    """Where the UTC time came from, weakest first."""

    NONE = 0
    RTC = 1
    NTP = 2
    GNSS = 3


@dataclass(frozen=True, slots=True)
class Clock:
    """The claimed UTC time, and a counter that no clock setting changes.

    Attributes:
        utc_ms: Milliseconds since the Unix epoch, UTC.
        monotonic_ms: Milliseconds since the device booted.
        boot_id: 16 bytes that change with every boot.
        origin: Where `utc_ms` came from.

    Raises:
        RejectedError: A field is outside its range.
    """

    utc_ms: int
    monotonic_ms: int
    boot_id: bytes
    origin: ClockOrigin

    def __post_init__(self) -> None:
        """Check the ranges, so that no invalid clock exists."""
        check_utc_ms("utc_ms", self.utc_ms)
        if not 0 <= self.monotonic_ms < MONOTONIC_MS_END:
            raise RejectedError(f"monotonic_ms must be 0..2^63-1: {self.monotonic_ms}")
        if len(self.boot_id) != BOOT_ID_BYTES:
            raise RejectedError(f"boot id must be {BOOT_ID_BYTES} bytes, got {len(self.boot_id)}")

    def message(self) -> ClockMessage:
        """Return the wire form."""
        return ClockMessage(
            utc_ms=self.utc_ms,
            monotonic_ms=self.monotonic_ms,
            boot_id=self.boot_id,
            origin=ClockMessage.Origin.Name(self.origin),
        )

    @classmethod
    def from_message(cls, message: ClockMessage) -> Self:
        """Take the wire form.

        Raises:
            RejectedError: A field is outside its range, or the origin is unknown.
        """
        try:
            origin = ClockOrigin(message.origin)
        except ValueError as error:
            raise RejectedError(f"clock origin must be 0..3: {message.origin}") from error
        return cls(message.utc_ms, message.monotonic_ms, message.boot_id, origin)
