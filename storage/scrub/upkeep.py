"""The store of recordings as the scrub sees it."""

from collections.abc import Callable, Iterator

from contracts.copies import Place
from contracts.errors import RejectedError
from storage.recordings.examining import Finding, Survey, survey_blob
from storage.recordings.manifest import StoredRecording
from storage.recordings.store import RecordingStore
from storage.recordings.strays import Stray, Unlisted, find_damaged, find_strays


class Upkeep:
    """Looks past the readers' ways at what rests in each place.

    Args:
        store: What is looked at.
    """

    def __init__(self, store: RecordingStore) -> None:
        self._store = store
        self._shelves = store.shelves
        self._stamp: tuple[int, int] | None = None
        self._manifest: StoredRecording | None = None

    def recordings(self) -> Iterator[bytes]:
        """See `Scrubbed.recordings`."""
        return self._store.recordings()

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """See `Scrubbed.manifest`."""
        return self._store.manifest(recording_id)

    def restore_manifest(self, recording_id: bytes, stop: Callable[[], bool]) -> bool:
        """See `Scrubbed.restore_manifest`."""
        return self._store.restore_manifest(recording_id, stop)

    def survey(self, recording_id: bytes, index: int) -> Survey:
        """See `Scrubbed.survey`."""
        return survey_blob(self._shelves, self._read(recording_id), index)

    def mend(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        """See `Scrubbed.mend`."""
        return self._store.mend(recording_id, index)

    def reseal(self, recording_id: bytes) -> Finding | None:
        """See `Scrubbed.reseal`."""
        return self._store.reseal(recording_id)

    def not_looked_at(self) -> dict[str, str]:
        """See `Scrubbed.not_looked_at`."""
        return {
            f"{Place.VOLUME}:{volume.name}": f"volume {volume.name} is out: {volume.reason}"
            for volume in self._shelves.volumes
            if not volume.usable
        }

    def strays(self) -> Iterator[Stray | Unlisted]:
        """See `Scrubbed.strays`."""
        return find_strays(self._shelves)

    def damaged(self) -> Iterator[Stray]:
        """See `Scrubbed.damaged`."""
        return find_damaged(self._shelves)

    def _read(self, recording_id: bytes) -> StoredRecording:
        """Return the manifest; one that was not written meanwhile is not parsed for every blob."""
        stamp = self._shelves.catalogue.stamp(recording_id)
        if self._manifest is None or (recording_id, stamp) != (self._manifest.sha256, self._stamp):
            self._stamp, self._manifest = stamp, self._store.manifest(recording_id)
        if stamp is None or self._manifest is None:
            raise RejectedError(f"recording {recording_id.hex()} is not whole here")
        return self._manifest
