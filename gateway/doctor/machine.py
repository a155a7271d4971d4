"""What the doctor asks the machine itself; tests give other answers."""

import ctypes
import resource
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from contracts.records.clock import now_ms
from storage.drives.kernel import Kernel
from storage.drives.tools import Run, run_tool

_TIME_ERROR: Final = 5
_NANOSECONDS: Final = 0x2000
"""STA_NANO, a bit of `status`: the offset is in nanoseconds, else in microseconds."""


class _Timex(ctypes.Structure):
    """The first members of `struct timex`, and more room than any machine's has behind them.

    Source: adjtimex(2).
    """

    _fields_ = (
        ("modes", ctypes.c_uint),  # 0 changes nothing
        ("offset", ctypes.c_long),
        ("frequency", ctypes.c_long),
        ("max_error", ctypes.c_long),
        ("estimated_error", ctypes.c_long),
        ("status", ctypes.c_int),
        ("rest", ctypes.c_char * 256),
    )


@dataclass(frozen=True, slots=True)
class KernelClock:
    """How the kernel's clock is kept.

    Attributes:
        synchronised: Whether NTP, PPS or the like keeps it right.
        offset_s: By how much it is still corrected, seconds.
        max_error_s: By how much it may be wrong at most, seconds.
    """

    synchronised: bool
    offset_s: float
    max_error_s: float


def kernel_clock() -> KernelClock | None:
    """Return how the kernel's clock is kept; None if it does not tell.

    Source: adjtimex(2).
    """
    told = _Timex()
    try:
        answer = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(told))
    except (OSError, AttributeError):
        return None
    if answer < 0:
        return None
    unit_s = 1e-9 if told.status & _NANOSECONDS else 1e-6
    return KernelClock(answer != _TIME_ERROR, told.offset * unit_s, told.max_error * 1e-6)


def clock_is_synchronised() -> bool | None:
    """Say whether something keeps the kernel's clock right; None if it does not tell."""
    clock = kernel_clock()
    return None if clock is None else clock.synchronised


def open_files_max() -> int:
    """Return the limit of open files that a gateway started from here would have."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine.

    Attributes:
        now_ms: Its clock, UTC.
        clock_is_synchronised: Whether something keeps that clock right.
        open_files_max: Of a process that is started now.
        kernel: Its files.
        run: Runs tools.
        journald: Is there while journald runs.
        journal: Where it keeps log lines over a restart of the machine.
    """

    now_ms: Callable[[], int] = now_ms
    clock_is_synchronised: Callable[[], bool | None] = clock_is_synchronised
    open_files_max: Callable[[], int] = open_files_max
    kernel: Kernel = field(default_factory=Kernel)
    run: Run = run_tool
    journald: Path = Path("/run/systemd/journal/socket")
    journal: Path = Path("/var/log/journal")
