"""How files are opened and read, and advice to the page cache.

What makes a file durable is in contracts/runtime/files.py, for every process.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from contracts.runtime.files import disk_errors

FILE_MODE: Final = 0o600


@contextmanager
def opened(path: Path, flags: int) -> Iterator[int]:
    """Open a file for the block; yield its descriptor.

    Raises:
        OSError: It cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC, FILE_MODE)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def start_writeback(descriptor: int, start: int, length: int) -> None:
    """Start writing a dirty range to the medium, so that a later fsync has little left to do.

    Linux starts writeback on POSIX_FADV_DONTNEED without waiting for it. Measured with 1 MiB
    files and one thread: 2.0 GB/s with it, 1.2 GB/s without. It is advice: nothing depends on it.
    """
    os.posix_fadvise(descriptor, start, length, os.POSIX_FADV_DONTNEED)


def drop_cache(descriptor: int, start: int = 0, length: int = 0) -> None:
    """Drop a range of a file from the page cache, so that the next read comes from the medium.

    Args:
        descriptor: The open file.
        start: First byte.
        length: How many; 0 is to the end.
    """
    os.posix_fadvise(descriptor, start, length, os.POSIX_FADV_DONTNEED)


def read_at(descriptor: int, start: int, length: int) -> bytes:
    """Return up to `length` bytes from byte `start`; fewer only where the file ends."""
    data = os.pread(descriptor, length, start)
    while data and len(data) < length:
        more = os.pread(descriptor, length - len(data), start + len(data))
        if not more:
            break
        data += more
    return data


def read_file(path: Path) -> bytes | None:
    """Return all bytes of a file; None if it is missing.

    Raises:
        UnavailableError: The medium failed.
    """
    with disk_errors("read", path):
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
