"""How fast the scrub may read."""

import time
from collections.abc import Callable


class Pace:
    """Limits the bytes read per second, by the monotonic clock.

    Idle time is not made up for: no burst follows a pause.

    Args:
        bytes_per_s: The limit.
        pause: Waits for the given seconds; returns early if the process stops.
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
        """Wait as long as `count` bytes, which were just read, take at the limit."""
        now_s = self._monotonic_s()
        # Reading began when the wait for the last bytes ended, or later, and took time itself.
        self._free_at_s = max(self._free_at_s + count / self._bytes_per_s, now_s)
        if self._free_at_s > now_s:
            self._pause(self._free_at_s - now_s)
