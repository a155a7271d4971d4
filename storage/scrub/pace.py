"""How fast the scrub may read."""

import time
from collections.abc import Callable


class Pace:
    """Spreads bytes over time, by a clock that no setting of the time moves.

    Time in which nothing was read is not made up for: no burst follows a pause.

    Args:
        bytes_per_s: At most that many.
        pause: Waits so many seconds, or less when the process shall stop.
        monotonic_s: Seconds since any moment.
    """

    def __init__(
        self,
        bytes_per_s: int,
        pause: Callable[[float], object],
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bytes_per_s = bytes_per_s
        self._pause = pause
        self._monotonic_s = monotonic_s
        self._free_at_s = monotonic_s()

    def spend(self, count: int) -> None:
        """Wait until `count` bytes, which were just read, are paid for."""
        now_s = self._monotonic_s()
        # What was read began when the one before was paid for, or later: the reading took time.
        self._free_at_s = max(self._free_at_s + count / self._bytes_per_s, now_s)
        if self._free_at_s > now_s:
            self._pause(self._free_at_s - now_s)
