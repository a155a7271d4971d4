"""Payloads, and the plain commands that show what the machine can do."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

MIB: Final = 1 << 20
COLD: Final = "posix_fadvise(POSIX_FADV_DONTNEED) of each file before it is read, after its fsync"
_PIECE_BYTES: Final = 16 * MIB


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    start_s = time.monotonic()
    work()
    return time.monotonic() - start_s


def random_file(path: Path, size: int) -> Path:
    """Make a file of random bytes, which nothing can compress or share; durable."""
    with path.open("wb") as file:
        for start in range(0, size, _PIECE_BYTES):
            file.write(os.urandom(min(_PIECE_BYTES, size - start)))
        file.flush()
        os.fsync(file.fileno())
    return path


def sparse_file(path: Path, size: int) -> Path:
    """Make a file of zeros that takes no room."""
    with path.open("wb") as file:
        file.truncate(size)
    return path


def dd_twice(payload: Path, target: Path) -> None:
    """Write the payload twice with dd, as one file, synced at its end; then remove it."""
    source, out = f"if={payload}", f"of={target}"
    try:
        run("dd", source, out, "bs=1M")
        run("dd", source, out, "bs=1M", "oflag=append", "conv=notrunc,fsync")
    finally:
        target.unlink(missing_ok=True)


def run(*command: str) -> None:
    """Run one of the system's commands."""
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - fixed commands
