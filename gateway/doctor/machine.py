"""What the doctor asks the machine itself; tests give other answers."""

import resource
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from contracts.records.clock import now_ms
from contracts.runtime.kernelclock import clock_is_synchronised
from storage.drives.kernel import Kernel
from storage.drives.tools import Run, run_tool


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
