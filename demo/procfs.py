"""What the kernel says of a process. Source: proc(5)."""

import os
from pathlib import Path


def peak_mb(pid: int) -> int:
    """Return the most memory that a process ever had resident, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024 // 1_000_000
    return 0


def cpu_s(pid: int) -> float:
    """Return the seconds of CPU that a process used so far, all its threads, user and system."""
    # The name, in brackets, may hold anything; utime and stime are fields 14 and 15 of all.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
