"""What the doctor asks the machine itself; tests give other answers."""

import ctypes
import resource
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from contracts.records.clock import now_ms
from storage.drives.kernel import Kernel
from storage.drives.tools import Run, run_tool

_TIMEX_BYTES: Final = 256
"""More than any machine's `struct timex` has; its `modes`, the first member, 0, changes nothing."""
_TIME_ERROR: Final = 5


def clock_is_synchronised() -> bool | None:
    """Say whether the kernel's clock is kept by NTP, PPS or the like; None if it does not tell.

    Source: adjtimex(2).
    """
    try:
        answer = ctypes.CDLL(None, use_errno=True).adjtimex(
            ctypes.create_string_buffer(_TIMEX_BYTES)
        )
    except (OSError, AttributeError):
        return None
    return None if answer < 0 else answer != _TIME_ERROR


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
    """

    now_ms: Callable[[], int] = now_ms
    clock_is_synchronised: Callable[[], bool | None] = clock_is_synchronised
    open_files_max: Callable[[], int] = open_files_max
    kernel: Kernel = field(default_factory=Kernel)
    run: Run = run_tool
