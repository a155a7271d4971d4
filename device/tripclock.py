"""When the samples of a trip were taken: by the truck's clock, or by what was replayed."""

from dataclasses import dataclass, replace
from typing import Protocol

from contracts.records.reading import Clock, ClockOrigin
from device.live.clock import Now


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
    """The truck's clock: the moment of the call, whatever offset was planned.

    Attributes:
        now: What time it is.
        tells_error: By how much it may be wrong is told, which version 1.2 of the rules takes.
    """

    now: Now
    tells_error: bool

    def at(self, offset_ms: int) -> Clock:
        """See `TripClock.at`."""
        del offset_ms
        now = self.now()
        return now if self.tells_error else replace(now, error_ms=None)
