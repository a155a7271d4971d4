"""Buckets that were marked a short while ago, so that a run of puts marks each of them once.

A mark costs two reads and a synced write that all wait for, for 8 blobs about a third of the time
of their put. What it guards against is rare: a delete, by another site too, whose clock was ahead.
Blobs put under a remembered mark that such a delete overtook are hidden by it; hence whoever calls
a recording whole reads back what is there, and that reading forgets the marks.
"""

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from contracts.errors import UnavailableError

MARK_KEPT_S: Final = 10.0
MARKS_MAX: Final = 256
"""Of all uploads; the oldest goes."""
_BIGINT_MAX: Final = 2**63 - 1


def later_us(now_us: int, *before_us: int) -> int:
    """Return a timestamp that wins over those before, microseconds since 1970.

    Raises:
        UnavailableError: There is none: one before is the greatest that Cassandra knows. No clock
            shows it; somebody wrote it there.
    """
    at_us = max(now_us, *(each + 1 for each in before_us))
    if at_us > _BIGINT_MAX:
        raise UnavailableError(
            f"a row carries the timestamp {at_us - 1}, which no later write can win over"
        )
    return at_us


@dataclass(frozen=True, slots=True)
class _Mark:
    at_us: int
    until_s: float
    used: set[int] = field(default_factory=set)


class Marks:
    """The timestamps of buckets that were marked; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[tuple[bytes, int], _Mark] = {}

    def recall(self, recording_id: bytes, bucket: int, indexes: Collection[int]) -> int | None:
        """Return the timestamp for these blobs, each of which gets it once; None without one.

        Of two values with one timestamp Cassandra keeps the greater, not the later.
        """
        with self._lock:
            mark = self._marks.get((recording_id, bucket))
            if mark is None or time.monotonic() >= mark.until_s or mark.used & set(indexes):
                return None
            mark.used.update(indexes)
            return mark.at_us

    def note(self, recording_id: bytes, bucket: int, at_us: int, indexes: Collection[int]) -> None:
        """Remember a mark, already used for these blobs."""
        with self._lock:
            self._marks.pop((recording_id, bucket), None)
            while len(self._marks) >= MARKS_MAX:
                del self._marks[next(iter(self._marks))]
            until_s = time.monotonic() + MARK_KEPT_S
            self._marks[recording_id, bucket] = _Mark(at_us, until_s, set(indexes))

    def forget(self, recording_id: bytes) -> None:
        """Let the next put of a recording mark its buckets anew."""
        with self._lock:
            for key in [key for key in self._marks if key[0] == recording_id]:
                del self._marks[key]
