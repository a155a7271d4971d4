"""File operations of the blob store, the volume and the catalogue beyond contracts/files.py."""

import os
from pathlib import Path
from typing import Final

from contracts.files import disk_errors, sync_directory

FILE_MODE: Final = 0o640


def start_writeback(descriptor: int, start: int, length: int) -> None:
    """Let the kernel begin to write a dirty range, so that a later fsync has little left to do.

    Linux starts writeback on POSIX_FADV_DONTNEED without waiting for it. Measured with 1 MiB
    files and one thread: 2.0 GB/s with it, 1.2 GB/s without. It is advice: nothing depends on it.
    """
    os.posix_fadvise(descriptor, start, length, os.POSIX_FADV_DONTNEED)


def drop_cache(descriptor: int) -> None:
    """Ask the kernel to forget what it cached of a file, so that the next read meets the medium."""
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)


def read_at(descriptor: int, start: int, length: int) -> bytes:
    """Return up to `length` bytes from byte `start`; fewer only where the file ends."""
    data = os.pread(descriptor, length, start)
    while data and len(data) < length:
        more = os.pread(descriptor, length - len(data), start + len(data))
        if not more:
            break
        data += more
    return data


def remove_file(path: Path) -> None:
    """Remove a file durably; one that is not there is fine.

    Raises:
        UnavailableError: The medium failed.
    """
    with disk_errors("remove", path):
        try:
            path.unlink()
        except FileNotFoundError:
            return
        sync_directory(path.parent)
