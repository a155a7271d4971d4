"""Payloads, cold caches, and the plain commands that show what the machine can do."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from storage.disk import drop_cache

MIB: Final = 1 << 20
COLD: Final = "posix_fadvise(POSIX_FADV_DONTNEED) of each file before it is read, after its fsync"
_PIECE_BYTES: Final = 16 * MIB


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    start_s = time.monotonic()
    work()
    return time.monotonic() - start_s


def require_room(directory: Path, needed: int) -> None:
    """Check that a directory's disk has so many bytes free.

    Raises:
        RejectedError: It has less.
    """
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise RejectedError(
            f"{directory}: {needed / (1 << 30):.1f} GiB of disk needed, {free / (1 << 30):.1f} free"
        )


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


def cool(path: Path) -> None:
    """Let the kernel forget what it cached of a file; clean pages only, so sync it before."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        drop_cache(descriptor)
    finally:
        os.close(descriptor)


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
