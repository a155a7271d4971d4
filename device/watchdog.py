"""Tells systemd that the recorder lives; if it hangs, systemd starts the agent again.

A trip goes on where it was, so a start costs a live trip seconds, and a hung recorder all the rest.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from contracts.runtime.systemd import notify, watchdog_s
from device.stop import Stop

OVERDUE_TIMES: Final = 3
"""A recorder that is so many readings late hangs."""
OVERDUE_LEAST_S: Final = 60.0
"""Until then it may only be slow: a card can take long to write."""
_PER_WATCHDOG: Final = 3
_log: Final = logging.getLogger(__name__)


class Watchdog:
    """Sees whether readings come, while they have to.

    Args:
        tell: Sends assignments to systemd.
        now_s: A clock that never goes back, seconds.
    """

    def __init__(
        self,
        tell: Callable[..., None] = notify,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tell = tell
        self._now_s = now_s
        self._beat_s: float | None = None
        self._most_s = OVERDUE_LEAST_S
        self._end: Stop | None = None
        self._said = False

    @contextmanager
    def expecting(self, interval_s: float, end: Stop) -> Iterator[Callable[[object], None]]:
        """Expect a reading in each interval, after the first one and until the end.

        What is done before and after may take long: film that a power cut left is hashed, and the
        last segments are.

        Args:
            interval_s: From one reading to the next.
            end: Ends the readings.

        Yields:
            What to call after each reading.
        """
        self._most_s = max(OVERDUE_LEAST_S, OVERDUE_TIMES * interval_s)
        self._end = end
        try:
            yield self.beat
        finally:
            self._beat_s = None

    def beat(self, _: object = None) -> None:
        """Hear that there was a reading."""
        self._beat_s = self._now_s()

    def look(self) -> bool:
        """Tell systemd that the recorder lives, unless it hangs; return whether it lives."""
        beat_s = self._beat_s
        is_over = self._end is not None and self._end.requested
        late_s = 0.0 if beat_s is None or is_over else self._now_s() - beat_s
        if late_s <= self._most_s:
            self._said = False
            self._tell("WATCHDOG=1")
            return True
        if not self._said:
            self._said = True
            _log.error("no reading for %.0f s: the recorder hangs, systemd starts it again", late_s)
        return False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Tell systemd that the agent is ready, and look again and again until the block ends."""
        self._tell("READY=1")
        every_s = watchdog_s()
        over = threading.Event()

        def watch() -> None:
            while every_s is not None and not over.is_set():
                self.look()
                over.wait(every_s / _PER_WATCHDOG)

        thread = threading.Thread(target=watch, name="watchdog", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._tell("STOPPING=1")
            over.set()
            thread.join()
