"""Gathers what the device says of itself, from any thread, until a reading takes it."""

import logging
import threading
from collections import deque
from collections.abc import Iterable, Mapping
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
        self._owed: deque[Remark] = deque()
        self._waiting: deque[Remark] = deque()
        self._health: dict[tuple[str, str], RemarkKind] = {}
        self._open: set[tuple[RemarkKind, str]] = set()
        self._paused: tuple[RemarkKind, int] | None = None

    def begin(self) -> None:
        """Forget what was: recording begins, or goes on after a stop, which ends everything.

        What is owed stays, now with the pause that is over.
        """
        with self._lock:
            if self._paused is not None:
                kind, since_ms = self._paused
                self._owed += Remark(kind, since_ms), Remark(kind, self._now().utc_ms, ended=True)
                self._paused = None
            self._waiting.clear()
            self._health.clear()
            self._open.clear()

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
        """Hear what is said before all else, however often recording begins until then."""
        with self._lock:
            self._owed += remarks

    def take(self) -> tuple[list[Remark], Tamper]:
        """Return the next remarks, and the sign that a sensor is, or was, unplugged."""
        with self._lock:
            is_lost = any(kind is RemarkKind.SENSOR_LOST for kind, _ in self._open)
            taken = [self._owed.popleft() for _ in range(min(len(self._owed), PER_READING))]
            while self._waiting and len(taken) < PER_READING:
                taken.append(self._waiting.popleft())
                each = taken[-1]
                is_lost |= each.kind is RemarkKind.SENSOR_LOST and not each.ended
                change = self._open.discard if each.ended else self._open.add
                change((each.kind, each.subject))
        return taken, Tamper.SENSOR_UNPLUGGED if is_lost else Tamper.NONE

    def _add(self, remark: Remark) -> None:
        if len(self._waiting) >= WAITING_MAX:
            _log.error("over %d remarks wait, so one is not signed: %s", WAITING_MAX, remark)
            return
        self._waiting.append(remark)
