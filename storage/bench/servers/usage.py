"""CPU and memory of a process, and the bytes that it has read and written."""

from pathlib import Path
from typing import Final

import psutil

_MB: Final = 1_000_000


def cpu_s(pid: int) -> float:
    """Return the seconds of CPU of all threads, user and system."""
    used = psutil.Process(pid).cpu_times()
    return float(used.user + used.system)


def resident_bytes(pid: int) -> int:
    """Return the memory that is resident now."""
    return int(psutil.Process(pid).memory_info().rss)


def resident_mb(pid: int) -> int:
    """Return the memory that is resident now, in whole MB."""
    return resident_bytes(pid) // _MB


def peak_bytes(pid: int) -> int:
    """Return the most memory that was ever resident. Source: proc_pid_status(5), VmHWM."""
    return _of_status(pid, "VmHWM:")


def peak_mb(pid: int) -> int:
    """Return the most memory that was ever resident, in whole MB."""
    return peak_bytes(pid) // _MB


def forget_peak(pid: int) -> None:
    """Make the memory that is resident now the peak. Source: proc_pid_clear_refs(5)."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def written_bytes(pid: int) -> int:
    """Return the bytes written to the storage layer; only the user of the process may ask."""
    return int(psutil.Process(pid).io_counters().write_bytes)


def read_bytes(pid: int) -> int:
    """Return the bytes fetched from the storage layer; only the user of the process may ask."""
    return int(psutil.Process(pid).io_counters().read_bytes)


def anonymous_bytes(pid: int) -> int:
    """Return the resident memory that is not a file's. Source: proc_pid_status(5), RssAnon."""
    return _of_status(pid, "RssAnon:")


def _of_status(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * 1024
    return 0
