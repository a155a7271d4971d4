"""Progress: how long nothing has moved."""

import time


class Progress:
    """When something was last sent to or confirmed by the gateway; any thread may note it.

    Attributes:
        moves: Number of moves so far.
        committed: The largest number of batches that were committed since the last receipt.
    """

    def __init__(self) -> None:
        self._moved_s = time.monotonic()
        self.moves = 0
        self.committed = 0

    def note(self) -> None:
        """Note that something moved."""
        self._moved_s = time.monotonic()
        self.moves += 1

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
        return time.monotonic() - self._moved_s
