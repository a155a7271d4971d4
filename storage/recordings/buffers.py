"""Memory for pieces of recordings that is used again and again.

New memory costs the kernel a fault and a cleared page for each 4 KiB: a quarter of a second of CPU
for a GB of uploads. Each piece begins at a page, so that it can be written past the page cache
without another copy.
"""

import mmap
import threading
from typing import Final

from contracts.chunktree import BLOB_BYTES

PIECE_BYTES: Final = 4 * BLOB_BYTES
KEPT_MAX: Final = 16
"""Pieces that wait to be used again, of all uploads: as many as two busy ones have in flight."""


class Buffers:
    """Lends pieces of memory; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[memoryview] = []

    def take(self) -> memoryview:
        """Return PIECE_BYTES bytes that begin at a page; they hold anything."""
        with self._lock:
            if self._free:
                return self._free.pop()
        return memoryview(mmap.mmap(-1, PIECE_BYTES))

    def give_back(self, piece: memoryview) -> None:
        """Take a piece back that nobody will read or write any more.

        A piece whose fate is unknown, because a medium stalled, must not come back. It is freed
        with the last reference to it.
        """
        with self._lock:
            if len(self._free) < KEPT_MAX:
                self._free.append(piece)
