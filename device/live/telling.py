"""Completes the readings of a live trip with what the device says of itself and of its film."""

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from contracts.records.reading import Clock, Reading, Tamper
from contracts.records.recording import pseudo_file_id
from contracts.records.remark import REMARKS_MAX, Remark, RemarkKind, Told
from device.camera.filming.reel import LeftBehind, Reel
from device.journal.trip import Recording, Trip
from device.live.clockwatch import ClockWatch
from device.live.remarks import Remarks

FILM_LOST_MS: Final = 5_000
"""What a cut of power costs at most: a fragment of 2 s, and 3 s that wait in memory."""


def film_lost(trip: Trip, left: LeftBehind) -> Remark:
    """Return what is to be said of a segment whose end is lost, at most.

    A cut of power ends all film until the last reading. A card that refused an end may have taken
    the camera's next segment.
    """
    last_ms, ended_ms = left.went_on_at_ms or trip.clock.utc_ms, left.ended_at_ms
    if ended_ms is None:
        return Remark(RemarkKind.FILM_LOST, last_ms, left.name, amount=FILM_LOST_MS)
    lost_ms = max(FILM_LOST_MS, last_ms - ended_ms)
    return Remark(RemarkKind.FILM_LOST, ended_ms, left.name, amount=lost_ms)


def file_id(trip: Trip, name: str) -> str:
    """Return how the ledger names a recording of a trip."""
    return pseudo_file_id(trip.device_id, f"{trip.trip_id}/{name}")


class Narrator:
    """Completes readings of one trip, one after the other.

    Args:
        trip: As the journal has it.
        recordings: Those that the journal has of it. A recorder that was killed may not have
            named them in a reading, so they are named again, which changes nothing.
        reel: Knows where the films are.
        remarks: Where all threads say what changes.
        owed: What the journal owes of the trip.
    """

    def __init__(
        self,
        trip: Trip,
        recordings: Iterable[Recording],
        reel: Reel,
        remarks: Remarks,
        owed: Iterable[Remark] = (),
    ) -> None:
        self._trip = trip
        self._reel = reel
        self._remarks = remarks
        self._clock = ClockWatch(trip.clock, goes_on=bool(trip.readings))
        self._filmed = deque((each.digest.sha256, each.digest.size) for each in recordings)
        self._signs = Tamper.NONE
        self._readings = trip.readings
        remarks.begin(trip.trip_id, trip.readings)
        remarks.owe(owed)

    def name(self, recordings: Iterable[Recording]) -> None:
        """Name recordings that became whole, and are in the journal, in the next readings."""
        self._filmed += [(each.digest.sha256, each.digest.size) for each in recordings]

    def complete(self, reading: Reading) -> Reading:
        """Return the next reading with everything that is to be said with it."""
        said, signs = self._clock.follow(reading.clock)
        self._readings += 1
        waiting, others = self._remarks.take(self._readings, reading.tamper)
        said += waiting
        signs |= others
        named = [self._filmed.popleft() for _ in range(min(len(self._filmed), REMARKS_MAX))]
        film: tuple[tuple[str, int], ...] = ()
        if said or signs != self._signs:
            film = tuple((file_id(self._trip, name), at) for name, at in self._reel.moments())
        self._signs = signs
        return replace(reading, tamper=signs, told=Told(tuple(said), tuple(named), film))

    def last(self, now: Clock, *, in_order: bool, holds: Tamper = Tamper.NONE) -> Reading | None:
        """Return a reading without measured values that carries remarks still unsaid, or None.

        Args:
            now: The clock.
            in_order: The arrival stopped the recording, so nothing is said of that. If it failed or
                was killed before, the reading says since when nothing is recorded.
            holds: Signs that held when it stopped. The reading has them too, or they would seem to
                have ended; they are no reason for one.
        """
        reading = self.complete(Reading(now, tamper=holds))
        told, news = reading.told, list(reading.told.remarks)
        if in_order:
            news = [each for each in news if each.kind is not RemarkKind.INTERRUPTED]
        # A sensor that stays unplugged is no news.
        if not news and not reading.tamper & ~(Tamper.SENSOR_UNPLUGGED | holds):
            return None
        return replace(reading, told=replace(told, remarks=tuple(news)))
