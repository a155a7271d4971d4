"""The store of recordings: written once, read near, verified on the way out.

A recording rests as 1 MiB blobs in the blob store and as a whole file on a volume. It is whole once
its manifest exists, which is written last and names the existing copies. Until then it is partial:
listed as such, never served. A missing copy is in the backlog until `fill` has made it.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Self

from contracts.copies import Copy, Place
from contracts.errors import RejectedError
from storage.blobs.port import BlobStore, Returned
from storage.recordings.backfill import Stop, fill_places
from storage.recordings.backlog import Backlog, Backlogs
from storage.recordings.blobcopies import Finding, Flaw, OnDamage, Survey, log_damage, survey_blob
from storage.recordings.catalogue import Catalogue
from storage.recordings.deletion import Removals
from storage.recordings.locks import RecordingLocks
from storage.recordings.lost import LostEntries
from storage.recordings.manifest import Progress, StoredRecording, check_recording
from storage.recordings.orphans import Orphan, Unlisted, find_damaged, find_orphans
from storage.recordings.places import Places
from storage.recordings.reader import Reader
from storage.recordings.repair import mend_blob, mend_seal, without_gone
from storage.recordings.uploadstart import open_upload
from storage.recordings.verification import VerifyReport, prove_blobs, verify_copies
from storage.recordings.writer import RecordingWriter
from storage.stages import NOT_RECORDED, Stages
from storage.volumes.volumes import Volumes

POOL_THREADS: Final = 4


class RecordingStore:
    """Recordings over one blob store and some volumes; safe to use from many threads.

    One process at a time owns the directories. The caller closes blob store and volumes, after the
    store.

    Args:
        root: Directory for manifests and progress records; created if missing.
        blobs: Holds one copy.
        volumes: Hold the nearer copy.
        on_damage: Called for every blob that a copy could not serve to a reader, in any thread.
        without_volume: Whether uploads go to the blob store alone while no volume works.
        believes: Whether another site's manifest may be adopted before its bytes are read.
        stages: Records how long hashing and writing took.

    Attributes:
        lost: Makes lost entries of the catalogue again.

    Raises:
        UnavailableError: A directory of the catalogue cannot be created or read.
    """

    def __init__(
        self,
        root: Path,
        blobs: BlobStore,
        volumes: Volumes,
        on_damage: OnDamage = log_damage,
        *,
        without_volume: bool = True,
        believes: Callable[[StoredRecording], bool] = lambda _: True,
        stages: Stages = NOT_RECORDED,
    ) -> None:
        self._places = Places(Catalogue(root), blobs, volumes, stages)
        self._without_volume = without_volume
        self._believes = believes
        self._backlogs = Backlogs(self._places)
        self._removals = Removals(self._places, self._backlogs)
        self._pool = ThreadPoolExecutor(POOL_THREADS, "blobs")
        self._reader = Reader(self._places, on_damage, self.mend)
        self._writers = RecordingLocks()
        self.lost = LostEntries(self._places, self._backlogs, self._writers, self.mend)
        self.tidy()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, recording_id: bytes, size: int, digest: bytes | None = None) -> RecordingWriter:
        """Begin to write a recording, or continue where it is durable; close the writer after use.

        To continue, the durable bytes are read and hashed again.

        Args:
            recording_id: SHA-256 of the whole file, 32 bytes; or a name, for `promote`.
            size: Bytes of the whole file, 0..RECORDING_BYTES_MAX.
            digest: SHA-256 of the whole file if `recording_id` is only a name.

        Raises:
            RejectedError: The upload began with another size, or the recording is whole.
            UnavailableError: It is being written, no volume has room, or no volume works although
                one is required.
        """
        check_recording(recording_id, size)
        self._writers.enter(recording_id)
        try:
            progress = self._removals.upload_progress(recording_id, size)
            opening = open_upload(self._places, progress, refuse=not self._without_volume)
            let_go = partial(self._let_go, recording_id)
            return RecordingWriter(self._places, opening, self._pool, let_go, digest)
        except BaseException:
            self._writers.leave(recording_id)
            raise

    @property
    def places(self) -> Places:
        """The places that hold the recordings."""
        return self._places

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest of a recording that is whole here, or None.

        It names only copies in places that the settings name, in use or not.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: The catalogue's disk failed.
        """
        check_recording(recording_id)
        manifest = self._places.catalogue.manifest(recording_id)
        return self._places.ours(manifest) if manifest else None

    def find(self, recording_id: bytes) -> StoredRecording | None:
        """Return the manifest of a recording that is whole here or in the blob store, or None.

        Without an entry here, it names the copies that seem to be there.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: A disk failed, or the blob store was needed and did not answer.
        """
        return self.lost.or_seen(recording_id, self.manifest)

    def adopt(self, recording_id: bytes, size: int) -> StoredRecording | None:
        """Make a recording whole here that another site has put whole into the blob store.

        It waits in the backlog, without a copy, until `fill` has read every byte, because the list
        of leaf hashes in the blob store proves nothing. A partial upload at this site is given up.

        Returns:
            Its manifest; None if it is not whole there, not believed, or damaged.

        Raises:
            RejectedError: The manifest in the blob store is damaged.
            UnavailableError: It is being written here, or a disk or the blob store did not answer.
        """
        manifest = self.manifest(recording_id)
        if manifest is not None or self._places.catalogue.is_damaged(recording_id):
            return manifest
        shared = self._places.shared(recording_id)
        if shared is None or shared.size != size or not self._believes(shared):
            return None
        with self._writers.alone(recording_id):
            self._removals.upload_progress(recording_id, size)
            self._places.require_put(shared)
            adopted = replace(shared, copies=())
            self._places.catalogue.complete(adopted)
            self._backlogs.note(adopted)
        return adopted

    def progress(self, recording_id: bytes) -> Progress | None:
        """Return the progress of a partial recording; None if it is whole or unknown.

        Raises:
            UnavailableError: The catalogue's disk failed.
        """
        check_recording(recording_id)
        progress = self._places.catalogue.progress(recording_id)
        if progress is None or self._places.catalogue.is_whole(recording_id):
            return None
        return self._places.truthful(progress)

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every recording that is whole here, in ascending order."""
        return self._places.catalogue.whole()

    def partial(self) -> Iterator[Progress]:
        """Yield the progress of each partial recording, in ascending order of id."""
        return map(self._places.truthful, self._places.catalogue.partial())

    def read(self, recording_id: bytes, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Return an iterator over the bytes start..stop, a blob or less at a time.

        Each blob comes from a volume or else from the blob store, and is verified before it is
        returned. Damaged copies are reported to `on_damage` and mended in the background.

        Raises:
            RejectedError: The recording is not whole, the range lies outside it, or (while
                iterating) no copy of a blob is intact.
            UnavailableError: No copy that answered is intact, and one did not answer.
        """
        return self._reader.read(self._require(recording_id), start, stop)

    def verify(
        self, recording_id: bytes, before: Callable[[], object] = lambda: None
    ) -> VerifyReport:
        """Read every byte of every copy and report what is damaged or missing.

        Args:
            recording_id: 32 bytes.
            before: Called before each blob of each copy; what it raises ends the work.

        Raises:
            RejectedError: The recording is not whole, or its manifest is damaged.
            UnavailableError: The medium failed as a whole.
        """
        return verify_copies(self._places, self._require(recording_id), before)

    def survey(self, recording_id: bytes, index: int) -> Survey:
        """Read one blob of every copy and every replica from its medium; return the faults.

        Raises:
            RejectedError: The recording is not whole here, or its manifest is damaged.
            UnavailableError: The catalogue's disk failed.
        """
        manifest = self._places.catalogue.unchanged(recording_id)
        return survey_blob(self._places, self._ours(manifest, recording_id), index)

    def not_looked_at(self) -> dict[str, str]:
        """Return the copies that cannot be read now, because a volume is out, with the reasons."""
        return self._places.out()

    def orphans(self) -> Iterator[Orphan | Unlisted]:
        """Yield stored bytes of no known recording, and places that cannot be listed."""
        return find_orphans(self._places)

    def returned(self, stop: Stop) -> Iterator[Returned]:
        """Delete again what a replica of the blob store has of any deleted recording."""
        return self._places.blobs.returned(stop)

    def damaged(self) -> Iterator[Orphan]:
        """Yield recordings of other sites whose blobs were found damaged when read here."""
        return find_damaged(self._places)

    def mend(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        """Read one blob of every copy from the medium; overwrite damaged ones from an intact one.

        If a whole file is gone and another copy is left, it leaves the manifest and enters the
        backlog.

        Raises:
            RejectedError: The recording is not whole here, or has no such blob.
            UnavailableError: It is being written, or the catalogue's disk failed.
        """
        with self._writers.alone(recording_id):
            manifest = self._here(recording_id)
            if not 0 <= index < len(manifest.leaves):
                raise RejectedError(
                    f"recording {recording_id.hex()} has {len(manifest.leaves)} blobs, got {index}"
                )
            found = mend_blob(self._places, manifest, index)
            if any(each.kind is Flaw.MISSING and not each.repaired for each in found):
                left = without_gone(self._places, manifest)
                if left and left != manifest.copies:
                    self._replace(manifest, left)
            return found

    def reseal(self, recording_id: bytes) -> Finding | None:
        """Write the blob store's manifest again if it is missing or wrong; return what was wrong.

        Raises:
            RejectedError: The recording is not whole here.
            UnavailableError: It is being written.
        """
        with self._writers.alone(recording_id):
            return mend_seal(self._places, self._here(recording_id))

    def backlog(self) -> Iterator[Backlog]:
        """Yield the recordings that are whole here and lack a copy, oldest first."""
        return self._backlogs.waiting()

    def fill(self, recording_id: bytes, stop: Stop = lambda: False) -> bool:
        """Make the missing copies of a recording from intact ones; return whether all exist now.

        An adopted recording without an intact copy is noted as damaged and is no longer whole.

        Raises:
            RejectedError: No copy of a blob is intact.
            UnavailableError: It is being written, or a place failed or is full; copies in other
                places were made.
        """
        with self._writers.alone(recording_id):
            manifest = self.manifest(recording_id)
            if manifest is None:
                return True
            kinds = self._backlogs.lacks(recording_id, manifest.copies)
            try:
                return fill_places(self._places, manifest, kinds, self._replace, stop)
            except RejectedError:
                self._removals.give_up_adopted(recording_id)
                raise

    def blobs_hold(self, recording_id: bytes) -> bool:
        """Return whether the blob store lists every blob of a recording that is whole here.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: The blob store did not answer.
        """
        manifest = self.manifest(recording_id)
        return manifest is not None and not self._places.not_put(manifest)

    def prove_blobs(self, recording_id: bytes, stop: Stop = lambda: False) -> bool:
        """Read every blob in the blob store, mend damaged ones; return whether all are intact now.

        If so, the manifest is written there again: without it, other sites would not see the
        recording as whole.

        Raises:
            RejectedError: The recording is not whole here.
            UnavailableError: It is being written, or the blob store did not answer at all.
        """
        if not prove_blobs(self._places, self._here(recording_id), self.mend, stop):
            return False
        with self._writers.alone(recording_id):
            self._places.seal_blobs(self._here(recording_id))
        return True

    def drop(self, recording_id: bytes, copy: Copy) -> None:
        """Give up a copy of a recording for good; dropping it again continues the deletion.

        In the blob store this is the copy of all sites.

        Raises:
            RejectedError: The recording is not whole here, or has no copy elsewhere.
            UnavailableError: It is being written, or a place did not delete its copy yet.
        """
        with self._writers.alone(recording_id):
            self._removals.drop(self._here(recording_id), copy)

    def want(self, recording_id: bytes, place: Place) -> None:
        """Put a copy that was given up back into the backlog, once its bytes are deleted.

        Raises:
            RejectedError: The recording is not whole here.
            UnavailableError: It is being written, or the catalogue's disk failed.
        """
        with self._writers.alone(recording_id):
            self._backlogs.want(self._here(recording_id), place)

    def delete(self, recording_id: bytes) -> None:
        """Delete a recording, whole or partial, and all its copies; an unknown one is fine.

        Raises:
            UnavailableError: It is being written; or it is forgotten, but a place did not delete
                its copy: the deletion continues later, or when it is deleted again.
        """
        check_recording(recording_id)
        with self._writers.alone(recording_id):
            self._places.catalogue.start_leaving(recording_id)
            self._removals.finish_leaving(recording_id)

    def tidy(self) -> None:
        """Continue interrupted deletions, and delete parts that no upload continues."""
        self._removals.tidy(self._writers)

    def restore_manifest(self, recording_id: bytes, stop: Stop = lambda: False) -> bool:
        """See `LostEntries.restore`."""
        return self.lost.restore(recording_id, stop)

    def close(self) -> None:
        """Wait for blob writes and repairs that are under way; close the writers first."""
        self._reader.close()
        self._pool.shutdown()

    def _require(self, recording_id: bytes) -> StoredRecording:
        manifest = self.find(recording_id)
        if manifest is None:
            progress = self.progress(recording_id)
            state = f"partial, {progress.offset} of {progress.size} bytes" if progress else "absent"
            raise RejectedError(f"recording {recording_id.hex()} is not whole but {state}")
        return manifest

    def _here(self, recording_id: bytes) -> StoredRecording:
        check_recording(recording_id)
        return self._ours(self._places.catalogue.manifest(recording_id), recording_id)

    def _ours(self, manifest: StoredRecording | None, recording_id: bytes) -> StoredRecording:
        if manifest is None:
            raise RejectedError(f"recording {recording_id.hex()} is not whole here")
        return self._places.ours(manifest)

    def _replace(self, manifest: StoredRecording, copies: tuple[Copy, ...]) -> StoredRecording:
        manifest = replace(manifest, copies=copies)
        self._places.catalogue.replace(manifest)
        self._backlogs.note(manifest)
        return manifest

    def _let_go(self, recording_id: bytes, manifest: StoredRecording | None) -> None:
        if manifest is not None:
            self._backlogs.note(manifest)
        self._writers.leave(recording_id)
