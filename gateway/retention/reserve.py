"""Keeps room back on the gateway's own disk, so that retention can work when the disk is full.

Each deletion is recorded before anything is deleted, and the record takes some room. If the
volume is on the same file system, uploads may have taken the last of it.
"""

import logging
import os
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.files import OWNER_ONLY, disk_errors, remove_file

RESERVE_BYTES: Final = 16 << 20

_log = logging.getLogger(__name__)


class Reserve:
    """A file that only takes up room; used from one thread.

    Args:
        path: The file.
        size: Its size in bytes.
    """

    def __init__(self, path: Path, size: int = RESERVE_BYTES) -> None:
        self._path = path
        self._size = size

    def keep(self) -> None:
        """Delete the file if less than its size is free; create it again if twice that is free.

        Until then the room stays free, since the index needs some too: it must reach the
        ledger's head before anything may be deleted.

        Raises:
            UnavailableError: The medium failed.
        """
        with disk_errors("look at", self._path):
            state, there = os.statvfs(self._path.parent), self._path.exists()
        free = state.f_bavail * state.f_frsize
        if there and free < self._size:
            _log.warning("the disk of %s is full: giving up the reserve", self._path.parent)
            remove_file(self._path)
        elif not there and free >= 2 * self._size:
            self._take()

    def _take(self) -> None:
        try:
            with disk_errors(f"reserve {self._size} bytes for", self._path):
                descriptor = os.open(
                    self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, OWNER_ONLY
                )
                try:
                    os.posix_fallocate(descriptor, 0, self._size)
                finally:
                    os.close(descriptor)
        except UnavailableError as error:  # a quota, or the room is taken; it works without
            _log.warning("no reserve: %s", error)
            remove_file(self._path)
