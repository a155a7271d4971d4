"""A limit of bytes a second, which all uploads share."""

import threading
import time
from collections.abc import Callable
from typing import Final

from contracts.chunktree import BLOB_BYTES

_SMALLEST: Final = 4_096
_A_SECOND: Final = 4


class Throttle:
    """Lets bytes pass no faster than a rate; any thread may take some.

    Args:
        bytes_per_s: The rate; None: without limit.
        wait: Waits so many seconds, or less if the work is to end.
        clock: Seconds that never go back.
    """

    def __init__(
        self,
        bytes_per_s: int | None,
        wait: Callable[[float], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bytes_per_s = bytes_per_s
        self._wait = wait
        self._clock = clock
        self._lock = threading.Lock()
        self._free_s = clock()

    @property
    def piece_bytes(self) -> int:
        """How many bytes to take at once: some pieces a second, or the gateway thinks we hang."""
        if self._bytes_per_s is None:
            return BLOB_BYTES
        return max(_SMALLEST, min(BLOB_BYTES, self._bytes_per_s // _A_SECOND))

    def take(self, count: int) -> None:
        """Wait until `count` bytes may pass."""
        if self._bytes_per_s is None:
            return
        with self._lock:
            now_s = self._clock()
            starts_s = max(self._free_s, now_s)
            self._free_s = starts_s + count / self._bytes_per_s
        if starts_s > now_s:
            self._wait(starts_s - now_s)
