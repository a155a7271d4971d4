"""The copies of a recording that a receipt may name."""

from dataclasses import replace

from contracts.copies import Copy, Place
from contracts.errors import UnavailableError
from gateway.retention.deletions import Deletions
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.volumes.volumes import Volumes


class CopiesAtHand:
    """Looks at the manifest, the volumes in use, and the deletions under way."""

    def __init__(self, store: RecordingStore, deletions: Deletions, volumes: Volumes) -> None:
        self._store = store
        self._deletions = deletions
        self._volumes = volumes

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return a whole recording with the copies that a receipt may name now.

        Copies on volumes that are not usable are left out: nobody knows whether they still exist.

        The deletions are read first. A deletion that begins later is put on record, and then checks
        what was announced. So it finds the visit that this receipt is for.

        Raises:
            UnavailableError: A copy is being deleted, its bytes were not read since its entry in
                the catalogue was lost, or the catalogue's disk failed.
            RejectedError: The manifest is damaged.
        """
        if self._deletions.is_under_way(recording_id):
            raise UnavailableError(f"a copy of recording {recording_id.hex()} is being deleted")
        stored = self._store.manifest(recording_id)
        if stored is None:
            return None
        if self._store.lost.is_unread(recording_id):
            raise UnavailableError(
                f"the entry of recording {recording_id.hex()} was lost, and its copies are read "
                f"first"
            )
        return replace(stored, copies=tuple(filter(self._is_at_hand, stored.copies)))

    def _is_at_hand(self, copy: Copy) -> bool:
        volume = self._volumes.get(copy.name) if copy.place is Place.VOLUME else None
        return copy.place is not Place.VOLUME or (volume is not None and volume.usable)
