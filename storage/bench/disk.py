"""Files on a disk: free space, payloads, plain commands to compare with, and a cold cache."""

import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError
from contracts.runtime.files import disk_errors
from storage.disk import drop_cache

MIB: Final = 1 << 20
COLD: Final = "posix_fadvise(POSIX_FADV_DONTNEED) of each file before it is read, after its fsync"
_PIECE_BYTES: Final = 16 * MIB


def require_room(directory: Path, needed: int) -> None:
    """Check that a directory's disk has so many bytes free.

    Raises:
        RejectedError: The disk has less.
    """
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise RejectedError(
            f"{directory}: expected {needed / (1 << 30):.1f} GiB free, got {free / (1 << 30):.1f}"
        )


def cool(path: Path) -> None:
    """Drop a file from the page cache; only clean pages go, so sync the file first."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        drop_cache(descriptor)
    finally:
        os.close(descriptor)


def cool_all(directory: Path) -> None:
    """Sync every file below a directory and drop it from the page cache.

    Files may vanish while this runs. Pages that a process has mapped stay.

    Raises:
        UnavailableError: The medium failed.
    """
    for home, _, names in os.walk(directory):
        for name in names:
            path = Path(home) / name
            with disk_errors("sync", path), suppress(FileNotFoundError):
                if stat.S_ISREG(path.lstat().st_mode):
                    _cool_synced(path)


def _cool_synced(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        drop_cache(descriptor)
    finally:
        os.close(descriptor)


def timed(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    start_s = time.monotonic()
    work()
    return time.monotonic() - start_s


def random_file(path: Path, size: int) -> Path:
    """Make a durable file of random bytes, which no drive can compress or deduplicate."""
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


def drain(pieces: Iterator[bytes]) -> None:
    """Read everything and keep nothing."""
    for _ in pieces:
        pass
