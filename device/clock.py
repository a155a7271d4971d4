"""Clocks: when a reading says that it was taken.

A live trip claims the machine's UTC time beside the counter since boot. A
replayed one is derived: its start plus the offset, on a boot id of its own.
"""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from contracts.errors import UnavailableError
from contracts.records.clock import Clock, ClockOrigin, now_ms

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_NTP_SYNCHRONISED: Final = Path("/run/systemd/timesync/synchronized")
_RTC: Final = Path("/dev/rtc0")


class TripClock(Protocol):
    """Says which clock a sample gets."""

    def at(self, offset_ms: int) -> Clock:
        """Return the clock of the sample `offset_ms` after the trip's start."""
        ...


@dataclass(frozen=True, slots=True)
class ReplayClock:
    """The clock of a replayed trip.

    Attributes:
        started_at_ms: UTC of the trip's start, milliseconds since the Unix epoch.
        boot_id: 16 bytes; the trip's nonce.
        origin: GNSS when a track gives the time, else NONE.
    """

    started_at_ms: int
    boot_id: bytes
    origin: ClockOrigin

    def at(self, offset_ms: int) -> Clock:
        """See `TripClock.at`."""
        return Clock(self.started_at_ms + offset_ms, offset_ms, self.boot_id, self.origin)


@dataclass(frozen=True, slots=True)
class LiveClock:
    """The clock of this machine, now; the offset is where it should be, not where it is."""

    boot_id: bytes

    def at(self, offset_ms: int) -> Clock:
        """See `TripClock.at`."""
        del offset_ms
        return Clock(
            now_ms(),
            time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000,
            self.boot_id,
            _origin(),
        )


def live_clock() -> LiveClock:
    """Return this machine's clock.

    Raises:
        UnavailableError: The system does not tell its boot id.
    """
    try:
        return LiveClock(bytes.fromhex(_BOOT_ID.read_text("ascii").strip().replace("-", "")))
    except (OSError, ValueError) as error:
        raise UnavailableError(f"boot id {_BOOT_ID}: {error}") from error


def _origin() -> ClockOrigin:
    if _NTP_SYNCHRONISED.exists():
        return ClockOrigin.NTP
    return ClockOrigin.RTC if _RTC.exists() else ClockOrigin.NONE
