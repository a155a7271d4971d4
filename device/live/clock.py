"""What time it is on the truck: UTC, where it comes from, and by how much it may be wrong.

Port `Now` has three implementations: the machine's clock, that clock as another program sets it
right in a file, and `gnss`, which has the time of a receiver.
"""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import UTC_MS_MAX
from contracts.records.reading import ERROR_MS_MAX, Clock, ClockOrigin
from contracts.runtime.kernelclock import kernel_clock

Now = Callable[[], Clock]
"""Returns the clock at the moment of the call. The counter and the boot id are the kernel's own:
no setting of a clock changes them. Raises UnavailableError if the system has no boot id."""
FILE_BYTES_MAX: Final = 128
"""What is read of a file that sets the clock right."""
_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
_NTP_SYNCHRONISED: Final = Path("/run/systemd/timesync/synchronized")
_RTC: Final = Path("/dev/rtc0")
_log: Final = logging.getLogger(__name__)


def machine_now() -> Clock:
    """Return this machine's clock.

    Raises:
        UnavailableError: The system has no readable boot id.
    """
    try:
        boot_id = bytes.fromhex(_BOOT_ID.read_text("ascii").strip().replace("-", ""))
    except (OSError, ValueError) as error:
        raise UnavailableError(f"boot id {_BOOT_ID}: {error}") from error
    error_ms = _error_ms()
    return Clock(
        time.time_ns() // 1_000_000,
        time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000,
        boot_id,
        _origin(is_kept=error_ms is not None),
        error_ms,
    )


def _origin(*, is_kept: bool) -> ClockOrigin:
    """Return where the time comes from: chrony and others only tell the kernel that they keep it.

    systemd's time server leaves a file, which stays when the truck is far from any network.
    """
    if is_kept or _NTP_SYNCHRONISED.exists():
        return ClockOrigin.NTP
    return ClockOrigin.RTC if _RTC.exists() else ClockOrigin.NONE


def _error_ms() -> int | None:
    """Return by how much the kernel's clock may be wrong at most; None if nobody keeps it right."""
    kernel = kernel_clock()
    if kernel is None or not kernel.synchronised:
        return None
    return min(round(kernel.max_error_s * 1000), ERROR_MS_MAX)


class FileClock:
    """The machine's clock, as a file sets it right: `OFFSET_MS ORIGIN [ERROR_MS]`.

    `OFFSET_MS` is added to the machine's UTC; `ORIGIN` is `none`, `rtc`, `ntp` or `gnss`. While the
    file is missing or malformed the machine's clock stands as it is, and the log says so once.

    Args:
        path: The file.
        machine: The clock that it sets right.
    """

    def __init__(self, path: Path, machine: Now = machine_now) -> None:
        self._path = path
        self._machine = machine
        self._problem = ""

    def __call__(self) -> Clock:
        """See `Now`."""
        now = self._machine()
        try:
            with self._path.open("rb") as file:
                text = file.read(FILE_BYTES_MAX)
            clock = _set_right(now, text.decode("ascii").split())
        except (OSError, ValueError, RejectedError) as error:
            problem = f"{self._path} does not tell the time, so the machine's clock counts: {error}"
            if problem != self._problem:
                _log.warning("%s", problem)
            self._problem = problem
            return now
        self._problem = ""
        return clock


def _set_right(now: Clock, words: list[str]) -> Clock:
    """Return a clock as the words of a file set it right.

    Raises:
        ValueError: They are malformed.
        RejectedError: The time cannot be.
    """
    origins = {each.name.lower(): each for each in ClockOrigin}
    if len(words) not in (2, 3) or words[1] not in origins:
        raise ValueError(
            f"expected `OFFSET_MS ORIGIN [ERROR_MS]` with {', '.join(origins)}, got {words!r:.80}"
        )
    utc_ms = now.utc_ms + int(words[0])
    if not 0 <= utc_ms <= UTC_MS_MAX:
        raise RejectedError(f"expected a time before the year 10000, got {utc_ms} ms")
    error_ms = int(words[2]) if words[2:] else None
    return Clock(utc_ms, now.monotonic_ms, now.boot_id, origins[words[1]], error_ms)
