"""People before trucks: while an answer is being made, the threads of offloads wait a moment.

One interpreter runs everything in a gateway, one thread at a time. A truck does not mind when its
batches are taken up 30 ms later; a person who waits for a page does. So the threads that take up
batches ask before each piece of work. Their waits are bounded: readers never stop an offload.
"""

import threading
import time
from collections.abc import Callable
from typing import Final

WAIT_MAX_S: Final = 0.1
"""A thread that worked for long waits so long at once, at most."""


class Answers:
    """Counts the answers that are being made, in the event loop's thread; others wait for none."""

    def __init__(self) -> None:
        self._count = 0
        self._none = threading.Event()
        self._none.set()

    @property
    def count(self) -> int:
        """Return how many answers are being made."""
        return self._count

    def begin(self) -> None:
        """Count one more."""
        self._count += 1
        self._none.clear()

    def end(self) -> None:
        """Count one less."""
        self._count -= 1
        if not self._count:
            self._none.set()

    def wait(self, timeout_s: float) -> None:
        """Return once no answer is being made, or after this time."""
        self._none.wait(timeout_s)


class GivingWay:
    """What a thread of offloads calls before each piece of work; for one thread.

    It never waits longer than the thread has worked or rested since its start, and at most
    `WAIT_MAX_S` at once: an offload has half of the time at least, however many ask.

    Args:
        answers: Which it waits for.
        clock_s: A monotonic clock.
    """

    def __init__(self, answers: Answers, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._answers = answers
        self._clock_s = clock_s
        self._left_s = 0.0
        self._since_s = clock_s()

    def __call__(self) -> None:
        """Wait while an answer is being made, within the bound."""
        if not self._answers.count:
            return
        began_s = self._clock_s()
        left_s = min(WAIT_MAX_S, self._left_s + began_s - self._since_s)
        self._answers.wait(left_s)
        self._since_s = self._clock_s()
        self._left_s = max(0.0, left_s - (self._since_s - began_s))
