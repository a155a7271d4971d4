"""The truck's clock as a GNSS receiver sets it right, for the road, where no time server answers.

The receiver's time is laid beside the kernel's counter since boot, which no setting of a clock
moves. So the time goes on while the receiver has no fix, as in a tunnel, and the error grows.

Source: gpsd_json(5): in a TPV report `time` is the UTC of the fix, `ept` its error in seconds.
"""

import logging
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import UTC_MS_MAX, parse_rfc3339
from contracts.records.reading import ERROR_MS_MAX, Clock, ClockOrigin
from device.backoff import Backoff
from device.live.clock import Now, machine_now
from device.live.gpsd import Gpsd, has_fix
from device.live.health import RETRY_LIMIT_S

LATE_MS: Final = 1_000
"""A fix is told by its receiver, line and gpsd within so long; until then it is too old."""
DRIFT_PPM: Final = 100
"""A Pi's counter gains or loses less than this, in millionths."""
SLEW_PPM: Final = 500
"""So fast the time is held back, so that it never goes back by itself."""
JUMP_MS: Final = 2_000
"""A time that is further off is another one, such as after a wrong first fix."""
ANSWER_S: Final = 5.0
FIRST_S: Final = 3.0
"""A receiver reports each second, with a fix or without."""
_MILLION: Final = 1_000_000
_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Shift:
    """How far UTC is from the counter since boot.

    Attributes:
        ms: What is added to the counter.
        at_ms: The counter when a receiver said so last.
        error_ms: By how much its time may have been wrong.
    """

    ms: float
    at_ms: int
    error_ms: int

    def followed_by(self, ms: int, at_ms: int, error_ms: int) -> "Shift":
        """Return the shift after one more report.

        A report is late by more or less, so the earliest one is nearest to the truth, and others
        only hold the time back, slowly: readings stay in order. What is left to hold back may be
        wrong too.
        """
        ahead_ms = self.ms - ms
        if not 0 < ahead_ms <= JUMP_MS:
            return Shift(ms, at_ms, error_ms)
        left_ms = max(0.0, ahead_ms - (at_ms - self.at_ms) * SLEW_PPM / _MILLION)
        return Shift(ms + left_ms, at_ms, error_ms + math.ceil(left_ms))


class GnssClock:
    """The machine's clock while a time server keeps it right; else the receiver's time.

    Before the first fix the machine's clock stands as it is. It listens to gpsd in a thread of its
    own. Only the first call waits for what gpsd says first. Without that wait an agent that was
    started again would claim a wrong time, and its readings would say that the clock was set back.

    Args:
        address: HOST:PORT where gpsd listens.
        machine: The clock that it sets right.
    """

    def __init__(self, address: str, machine: Now = machine_now) -> None:
        self._address = address
        self._machine = machine
        self._shift: Shift | None = None
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._has_told = threading.Event()

    def __call__(self) -> Clock:
        """See `Now`."""
        self._listen()
        now, shift = self._machine(), self._shift
        is_kept = now.origin is ClockOrigin.NTP and now.error_ms is not None
        if shift is None or is_kept:
            return now
        age_ms = max(0, now.monotonic_ms - shift.at_ms)
        error_ms = min(shift.error_ms + math.ceil(age_ms * DRIFT_PPM / _MILLION), ERROR_MS_MAX)
        utc_ms = now.monotonic_ms + round(shift.ms)
        if not 0 <= utc_ms <= UTC_MS_MAX:  # a receiver that claims the last moment of 9999
            return now
        return Clock(utc_ms, now.monotonic_ms, now.boot_id, ClockOrigin.GNSS, error_ms)

    def close(self) -> None:
        """Listen no more; never raises."""
        self._over.set()
        self._has_told.set()  # nothing more is waited for

    def hear(self, report: Mapping[str, object]) -> None:
        """Take a report of gpsd; one without a fix, or without a time, says nothing.

        Raises:
            RejectedError: Its time is malformed.
        """
        found = time_of(report)
        if found is None:
            return
        utc_ms, error_ms = found
        at_ms = self._machine().monotonic_ms
        shift, ms = self._shift, utc_ms - at_ms
        self._shift = (
            Shift(ms, at_ms, error_ms) if shift is None else shift.followed_by(ms, at_ms, error_ms)
        )
        if shift is None:
            _log.info("%s gives the time", self._address)

    def _listen(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="gnss clock", daemon=True)
                self._thread.start()
                self._has_told.wait(FIRST_S)

    def _run(self) -> None:
        backoff, said = Backoff(RETRY_LIMIT_S), ""
        while not self._over.is_set():
            try:
                gpsd = Gpsd(self._address)
                try:
                    while not self._over.is_set():
                        report = gpsd.next(ANSWER_S)
                        if not report:  # such as a connection of which the other end is gone
                            raise UnavailableError(
                                f"{gpsd.name}: reports nothing for {ANSWER_S:.0f} s"
                            )
                        self.hear(report)
                        if report.get("class") == "TPV":  # others come without a receiver too
                            self._has_told.set()
                            backoff.reset()
                            said = ""
                finally:
                    gpsd.close()
            except Exception as error:  # noqa: BLE001 - a report must not end the time of a trip
                is_known = isinstance(error, RejectedError | UnavailableError)
                problem = str(error) if is_known else f"{error!r:.200}"
                if problem != said:
                    _log.warning("the time of GNSS is not known: %s", problem)
                    _log.debug("gpsd at %s", self._address, exc_info=not is_known)
                said = problem
            self._has_told.set()
            self._over.wait(backoff.next_s())


def time_of(report: Mapping[str, object]) -> tuple[int, int] | None:
    """Return the time of a report of gpsd, milliseconds UTC, and by how much it may be wrong.

    None: it has no time, or the receiver has no fix.

    Raises:
        RejectedError: The time is malformed.
    """
    text, error_s = report.get("time"), report.get("ept")
    if report.get("class") != "TPV" or not has_fix(report) or not isinstance(text, str):
        return None
    error_ms = 0
    if isinstance(error_s, int | float) and error_s >= 0:
        error_ms = round(min(error_s, ERROR_MS_MAX) * 1000)  # Python's integers know no bounds
    return parse_rfc3339(text), LATE_MS + error_ms
