"""Progress: how long nothing has moved, how much video is sent, and when that will be done."""

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

_WINDOW_S: Final = 15.0
"""The rate is that of the latest seconds, so that it follows a link that gets better or worse."""
_RATE_AFTER_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class VideoProgress:
    """How far the recordings are that were announced to the gateway.

    Attributes:
        size: Bytes of all of them.
        sent: Bytes that are sent, or were at the gateway before.
        bytes_per_s: Of the latest seconds; None if that is not known yet.
    """

    size: int
    sent: int
    bytes_per_s: float | None

    @property
    def left_s(self) -> float | None:
        """Return in how many seconds all is sent at this rate; None if that cannot be said."""
        if self.sent >= self.size:
            return 0.0
        return (self.size - self.sent) / self.bytes_per_s if self.bytes_per_s else None


class Progress:
    """The data that was sent to and confirmed by the gateway, and when; for any thread.

    Args:
        clock: Seconds that never go back.

    Attributes:
        moves: Number of moves so far.
        committed: The largest number of batches that were committed since the last receipt.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._moved_s = clock()
        self.moves = 0
        self.committed = 0
        self._lock = threading.Lock()
        self._sizes: dict[bytes, int] = {}
        self._offsets: dict[bytes, int] = {}
        self._carried = 0
        self._carried_at: deque[tuple[float, int]] = deque()

    def note(self) -> None:
        """Note that something moved."""
        self._moved_s = self._clock()
        self.moves += 1

    def expect(self, recording_id: bytes, size: int) -> None:
        """Note that a recording of `size` bytes is to be sent."""
        with self._lock:
            self._sizes[recording_id] = size

    def note_offset(self, recording_id: bytes, offset: int) -> None:
        """Note how many bytes of a recording are sent.

        Bytes that the gateway has from an earlier visit do not count as a move.
        """
        with self._lock:
            before = self._offsets.get(recording_id)
            self._offsets[recording_id] = offset
            if before is None or offset <= before:
                return
            now_s = self._clock()
            self._carried_at.append((now_s, self._carried))
            self._carried += offset - before
            while now_s - self._carried_at[0][0] > _WINDOW_S:
                self._carried_at.popleft()
        self.note()

    @property
    def video(self) -> VideoProgress:
        """How far the recordings are."""
        with self._lock:
            sent = sum(min(self._offsets.get(key, 0), size) for key, size in self._sizes.items())
            return VideoProgress(sum(self._sizes.values()), sent, self._rate())

    def _rate(self) -> float | None:
        if not self._carried_at:
            return None
        began_s, before = self._carried_at[0]
        took_s = self._clock() - began_s
        return (self._carried - before) / took_s if took_s >= _RATE_AFTER_S else None

    def note_committed(self, count: int) -> bool:
        """Note how many batches are committed; only a number that grows is a move."""
        grows = count > self.committed
        if grows:
            self.committed = count
            self.note()
        return grows

    def note_receipt(self) -> None:
        """Note a receipt; the batches that it covers are asked about no more."""
        self.committed = 0
        self.note()

    @property
    def idle_s(self) -> float:
        """Seconds since something moved."""
        return self._clock() - self._moved_s
