"""Port: where samples come from, and the clock that makes each of them a reading.

A live trip claims the machine's UTC time beside the counter since boot. A replayed trip is
derived: its start plus each sample's offset, with the trip's nonce as boot id.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from contracts.errors import UnavailableError
from contracts.records.clock import Clock, ClockOrigin, now_ms
from contracts.records.reading import Position, Reading, Tamper

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_NTP_SYNCHRONISED: Final = Path("/run/systemd/timesync/synchronized")
_RTC: Final = Path("/dev/rtc0")


@dataclass(frozen=True, slots=True)
class Sample:
    """What the sensors measured, before the device adds clock and chain. None: not measured.

    Attributes:
        offset_ms: Milliseconds since the trip's start.
        temperature_mcel: Thousandths of a degree Celsius.
        humidity_mpct: Relative humidity, thousandths of a percent.
        pressure_pa: Pascal.
        position: Where the truck is.
        tamper: Signs of tampering at that moment.
    """

    offset_ms: int
    temperature_mcel: int | None = None
    humidity_mpct: int | None = None
    pressure_pa: int | None = None
    position: Position | None = None
    tamper: Tamper = Tamper.NONE

    def reading(self, clock: Clock, position: Position | None, *, derived: bool) -> Reading:
        """Return the reading at `clock` and `position`.

        Raises:
            RejectedError: A value is outside its range.
        """
        return Reading(
            clock,
            temperature_mcel=self.temperature_mcel,
            humidity_mpct=self.humidity_mpct,
            pressure_pa=self.pressure_pa,
            position=position,
            tamper=self.tamper,
            derived=derived,
        )


class SensorSource(Protocol):
    """Samples of one trip, in the order in which they were taken.

    Every call of `samples` yields the same samples: an interrupted trip is continued by
    skipping the recorded ones.
    """

    def samples(self) -> Iterator[Sample]:
        """Yield every sample once.

        Raises:
            RejectedError: The source is invalid; the message says where.
        """
        ...


class TripClock(Protocol):
    """Tells when a sample was taken."""

    def at(self, offset_ms: int) -> Clock:
        """Return the time of the sample that is due `offset_ms` after the trip's start."""
        ...


@dataclass(frozen=True, slots=True)
class ReplayClock:
    """The clock of a replayed trip.

    Attributes:
        started_at_ms: UTC of the trip's start, milliseconds since the Unix epoch.
        boot_id: 16 bytes; the trip's nonce.
    """

    started_at_ms: int
    boot_id: bytes

    def at(self, offset_ms: int) -> Clock:
        """See `TripClock.at`."""
        return Clock(self.started_at_ms + offset_ms, offset_ms, self.boot_id, ClockOrigin.NONE)


@dataclass(frozen=True, slots=True)
class LiveClock:
    """The clock of this machine: the moment of the call, whatever offset was planned."""

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
        UnavailableError: The system has no readable boot id.
    """
    try:
        return LiveClock(bytes.fromhex(_BOOT_ID.read_text("ascii").strip().replace("-", "")))
    except (OSError, ValueError) as error:
        raise UnavailableError(f"boot id {_BOOT_ID}: {error}") from error


def _origin() -> ClockOrigin:
    if _NTP_SYNCHRONISED.exists():
        return ClockOrigin.NTP
    return ClockOrigin.RTC if _RTC.exists() else ClockOrigin.NONE
