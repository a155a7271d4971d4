"""Which recordings are whole here and lack a copy in some place."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass

from contracts.copies import Copy, Place
from contracts.records.clock import now_ms
from storage.recordings.manifest import StoredRecording
from storage.recordings.places import Places


@dataclass(frozen=True, slots=True)
class Backlog:
    """A recording that waits for a copy.

    Attributes:
        recording_id: 32 bytes.
        size: Bytes.
        lacks: The kinds of place without a copy.
        since_ms: When its manifest was written, or when it lost the copy.
    """

    recording_id: bytes
    size: int
    lacks: tuple[Place, ...]
    since_ms: int


class Backlogs:
    """The recordings that wait for a copy: read from the manifests once, then kept in memory.

    Args:
        places: Where recordings are.

    Raises:
        UnavailableError: The catalogue's disk failed.
    """

    def __init__(self, places: Places) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._dropped = set(places.catalogue.dropped())
        self._waiting: dict[bytes, Backlog] = {}
        for head in places.catalogue.heads():
            self._note(head.recording_id, head.size, head.copies, head.written_ms)

    def lacks(self, recording_id: bytes, copies: tuple[Copy, ...]) -> tuple[Place, ...]:
        """Return the kinds of place in which a copy is wanted and missing."""
        lacking = self._places.lacks(copies)
        return tuple(place for place in lacking if (recording_id, place) not in self._dropped)

    def waiting(self) -> Iterator[Backlog]:
        """Yield the waiting recordings, oldest first."""
        with self._lock:
            waiting = list(self._waiting.values())
        yield from sorted(waiting, key=lambda each: (each.since_ms, each.recording_id))

    def note(self, manifest: StoredRecording) -> None:
        """Update the backlog from a manifest that was written."""
        self._note(manifest.sha256, manifest.size, manifest.copies, now_ms())

    def give_up(self, recording_id: bytes, place: Place) -> None:
        """Stop wanting a copy there, durably."""
        self._places.catalogue.start_dropping(recording_id, place)
        with self._lock:
            self._dropped.add((recording_id, place))

    def gave_up(self, recording_id: bytes, place: Place) -> None:
        """Note durably that a copy was given up earlier: it is not made again."""
        self._places.catalogue.note_dropped(recording_id, place)
        with self._lock:
            self._dropped.add((recording_id, place))

    def want(self, manifest: StoredRecording, place: Place) -> None:
        """Want a copy there again, durably, unless its old bytes are still being deleted."""
        if self._places.catalogue.forget_dropped(manifest.sha256, place):
            with self._lock:
                self._dropped.discard((manifest.sha256, place))
            self.note(manifest)

    def forget(self, recording_id: bytes) -> None:
        """Forget a recording that is no longer whole, and the copies of it that were given up."""
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
