"""The clock: what keeps it right, and whether it goes on from where the latest reading was."""

from collections.abc import Iterator
from typing import Final

from contracts.records.clock import rfc3339
from contracts.records.reading import Clock, ClockOrigin
from contracts.runtime.checks import Finding, error, ok, warning
from device.doctor.machine import Machine
from device.live.gnss import GnssClock
from device.settings import Settings
from device.station import clock_of

_SYNCHRONISE: Final = "timedatectl set-ntp true, and wait a minute near a network"
_RECEIVER: Final = "; on the road, set `gpsd` in [clock] to use a receiver's time"
_OPEN_SKY: Final = "`cgps` shows what the receiver gives, under open sky"
_BATTERY: Final = "add one, such as a DS3231: dtoverlay=i2c-rtc,ds3231 in /boot/firmware/config.txt"
_RIGHT: Final = (ClockOrigin.NTP, ClockOrigin.GNSS)


def findings(machine: Machine, latest_ms: int | None, settings: Settings) -> Iterator[Finding]:
    """Yield what was found of the clock.

    Args:
        machine: The truck's.
        latest_ms: When the latest reading was taken live, UTC; None if there was none.
        settings: Say whose time readings have.

    Raises:
        UnavailableError: The system has no readable boot id.
    """
    now_ms, kept, claimed = machine.now_ms(), machine.clock(), _claimed(settings)
    remedy = _SYNCHRONISE + _RECEIVER if claimed is None else _SYNCHRONISE
    if kept is not None and kept.synchronised:
        words = f"{rfc3339(now_ms)}, synchronised, wrong by at most {kept.max_error_s:.1f} s"
        yield ok("clock", words)
    elif claimed is not None and claimed.origin in _RIGHT:
        words = f"readings have {rfc3339(claimed.utc_ms)} by {claimed.origin.name}"
        yield ok("clock", f"{words}; the machine's own, {rfc3339(now_ms)}, is not synchronised")
    elif kept is None:
        yield warning("clock", "the kernel does not tell whether it is synchronised", remedy)
    else:
        words = f"{rfc3339(now_ms)}, not synchronised: the times of readings may be wrong"
        yield warning("clock", words, remedy)
    reading_ms = now_ms if claimed is None else claimed.utc_ms
    if latest_ms is not None and reading_ms < latest_ms:
        words = f"it is at {rfc3339(reading_ms)}, before the latest reading of {rfc3339(latest_ms)}"
        if settings.clock.gpsd is not None and claimed is not None and claimed.origin not in _RIGHT:
            why = f"{words}, and the receiver gives no time now: an agent that begins now is wrong"
            yield warning("clock", f"{why} until its first fix", _OPEN_SKY)
        else:
            yield error("clock", f"{words}: it was set back, or was ahead then", remedy)
    if not machine.battery_clock.exists():
        words = "no clock with a battery: after a power cut without a network the time is wrong"
        yield warning("clock", words, _BATTERY)


def _claimed(settings: Settings) -> Clock | None:
    """Return the time that readings have, unless that is the machine's own."""
    if settings.clock.gpsd is None and settings.clock.file is None:
        return None
    now = clock_of(settings)
    try:
        return now()
    finally:
        if isinstance(now, GnssClock):
            now.close()
