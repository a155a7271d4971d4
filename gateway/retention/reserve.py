"""Room kept back on the gateway's own disk, so that retention can make room when that is full.

Each deletion is on record before anything goes, which takes some room; and where the volume is
on the same file system, uploads may have taken the last of it.
"""

import logging
import os
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.files import OWNER_ONLY, disk_errors
from storage.disk import remove_file

RESERVE_BYTES: Final = 16 << 20

_log = logging.getLogger(__name__)


class Reserve:
    """A file that is nothing but room; used from one thread.

    Args:
        path: The file.
        size: Its bytes.
    """

    def __init__(self, path: Path, size: int = RESERVE_BYTES) -> None:
        self._path = path
        self._size = size

    def keep(self) -> None:
        """Give the room up while less than that is free, and take it again when twice is.

        It stays given up until then: the index has to come to the ledger's head too before
        anything may go.

        Raises:
            UnavailableError: The medium failed.
        """
        with disk_errors("look at", self._path):
            state, there = os.statvfs(self._path.parent), self._path.exists()
        free = state.f_bavail * state.f_frsize
        if there and free < self._size:
            _log.warning("disk of %s is full: the reserve is given up", self._path.parent)
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
        except UnavailableError as error:  # a quota, or somebody was faster: without it all works
            _log.warning("no reserve: %s", error)
            remove_file(self._path)
