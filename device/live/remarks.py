"""Gathers what the device says of itself, from any thread, until the journal has a reading with it.

A reading that takes remarks may never come into the journal: the card is full, say. So what it took
is kept until `told`, and said again by the next reading that does.
"""

import logging
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from contracts.records.reading import Tamper
from contracts.records.remark import Remark, RemarkKind
from device.live.clock import Now, machine_now
from device.live.folding import folded, still_open
from device.live.health import Finding, Health

WAITING_MAX: Final = 1024
"""Remarks that wait one by one; of more, those of one kind and subject become a single span."""
PER_READING: Final = 16
"""Remarks that one reading takes; the next one takes more."""
_KINDS: Final[Mapping[tuple[str, Health], RemarkKind]] = {
    ("sensor", Health.LOST): RemarkKind.SENSOR_LOST,
    ("sensor", Health.SILENT): RemarkKind.SENSOR_SILENT,
    ("sensor", Health.REFUSED): RemarkKind.SENSOR_REFUSED,
    ("sensor", Health.FROZEN): RemarkKind.SENSOR_FROZEN,
    ("camera", Health.LOST): RemarkKind.CAMERA_LOST,
    ("camera", Health.SILENT): RemarkKind.CAMERA_SILENT,
    ("camera", Health.COVERED): RemarkKind.CAMERA_COVERED,
    ("camera", Health.STOPPED): RemarkKind.FILM_STOPPED,
}
_log: Final = logging.getLogger(__name__)


