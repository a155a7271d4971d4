"""A group of processes that gets a share of one core: a CPU quota of the kernel's control groups.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, `cpu.max`, and
Documentation/scheduler/sched-bwc.rst for version 1.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError

PERIOD_US: Final = 100_000
_ROOT: Final = Path("/sys/fs/cgroup")


@contextmanager
def quota(share: float, root: Path = _ROOT) -> Iterator[Path]:
    """Yield the file into which a process writes its id, to get so much of one core at most.

    Raises:
        UnavailableError: This machine lets us set no quota.
    """
    is_v2 = (root / "cgroup.controllers").exists()
    group = (root if is_v2 else root / "cpu") / f"wayseal-bench-{os.getpid()}"
    microseconds = round(PERIOD_US * share)
    try:
        group.mkdir()
        if is_v2:
            (group / "cpu.max").write_text(f"{microseconds} {PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(microseconds))
    except OSError as error:
        with suppress(OSError):
            group.rmdir()
        raise UnavailableError(f"no CPU quota can be set here: {error}") from error
    try:
        yield group / "cgroup.procs"
    finally:
        with suppress(OSError):  # a process that is still ending keeps it; it is empty and idle
            group.rmdir()
