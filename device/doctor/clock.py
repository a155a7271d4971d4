"""The clock: what keeps it right, and whether it goes on from where the latest reading was."""

from collections.abc import Iterator
from typing import Final

from contracts.records.clock import rfc3339
from contracts.runtime.checks import Finding, error, ok, warning
from device.doctor.machine import Machine

_SYNCHRONISE: Final = (
    "timedatectl set-ntp true, and wait a minute near a network; on the road readings have the "
    "time of a GPS receiver by `gpsd` in [clock]"
)
_BATTERY: Final = "add one, such as a DS3231: dtoverlay=i2c-rtc,ds3231 in /boot/firmware/config.txt"


def findings(machine: Machine, latest_ms: int | None) -> Iterator[Finding]:
    """Yield what was found of the clock.

    Args:
        machine: The truck's.
        latest_ms: When the latest reading was taken live, UTC; None if there was none.
    """
    now_ms, kept = machine.now_ms(), machine.clock()
    if kept is None:
        yield warning("clock", "the kernel does not tell whether it is synchronised", _SYNCHRONISE)
    elif kept.synchronised:
        words = f"{rfc3339(now_ms)}, synchronised, wrong by at most {kept.max_error_s:.1f} s"
        yield ok("clock", words)
    else:
        words = f"{rfc3339(now_ms)}, not synchronised: the times of readings may be wrong"
        yield warning("clock", words, _SYNCHRONISE)
    if latest_ms is not None and now_ms < latest_ms:
        yield error(
            "clock",
            f"it is at {rfc3339(now_ms)}, before the latest reading of {rfc3339(latest_ms)}: it "
            "was set back, or was ahead then",
            _SYNCHRONISE,
        )
    if not machine.battery_clock.exists():
        words = "no clock with a battery: after a power cut without a network the time is wrong"
        yield warning("clock", words, _BATTERY)
