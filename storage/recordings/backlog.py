"""Which recordings are whole here, but not in every place where they should be."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.copies import Copy, Place
from contracts.records.clock import now_ms
from storage.recordings.manifest import StoredRecording
from storage.recordings.shelves import Shelves


@dataclass(frozen=True, slots=True)
class Backlog:
    """A recording that waits for a copy.

    Attributes:
        recording_id: 32 bytes.
        size: Bytes.
        lacks: The kinds of place.
        since_ms: When its manifest was written, or it came to lack something.
    """

    recording_id: bytes
    size: int
    lacks: tuple[Place, ...]
    since_ms: int


class Backlogs:
    """Knows what waits: read from the manifests once, kept in memory from then on.

    Args:
        shelves: Where recordings are.

    Raises:
        UnavailableError: The catalogue's disk failed.
    """

    def __init__(self, shelves: Shelves) -> None:
        self._shelves = shelves
        self._lock = threading.Lock()
        self._dropped = set(shelves.catalogue.dropped())
        self._waiting: dict[bytes, Backlog] = {}
        for head in shelves.catalogue.heads():
            self._note(head.recording_id, head.size, head.copies, head.written_ms)

    def lacks(self, recording_id: bytes, copies: tuple[Copy, ...]) -> tuple[Place, ...]:
        """Return the kinds of place in which a copy is wanted and none is."""
        lacking = self._shelves.lacks(copies)
        return tuple(place for place in lacking if (recording_id, place) not in self._dropped)

    def waiting(self) -> Iterator[Backlog]:
        """Yield what waits, oldest first."""
        with self._lock:
            waiting = list(self._waiting.values())
        yield from sorted(waiting, key=lambda each: (each.since_ms, each.recording_id))

    def note(self, manifest: StoredRecording) -> None:
        """Take note of a manifest that was written."""
        self._note(manifest.sha256, manifest.size, manifest.copies, now_ms())

    def give_up(self, recording_id: bytes, place: Place) -> None:
        """Want no copy there any more, durably."""
        self._shelves.catalogue.start_dropping(recording_id, place)
        with self._lock:
            self._dropped.add((recording_id, place))

    def want(self, manifest: StoredRecording, place: Place) -> None:
        """Want a copy there again, durably, unless its bytes are still on their way out."""
        if self._shelves.catalogue.forget_dropped(manifest.sha256, place):
            with self._lock:
                self._dropped.discard((manifest.sha256, place))
            self.note(manifest)

    def forget(self, recording_id: bytes) -> None:
        """Forget a recording that is whole no more, and what was given up of it."""
        with self._lock:
            self._waiting.pop(recording_id, None)
            self._dropped -= {(recording_id, place) for place in Place}

    def _note(self, recording_id: bytes, size: int, copies: tuple[Copy, ...], at_ms: int) -> None:
        lacking = self.lacks(recording_id, copies)
        with self._lock:
            before = self._waiting.pop(recording_id, None)
            if lacking:
                since_ms = before.since_ms if before else at_ms
                self._waiting[recording_id] = Backlog(recording_id, size, lacking, since_ms)
