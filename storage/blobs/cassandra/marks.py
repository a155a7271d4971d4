"""Remembers which buckets were marked recently, so that a run of puts marks each bucket once.

A mark costs two reads and a synced write before the put: for 8 blobs about a third of its time. It
guards against a rare case: a delete, perhaps by another site, whose clock was ahead. If such a
delete comes after a remembered mark, it hides the blobs that are put under this mark. Therefore
blobs are listed before a recording is called whole, and listing forgets the marks.
"""

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final

from contracts.errors import UnavailableError

MARK_KEPT_S: Final = 10.0
MARKS_MAX: Final = 256
"""For all uploads together; the oldest is dropped."""
_BIGINT_MAX: Final = 2**63 - 1


def later_us(now_us: int, *before_us: int) -> int:
    """Return a timestamp greater than all earlier ones, microseconds since 1970.

    Raises:
        UnavailableError: An earlier one is the greatest that Cassandra knows. No clock shows it;
            someone must have written it on purpose.
    """
    at_us = max(now_us, *(each + 1 for each in before_us))
    if at_us > _BIGINT_MAX:
        raise UnavailableError(
            f"a row carries the timestamp {at_us - 1}, which no later write can exceed"
        )
    return at_us


@dataclass(frozen=True, slots=True)
class _Mark:
    at_us: int
    until_s: float
    used: set[int] = field(default_factory=set)


class Marks:
    """The timestamps of recently marked buckets; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._marks: dict[tuple[bytes, int], _Mark] = {}

    def recall(self, recording_id: bytes, bucket: int, indexes: Collection[int]) -> int | None:
        """Return the timestamp for these blobs, or None; each blob gets a timestamp only once.

        Of two values with the same timestamp Cassandra keeps the greater, not the later.
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
        """Forget the marks of a recording: its next put marks the buckets again."""
        with self._lock:
            for key in [key for key in self._marks if key[0] == recording_id]:
                del self._marks[key]
