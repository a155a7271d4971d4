"""Room on a disk, and files that the kernel shall not have in memory."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from contracts.errors import RejectedError
from contracts.files import disk_errors
from storage.disk import drop_cache


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


def cool(path: Path) -> None:
    """Let the kernel forget what it cached of a file; clean pages only, so sync it before."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        drop_cache(descriptor)
    finally:
        os.close(descriptor)


def cool_all(directory: Path) -> None:
    """Sync every file below a directory and let the kernel forget it; some may vanish meanwhile.

    Pages that a process has mapped stay.

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
