"""How the kernel keeps its clock: by NTP or the like, and by how much it may be wrong."""

import ctypes
from dataclasses import dataclass
from typing import Final

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
    """Return how the kernel's clock is kept; None if it does not say.

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
    """Say whether something keeps the kernel's clock right; None if it does not say."""
    clock = kernel_clock()
    return None if clock is None else clock.synchronised
