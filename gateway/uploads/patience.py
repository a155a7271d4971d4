"""How long a request waits for its sender's bytes."""

from asyncio import TimerHandle
from collections.abc import Callable
from typing import Protocol


class Clock(Protocol):
    """The part of an event loop that is needed."""

    def time(self) -> float:
        """Return seconds that only grow."""
        ...

    def call_at(self, when: float, callback: Callable[[], None], /) -> TimerHandle:
        """Call back at a time, seconds."""
        ...


class Patience:
    """Calls `end` when the sender has been silent for too long.

    Bytes come in thousands of pieces a second, so a piece only notes the time. The one timer looks
    at it and waits for the rest.

    Args:
        clock: The event loop.
        limit_s: Longest silence, seconds.
        end: Ends the request; called once at most.

    Attributes:
        heard_s: When bytes last came, by the clock.
        waiting: Whether it is the sender's turn, not ours.
    """

    def __init__(self, clock: Clock, limit_s: float, end: Callable[[], None]) -> None:
        self._clock, self._limit_s, self._end = clock, limit_s, end
        self._over = False
        self.heard_s = clock.time()
        self.waiting = True
        self._timer = clock.call_at(self.heard_s + limit_s, self._look)

    def heard(self) -> None:
        """Note that bytes came, or that the sender's turn begins."""
        self.heard_s = self._clock.time()
        self.waiting = True

    def pause(self) -> None:
        """Let the sender wait for us."""
        self.waiting = False

    def end(self) -> None:
        """End the request now."""
        self.close()
        if not self._over:
            self._over = True
            self._end()

    def close(self) -> None:
        """Wait no longer."""
        self._timer.cancel()

    def _look(self) -> None:
        now_s = self._clock.time()
        due_s = (self.heard_s if self.waiting else now_s) + self._limit_s
        if due_s <= now_s:
            self.end()
        else:
            self._timer = self._clock.call_at(due_s, self._look)
