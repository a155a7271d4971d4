"""What the doctor asks the truck's machine; tests give other answers."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from contracts.records.clock import now_ms
from contracts.runtime.kernelclock import KernelClock, kernel_clock


@dataclass(frozen=True, slots=True)
class Machine:
    """The machine.

    Attributes:
        now_ms: Its clock, UTC.
        clock: How the kernel keeps that clock; None if it does not say.
        battery_clock: There if a clock with a battery goes on while the power is off.
        proc: The kernel's files on processes.
    """

    now_ms: Callable[[], int] = now_ms
    clock: Callable[[], KernelClock | None] = kernel_clock
    battery_clock: Path = Path("/dev/rtc0")
    proc: Path = Path("/proc")
