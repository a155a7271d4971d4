"""What the kernel says of a process. Source: proc(5)."""

import os
from pathlib import Path
from typing import Final

_MB: Final = 1_000_000


def peak_bytes(pid: int) -> int:
    """Return the most memory that a process ever had resident."""
    return _status_kib(pid, "VmHWM") * 1024


def resident_bytes(pid: int) -> int:
    """Return the memory that a process has resident."""
    return _status_kib(pid, "VmRSS") * 1024


def peak_mb(pid: int) -> int:
    """Return the most memory that a process ever had resident, in MB."""
    return peak_bytes(pid) // _MB


def resident_mb(pid: int) -> int:
    """Return the memory that a process has resident, in MB."""
    return resident_bytes(pid) // _MB


def cpu_s(pid: int) -> float:
    """Return the seconds of CPU that a process used so far, all its threads, user and system."""
    fields = _stat(pid)  # utime and stime are fields 14 and 15 of all
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def written_bytes(pid: int) -> int:
    """Return the bytes that a process had the storage layer write so far; asks for its user."""
    for line in Path(f"/proc/{pid}/io").read_text().splitlines():
        if line.startswith("write_bytes:"):
            return int(line.split()[1])
    return 0


def began_ticks(pid: int) -> int | None:
    """Return when a process began, in clock ticks since the boot; None if there is none."""
    try:
        return int(_stat(pid)[19])
    except OSError:
        return None


def forget_peak(pid: int) -> None:
    """Let the most memory that a process had be what it has now."""
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def _stat(pid: int) -> list[str]:
    """Return the fields of a process from the third on: its name may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _status_kib(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0
