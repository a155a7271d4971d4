"""Gathers what the device says of itself, from any thread, until a reading takes it."""

import logging
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from contracts.records.reading import Tamper
from contracts.records.remark import Remark, RemarkKind
from device.live.clock import Now, machine_now
from device.live.health import Finding, Health

WAITING_MAX: Final = 1024
"""Remarks that wait for a reading. A sensor changes every few seconds at most, so a stop of an hour
fills no more than that; what comes then is in the log alone."""
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
        self._owed: deque[Remark] = deque()
        self._said: deque[int] = deque()
        self._waiting: deque[Remark] = deque()
        self._health: dict[tuple[str, str], RemarkKind] = {}
        self._open: set[tuple[RemarkKind, str]] = set()
        self._paused: tuple[RemarkKind, int] | None = None

    def begin(self, trip_id: str = "", readings: int = 0) -> None:
        """Forget what was: recording begins, or goes on after a stop, which ends everything.

        What is owed of this trip stays, now with the pause that is over.

        Args:
            trip_id: The trip that is recorded.
            readings: How many of its readings the journal has: what others said is said again.
        """
        with self._lock:
            if trip_id != self._trip_id:
                self._end()
            self._trip_id = trip_id
            self._told(readings)
            self._said.clear()
            if self._paused is not None:
                self._owe_pause(*self._paused)
                self._paused = None
            self._waiting.clear()
            self._health.clear()
            self._open.clear()

    def end(self) -> None:
        """Hear that the trip is sealed: no other trip says what is still owed of it."""
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
        """Hear what is said before all else, again and again until the journal has it."""
        with self._lock:
            for each in remarks:
                self._put(self._owed, each)

    def told(self, readings: int) -> None:
        """Hear that the journal has so many readings of the trip: what they say is not owed."""
        with self._lock:
            self._told(readings)

    def take(self, reading: int = 0) -> tuple[list[Remark], Tamper]:
        """Return the next remarks, and the sign that a sensor is, or was, unplugged.

        Args:
            reading: Which one of the trip says them, from 1 on. What is owed is kept until `told`.
        """
        with self._lock:
            is_lost = any(kind is RemarkKind.SENSOR_LOST for kind, _ in self._open)
            said = len(self._said)
            taken = list(islice(self._owed, said, said + PER_READING))
            self._said.extend([reading] * len(taken))
            while self._waiting and len(taken) < PER_READING:
                taken.append(self._waiting.popleft())
                each = taken[-1]
                is_lost |= each.kind is RemarkKind.SENSOR_LOST and not each.ended
                change = self._open.discard if each.ended else self._open.add
                change((each.kind, each.subject))
        return taken, Tamper.SENSOR_UNPLUGGED if is_lost else Tamper.NONE

    def _owe_pause(self, kind: RemarkKind, since_ms: int) -> None:
        """Owe a pause that is over, as one with an untold one before it: nothing came between."""
        before = next((each for each in self._owed if each.kind is kind and not each.ended), None)
        if before is not None:
            since_ms = before.since_ms
            self._owed = deque(each for each in self._owed if each.kind is not kind)
        self._put(self._owed, Remark(kind, since_ms))
        self._put(self._owed, Remark(kind, self._now().utc_ms, ended=True))

    def _told(self, readings: int) -> None:
        while self._said and self._said[0] <= readings:
            self._said.popleft()
            self._owed.popleft()

    def _end(self) -> None:
        for each in self._owed:
            _log.error(
                "trip %s is sealed, so this is not signed: %s",
                self._trip_id,
                each,
                extra={"trip_id": self._trip_id},
            )
        self._owed.clear()
        self._said.clear()

    def _add(self, remark: Remark) -> None:
        self._put(self._waiting, remark)

    def _put(self, remarks: deque[Remark], remark: Remark) -> None:
        if len(remarks) >= WAITING_MAX:
            _log.error("over %d remarks wait, so one is not signed: %s", WAITING_MAX, remark)
            return
        remarks.append(remark)
