"""A group of processes that gets a share of one core: a CPU quota of the kernel's control groups.

Source: the kernel's Documentation/admin-guide/cgroup-v2.rst, `cpu.max`, and
Documentation/scheduler/sched-bwc.rst for version 1.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from storage.bench.servers.groups import ROOT, control_group

PERIOD_US: Final = 100_000


def quota(share: float, root: Path = ROOT) -> AbstractContextManager[Path]:
    """Yield a group whose processes together get so much of one core at most.

    Raises:
        UnavailableError: This machine lets us set no quota.
    """
    microseconds = str(round(PERIOD_US * share))
    return control_group(
        "cpu",
        {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": microseconds},
        {"cpu.max": f"{microseconds} {PERIOD_US}"},
        root,
    )
