"""One at a time: whoever changes a recording has it alone."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from contracts.errors import UnavailableError


class BusyError(UnavailableError):
    """Somebody else has the recording."""


class Writers:
    """Knows which recordings are being changed in this process; nobody waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: set[bytes] = set()

    def enter(self, recording_id: bytes) -> None:
        """Have a recording alone until `leave`.

        Raises:
            BusyError: Somebody else has it.
        """
        with self._lock:
            if recording_id in self._busy:
                raise BusyError(f"recording {recording_id.hex()} is being written")
            self._busy.add(recording_id)

    def leave(self, recording_id: bytes) -> None:
        """Let go of a recording."""
        with self._lock:
            self._busy.discard(recording_id)

    @contextmanager
    def alone(self, recording_id: bytes) -> Iterator[None]:
        """Have a recording alone meanwhile.

        Raises:
            BusyError: Somebody else has it.
        """
        self.enter(recording_id)
        try:
            yield
        finally:
            self.leave(recording_id)
