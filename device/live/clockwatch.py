"""What the clock does from reading to reading: boots, settings, and the moment when it is right."""

from typing import Final

from contracts.records.reading import Clock, ClockOrigin, Tamper
from contracts.records.remark import Remark, RemarkKind

BEGINS_MS: Final = 15_000
"""A new trip has its first reading this soon: sensors are awaited for 5 s, cameras open."""
STEP_MS: Final = 2_000
"""UTC and the counter move apart by less than this, however NTP slews the clock."""
_RIGHT: Final = (ClockOrigin.NTP, ClockOrigin.GNSS)


class ClockWatch:
    """Follows the clock of one trip.

    Args:
        last: Clock of the trip's last reading, or of its start.
        goes_on: The trip has readings, and goes on now. One that was begun and has none may be new.
    """

    def __init__(self, last: Clock, *, goes_on: bool) -> None:
        self._last = last
        self._goes_on = goes_on
        self._is_first = True
        self._is_wrong = last.origin is ClockOrigin.NONE

    def follow(self, now: Clock) -> tuple[list[Remark], Tamper]:
        """Return what is to be said of the next reading's clock, and the signs in it."""
        last, self._last = self._last, now
        said, signs = self._begun(last, now)
        shift_ms = 0
        if now.boot_id != last.boot_id:
            self._is_wrong = False  # no counter spans two boots
            shift_ms = min(0, now.utc_ms - last.utc_ms)
        else:
            shift_ms = (now.utc_ms - now.monotonic_ms) - (last.utc_ms - last.monotonic_ms)
            self._is_wrong |= abs(shift_ms) > STEP_MS
        if shift_ms < -STEP_MS:
            said.append(Remark(RemarkKind.CLOCK_BACK, now.utc_ms, amount=-shift_ms))
            if now.origin not in _RIGHT:
                signs |= Tamper.CLOCK_SET_BACK
        elif shift_ms > STEP_MS:
            said.append(Remark(RemarkKind.CLOCK_AHEAD, now.utc_ms, amount=shift_ms))
        if self._is_wrong and now.origin in _RIGHT:
            self._is_wrong = False
            said.append(Remark(RemarkKind.CLOCK_CORRECTED, now.utc_ms, amount=abs(shift_ms)))
        self._is_wrong |= now.origin is ClockOrigin.NONE
        return said, signs

    def _begun(self, last: Clock, now: Clock) -> tuple[list[Remark], Tamper]:
        """Say how recording went on, with the first reading after a stop."""
        if not self._is_first:
            return [], Tamper.NONE
        self._is_first = False
        if now.boot_id != last.boot_id:
            silent_ms = max(0, now.utc_ms - last.utc_ms)
            said = Remark(RemarkKind.REBOOTED, now.utc_ms, amount=silent_ms)
            return [said], Tamper.REBOOTED
        silent_ms = max(0, now.monotonic_ms - last.monotonic_ms)
        if not self._goes_on and silent_ms <= BEGINS_MS:
            return [], Tamper.NONE
        return [Remark(RemarkKind.INTERRUPTED, now.utc_ms, amount=silent_ms)], Tamper.NONE