class Remarks:
    """One change after the other; what has begun is remembered until it ends.

    Args:
        now: What time it is.
    """

    def __init__(self, now: Now = machine_now) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._trip_id = ""
        self._untold: deque[Remark] = deque()
        self._taken: deque[int] = deque()  # readings that say the first of them
        self._signs: deque[tuple[int, Tamper]] = deque()  # of readings that are not in the journal
        self._missed = Tamper.NONE
        self._health: dict[tuple[str, str], RemarkKind] = {}
        self._open: set[tuple[RemarkKind, str]] = set()
        self._paused: tuple[RemarkKind, int] | None = None
        self._stopped_in_order = ""
        self._holds = Tamper.NONE

    def begin(self, trip_id: str = "", readings: int = 0) -> None:
        """Hear that recording begins, or goes on after a stop, which ended what was told.

        What readings have taken that the journal does not have is said again, and what nobody has
        taken yet, now with the pause that is over.

        Args:
            trip_id: The trip that is recorded.
            readings: How many of its readings the journal has.
        """
        with self._lock:
            if trip_id != self._trip_id:
                self._end()
            self._trip_id = trip_id
            self._told(readings)
            self._taken.clear()
            for _, signs in self._signs:
                self._missed |= signs
            self._signs.clear()
            self._open.clear()
            self._forget_health()
            if self._paused is not None:
                self._tell_pause(*self._paused)
                self._paused = None

    def goes_on(self) -> None:
        """Hear that recording goes on: it may fail from now on."""
        self._stopped_in_order = ""

    def stops(self, trip_id: str, readings: int, holds: Tamper = Tamper.NONE) -> None:
        """Hear that recording of a trip stops with all readings kept, as somebody wants it to.

        Args:
            trip_id: The trip.
            readings: How many since it went on; without one nobody has said yet how it went on.
            holds: Signs that the last reading has and that last, such as an open door.
        """
        self._stopped_in_order = trip_id if readings else ""
        self._holds = holds if readings else Tamper.NONE

    def stopped_in_order(self, trip_id: str) -> bool:
        """Say whether this process has recorded a trip until somebody wanted it to stop."""
        return trip_id == self._stopped_in_order

    def holds(self, trip_id: str) -> Tamper:
        """Return the signs that held when recording of a trip stopped in order; else none."""
        return self._holds if self.stopped_in_order(trip_id) else Tamper.NONE

    def miss(self, signs: Tamper) -> None:
        """Hear of signs that no reading has, because recording failed: the next one says them."""
        with self._lock:
            self._missed |= signs

    def end(self) -> None:
        """Hear that the trip is sealed: no other trip says what is still untold of it."""
        with self._lock:
            self._end()

    def hear(self, finding: Finding) -> None:
        """Hear of a change in what is known of a sensor or camera."""
        place, at_ms = (finding.kind, finding.sensor), self._now().utc_ms
        kind = _KINDS.get((finding.kind, finding.health))
        with self._lock:
            before = self._health.pop(place, None)
            if kind is not None:
                self._health[place] = kind
            if before is not None and before is not kind:
                self._add(Remark(before, at_ms, finding.sensor, ended=True))
            if kind is not None and kind is not before:
                self._add(Remark(kind, at_ms, finding.sensor))

    def spare(self, camera: str, spares: bool) -> None:  # noqa: FBT001 - a callback of cameras
        """Hear that a camera's film takes less room from now on, or no longer does."""
        with self._lock:
            self._add(Remark(RemarkKind.FILM_REDUCED, self._now().utc_ms, camera, ended=not spares))

    def pause(self, kind: RemarkKind) -> None:
        """Hear that nothing can be recorded, and why; the first reason of a pause is kept."""
        with self._lock:
            self._paused = self._paused or (kind, self._now().utc_ms)

    def owe(self, remarks: Iterable[Remark]) -> None:
        """Hear what the journal owes; what waits here already is not said twice."""
        with self._lock:
            for each in remarks:
                if each not in self._untold:
                    self._add(each)

    def told(self, readings: int) -> None:
        """Hear that the journal has so many readings of the trip, and what they say."""
        with self._lock:
            self._told(readings)

    def take(self, reading: int = 0, signs: Tamper = Tamper.NONE) -> tuple[list[Remark], Tamper]:
        """Return the next remarks, and the signs of the reading that says them.

        Those are its own, that a sensor is or was unplugged, and the signs of readings before it
        that never came into the journal.

        Args:
            reading: Which one of the trip it is, from 1 on. What it takes is kept until `told`.
            signs: Its own.
        """
        with self._lock:
            is_lost = any(kind is RemarkKind.SENSOR_LOST for kind, _ in self._open)
            first = len(self._taken)
            taken = list(islice(self._untold, first, first + PER_READING))
            self._taken.extend([reading] * len(taken))
            for each in taken:
                is_lost |= each.kind is RemarkKind.SENSOR_LOST and not each.ended
                change = self._open.discard if each.ended else self._open.add
                change((each.kind, each.subject))
            signs |= self._missed | (Tamper.SENSOR_UNPLUGGED if is_lost else Tamper.NONE)
            self._missed = Tamper.NONE
            if signs:
                self._signs.append((reading, signs))
        return taken, signs

    def _forget_health(self) -> None:
        """Forget what is told; what began and is not told goes on, or ends with the stop."""
        untold = still_open(self._untold)
        self._health = {
            place: kind for place, kind in self._health.items() if (kind, place[1]) in untold
        }
        known = {(kind, name) for (_, name), kind in self._health.items()}
        for kind, subject in untold:
            if (kind, subject) not in known:  # nobody will say that it ended
                self._add(Remark(kind, self._now().utc_ms, subject, ended=True))

    def _tell_pause(self, kind: RemarkKind, since_ms: int) -> None:
        """Tell a pause that is over, as one with an untold one before it: nothing came between."""
        pauses = [each for each in self._untold if each.kind is kind]
        if pauses and not pauses[0].ended:
            since_ms = pauses[0].since_ms
            self._untold = deque(each for each in self._untold if each.kind is not kind)
        self._add(Remark(kind, since_ms))
        self._add(Remark(kind, self._now().utc_ms, ended=True))

    def _told(self, readings: int) -> None:
        while self._taken and self._taken[0] <= readings:
            self._taken.popleft()
            self._untold.popleft()
        while self._signs and self._signs[0][0] <= readings:
            self._signs.popleft()

    def _end(self) -> None:
        for each in self._untold:
            _log.error(
                "trip %s is sealed, so this is not signed: %s",
                self._trip_id,
                each,
                extra={"trip_id": self._trip_id},
            )
        self._untold.clear()
        self._taken.clear()
        self._signs.clear()
        self._health.clear()
        self._missed = Tamper.NONE

    def _add(self, remark: Remark) -> None:
        self._untold.append(remark)
        if len(self._untold) > WAITING_MAX:
            first = len(self._taken)
            waiting = folded(list(self._untold)[first:])
            self._untold = deque([*islice(self._untold, first), *waiting])
