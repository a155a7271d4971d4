"""When the next block begins: soon after the last one, later while batches keep coming.

Each block costs as much as some two batches of one reading, whatever it holds:
its time, its signature, its part of the state tree, its record in the log. So
batches that come one after another share a block. A batch that comes alone does
not wait for others.
"""

from dataclasses import dataclass
from typing import Final

BLOCK_GAP_S: Final = 0.005
"""Least time, seconds, from the beginning of one block to the next."""
SHARED_GAP_S: Final = 0.02
"""The same while batches keep coming and do not yet fill a block."""
FULL_BYTES: Final = 64 << 10
"""With so many bytes of batches, some 45 batches of one reading, a block waits for no more."""
QUIET_TIMES: Final = 3.0
"""No more batches are coming if none came for so many times their usual distance."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The batches that wait for the next block.

    Attributes:
        came: Submissions since the last block took its own.
        last_s: When the last of them came, on the clock of `BlockPace`.
        size: Their bytes.
    """

    came: int
    last_s: float
    size: int


class BlockPace:
    """Says how long to wait; for one thread. All times are seconds of one monotonic clock.

    Args:
        interval_s: Least time from the end of one block to the beginning of the next, seconds.
    """

    def __init__(self, interval_s: float = 0.0) -> None:
        self._interval_s = interval_s
        self._began_s = self._due_s = float("-inf")

    def made(self, began_s: float, ended_s: float) -> None:
        """Note when a block was begun and written."""
        self._began_s = began_s
        self._due_s = max(began_s + BLOCK_GAP_S, ended_s + self._interval_s)

    def due_in_s(self, now_s: float) -> float:
        """Return how long no block may begin; 0 or less if one may."""
        return self._due_s - now_s

    def more_in_s(self, now_s: float, waiting: Waiting) -> float:
        """Return how long to wait for more batches at most; 0 or less to begin now.

        It waits only if they come less than `BLOCK_GAP_S` after each other on average.
        """
        if waiting.came <= 1 or is_full(waiting.size):
            return 0.0
        distance_s = (waiting.last_s - self._began_s) / waiting.came
        if distance_s >= BLOCK_GAP_S:
            return 0.0
        ends_s = min(waiting.last_s + QUIET_TIMES * distance_s, self._began_s + SHARED_GAP_S)
        return ends_s - now_s


def is_full(size: int) -> bool:
    """Say whether a block waits for no more than these bytes of batches."""
    return size >= FULL_BYTES
