"""Locks of recordings: one change of a recording at a time."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from contracts.errors import UnavailableError


class BusyError(UnavailableError):
    """The recording is locked by another writer, repair or deletion."""


class RecordingLocks:
    """The recordings that are being changed in this process; a taken lock raises, nobody waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[bytes] = set()

    def enter(self, recording_id: bytes) -> None:
        """Lock a recording until `leave`.

        Raises:
            BusyError: It is locked.
        """
        with self._lock:
            if recording_id in self._busy:
                raise BusyError(f"recording {recording_id.hex()} is being written")
            self._busy.add(recording_id)

    def leave(self, recording_id: bytes) -> None:
        """Unlock a recording."""
        with self._lock:
            self._busy.discard(recording_id)

    @contextmanager
    def alone(self, recording_id: bytes) -> Iterator[None]:
        """Lock a recording for the block.

        Raises:
            BusyError: It is locked.
        """
        self.enter(recording_id)
        try:
            yield
        finally:
            self.leave(recording_id)
