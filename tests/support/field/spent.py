"""CPU time of a test run: its processes, and the containers that it starts.

Wall time on a busy machine says little; this says what a file of tests costs.
"""

import resource
from pathlib import Path
from typing import Final

CGROUPS: Final = (
    (Path("/sys/fs/cgroup/cpuacct"), "cpuacct.usage", 1e-9),
    (Path("/sys/fs/cgroup"), "cpu.stat", 1e-6),
)
"""Version 1 and 2, the file with the usage, and its unit in seconds."""
ENGINES: Final = ("libpod_parent", "docker")


def processes_s() -> float:
    """Return the CPU seconds of this process and of its children that ended."""
    own = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in own)


def containers_s() -> float:
    """Return the CPU seconds of all containers of this machine since it started."""
    return sum(
        _usage(root / engine / name) * unit for root, name, unit in CGROUPS for engine in ENGINES
    )


def _usage(file: Path) -> int:
    """Return the first number of a file; 0 if no container has run."""
    try:
        return int(next(each for each in file.read_text().split() if each.isdigit()))
    except OSError:
        return 0
