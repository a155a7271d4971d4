"""Backoff: how long to wait before a retry."""

from typing import Final

BACKOFF_FIRST_S: Final = 0.5
BACKOFF_FACTOR: Final = 2.0


class Backoff:
    """Waiting times that double up to a limit.

    Args:
        limit_s: Longest wait, seconds.
        first_s: First wait, seconds.
    """

    def __init__(self, limit_s: float, first_s: float = BACKOFF_FIRST_S) -> None:
        self._limit_s = limit_s
        self._first_s = self._next_s = min(first_s, limit_s)

    def next_s(self) -> float:
        """Return how long to wait now, seconds."""
        wait_s, self._next_s = self._next_s, min(self._next_s * BACKOFF_FACTOR, self._limit_s)
        return wait_s

    def reset(self) -> None:
        """Begin with the first wait again: it worked."""
        self._next_s = self._first_s
