"""The store of recordings: written once, read near, verified on the way out.

A recording rests as 1 MiB blobs in the blob store and as a whole file on a volume. It
is whole exactly when its manifest exists, which is written last and names the copies
that are there; until then it is partial, visible as such and never served. Copies come
and go; what is missing is in the backlog until `fill` has made it.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, Self

from contracts.copies import Copy, Place
from contracts.errors import RejectedError
from storage.blobs.port import BlobStore
from storage.recordings.backlog import Backlog, Backlogs
from storage.recordings.catalogue import Catalogue
from storage.recordings.examining import Finding, Flaw, mend_blob, mend_seal, without_gone
from storage.recordings.fetching import OnDamage, log_damage
from storage.recordings.filling import Stop, fill_places
from storage.recordings.manifest import Progress, StoredRecording, check_recording
from storage.recordings.opening import open_upload
from storage.recordings.reader import Reader
from storage.recordings.removing import Removals
from storage.recordings.restoring import restore
from storage.recordings.shelves import Shelves
from storage.recordings.verifying import VerifyReport, prove_blobs, verify_copies
from storage.recordings.writer import RecordingWriter
from storage.recordings.writers import Writers
from storage.stages import Stages, Untold
from storage.volumes.volumes import Volumes

POOL_THREADS: Final = 4


class RecordingStore:
    """Recordings over one blob store and some volumes; safe to use from many threads.

    One process at a time owns the directories. Blob store and volumes are closed by who made
    them, after the store.

    Args:
        root: Directory for manifests and progress records; made when it is missing.
        blobs: One copy.
        volumes: The other one, nearer.
        on_damage: Told of every blob that a copy could not serve while reading; by any thread.
        without_volume: Whether uploads go to the blob store alone while no volume works.
        believes: Whether another site's word on a recording, its bytes unread, may be taken.
        stages: Told how long hashing and writing took.

    Raises:
        UnavailableError: A directory of the catalogue cannot be made or read.
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
        stages: Stages | None = None,
    ) -> None:
        self._shelves = Shelves(Catalogue(root), blobs, volumes, stages or Untold())
        self._without_volume = without_volume
        self._believes = believes
        self._backlogs = Backlogs(self._shelves)
        self._removals = Removals(self._shelves, self._backlogs)
        self._pool = ThreadPoolExecutor(POOL_THREADS, "blobs")
        self._reader = Reader(self._shelves, on_damage, self.mend)
        self._writers = Writers()
        self.tidy()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, recording_id: bytes, size: int) -> RecordingWriter:
        """Begin to write a recording, or go on where it is durable; close the writer after use.

        Going on reads and hashes again what is there.

        Args:
            recording_id: SHA-256 that the whole file will have, 32 bytes.
            size: Bytes that the whole file will have, 0..RECORDING_BYTES_MAX.

        Raises:
            RejectedError: It was begun with another size, or is whole.
            UnavailableError: Another writer is at it, or no copy can be made: no volume has room,
                or none works and there must be one.
        """
        check_recording(recording_id, size)
        self._writers.enter(recording_id)
        try:
            progress = self._resumable(recording_id, size)
            opening = open_upload(self._shelves, progress, refuse=not self._without_volume)
            let_go = partial(self._let_go, recording_id)
            return RecordingWriter(self._shelves, opening, self._pool, let_go)
        except BaseException:
            self._writers.leave(recording_id)
            raise

    @property
    def shelves(self) -> Shelves:
        """The places that hold the recordings, for whoever looks after them."""
        return self._shelves

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return what is known of a recording that is whole here; None when it is not.

        Its copies are those in the volumes and the blob store that there are now, in use or not.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: The catalogue's disk failed.
        """
        check_recording(recording_id)
        manifest = self._shelves.catalogue.manifest(recording_id)
        return self._shelves.ours(manifest) if manifest else None

    def find(self, recording_id: bytes) -> StoredRecording | None:
        """Return what is known of a recording that is whole here, or in the shared blob store.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: A disk failed, or it is not here and the blob store did not answer.
        """
        return self.manifest(recording_id) or self._shelves.shared(recording_id)

    def adopt(self, recording_id: bytes, size: int) -> StoredRecording | None:
        """Take a recording as whole here that is whole in the blob store, put by another site.

        It has no copy until `fill`, in whose backlog it is then, has read every byte: that a blob
        is listed there with its leaf hash does not make it so. Bytes that came here before are
        given up.

        Returns:
            Its manifest; None when it is not whole there, not believed, or damaged.

        Raises:
            RejectedError: The manifest there is damaged.
            UnavailableError: It is being written here, or a disk or the blob store did not answer.
        """
        manifest = self.manifest(recording_id)
        if manifest is not None or self._shelves.catalogue.is_damaged(recording_id):
            return manifest
        shared = self._shelves.shared(recording_id)
        if shared is None or shared.size != size or not self._believes(shared):
            return None
        with self._writers.alone(recording_id):
            self._resumable(recording_id, size)
            self._shelves.require_put(shared)
            adopted = replace(shared, copies=())
            self._shelves.catalogue.complete(adopted)
            self._backlogs.note(adopted)
        return adopted

    def progress(self, recording_id: bytes) -> Progress | None:
        """Return how far a partial recording is durable; None when it is whole or unknown.

        Raises:
            UnavailableError: The catalogue's disk failed.
        """
        check_recording(recording_id)
        progress = self._shelves.catalogue.progress(recording_id)
        if progress is None or self._shelves.catalogue.is_whole(recording_id):
            return None
        return self._shelves.truthful(progress)

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every recording that is whole here, in ascending order."""
        return self._shelves.catalogue.whole()

    def partial(self) -> Iterator[Progress]:
        """Yield how far each recording has come that is not whole, in ascending order of id."""
        return map(self._shelves.truthful, self._shelves.catalogue.partial())

    def read(self, recording_id: bytes, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Return an iterator over the bytes start..stop, a blob or less at a time.

        Each blob comes from a volume, or else from the blob store, and is verified before any
        byte of it leaves. What did not hold is told to `on_damage`, and mended in the background.

        Raises:
            RejectedError: The recording is not whole, the range lies outside it, or (while
                iterating) no copy of a blob holds.
            UnavailableError: As before, but a copy did not answer.
        """
        return self._reader.read(self._require(recording_id), start, stop)

    def verify(self, recording_id: bytes) -> VerifyReport:
        """Read every byte of every copy and report what does not hold.

        Raises:
            RejectedError: The recording is not whole, or its manifest is damaged.
            UnavailableError: The medium failed as a whole.
        """
        return verify_copies(self._shelves, self._require(recording_id))

    def mend(self, recording_id: bytes, index: int) -> tuple[Finding, ...]:
        """Read one blob of every copy, past caches; write anew what is wrong from one that holds.

        A whole file that is gone leaves the manifest, and is in the backlog then.

        Raises:
            RejectedError: The recording is not whole here, or has no such blob.
            UnavailableError: It is being written, or the catalogue's disk failed.
        """
        with self._writers.alone(recording_id):
            manifest = self._with_blob(recording_id, index)
            found = mend_blob(self._shelves, manifest, index)
            if any(each.kind is Flaw.MISSING and not each.repaired for each in found):
                self._forget_gone(manifest)
            return found

    def reseal(self, recording_id: bytes) -> Finding | None:
        """Put the blob store's manifest anew if it is missing or wrong; return what was wrong.

        Raises:
            RejectedError: The recording is not whole here.
            UnavailableError: It is being written.
        """
        with self._writers.alone(recording_id):
            return mend_seal(self._shelves, self._here(recording_id))

    def backlog(self) -> Iterator[Backlog]:
        """Yield the recordings that are whole here and lack a place, oldest first."""
        return self._backlogs.waiting()

    def fill(self, recording_id: bytes, stop: Stop = lambda: False) -> bool:
        """Make the copies that a recording lacks from those that hold; say if it lacks none now.

        An adopted one that holds nowhere is whole no more, but damaged.

        Raises:
            RejectedError: No copy of a blob holds.
            UnavailableError: It is being written, or a place failed or has no room; copies that
                could be made are.
        """
        with self._writers.alone(recording_id):
            manifest = self.manifest(recording_id)
            if manifest is None:
                return True
            places = self._backlogs.lacks(recording_id, manifest.copies)
            try:
                return fill_places(self._shelves, manifest, places, self._replace, stop)
            except RejectedError:
                self._removals.give_up_adopted(recording_id)
                raise

    def blobs_hold(self, recording_id: bytes) -> bool:
        """Say whether the blob store lists every blob of a recording that is whole here.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: The blob store did not answer.
        """
        manifest = self.manifest(recording_id)
        return manifest is not None and not self._shelves.not_put(manifest)

    def prove_blobs(self, recording_id: bytes, stop: Stop = lambda: False) -> bool:
        """Read every blob from the blob store, mend what is wrong; say whether all hold now.

        If so the manifest is put there anew: without it they would be whole for nobody else.

        Raises:
            RejectedError: It is not whole here.
            UnavailableError: It is being written, or the blob store did not answer at all.
        """
        if not prove_blobs(self._shelves, self._here(recording_id), self.mend, stop):
            return False
        with self._writers.alone(recording_id):
            self._shelves.seal_blobs(self._here(recording_id))
        return True

    def drop(self, recording_id: bytes, copy: Copy) -> None:
        """Give up a copy of a recording for good; dropping again goes on.

        In the blob store that is the copy of all sites.

        Raises:
            RejectedError: It is not whole here, or has no copy elsewhere.
            UnavailableError: It is being written, or a place did not let go: that follows later.
        """
        with self._writers.alone(recording_id):
            manifest, place = self._here(recording_id), copy.place
            if all(each.place is place for each in manifest.copies):
                raise RejectedError(
                    f"recording {recording_id.hex()} has no copy but in {place}: delete it instead"
                )
            if copy in manifest.copies:
                self._backlogs.give_up(recording_id, place)
            if (recording_id, place) in self._shelves.catalogue.dropping():
                self._removals.finish_dropping(recording_id, place)

    def want(self, recording_id: bytes, place: Place) -> None:
        """Have a copy in the backlog again that was given up, once its bytes are gone.

        Raises:
            RejectedError: It is not whole here.
            UnavailableError: It is being written, or the catalogue's disk failed.
        """
        with self._writers.alone(recording_id):
            self._backlogs.want(self._here(recording_id), place)

    def delete(self, recording_id: bytes) -> None:
        """Remove a recording, whole or partial, and all its copies; an unknown one is fine.

        Raises:
            UnavailableError: It is being written; or it is known no more, but a place did not let
                go of its copy: that follows later, and deleting again goes on too.
        """
        check_recording(recording_id)
        with self._writers.alone(recording_id):
            self._shelves.catalogue.start_leaving(recording_id)
            self._removals.finish_leaving(recording_id)

    def tidy(self) -> None:
        """Go on with removals that a place held up, and remove parts that nobody goes on with."""
        self._removals.tidy(self._writers)

    def restore_manifest(self, recording_id: bytes, stop: Stop = lambda: False) -> bool:
        """Make a damaged manifest anew from a copy, which is read as a whole; say if that was done.

        Copies that were not read are in the backlog then, and found again by `fill`. Told to stop,
        it leaves the manifest as it is.

        Raises:
            RejectedError: The blob store has another recording's bytes, or not all.
            UnavailableError: It is being written, or the blob store did not answer.
        """
        with self._writers.alone(recording_id):
            found = restore(self._shelves, recording_id, stop)
            if found is not None:
                self._replace(found, found.copies)
            return found is not None

    def close(self) -> None:
        """Wait for the blob writes and repairs under way; close the writers before."""
        self._reader.close()
        self._pool.shutdown()

    def _resumable(self, recording_id: bytes, size: int) -> Progress:
        catalogue = self._shelves.catalogue
        if catalogue.is_whole(recording_id):
            raise RejectedError(f"recording {recording_id.hex()} is whole and written once")
        if catalogue.is_leaving(recording_id):
            self._removals.finish_leaving(recording_id)
        progress = catalogue.progress(recording_id) or Progress(recording_id, size, 0)
        if progress.size != size:
            raise RejectedError(
                f"recording {recording_id.hex()} was begun with {progress.size} bytes, got {size}"
            )
        return progress

    def _require(self, recording_id: bytes) -> StoredRecording:
        manifest = self.find(recording_id)
        if manifest is None:
            progress = self.progress(recording_id)
            state = f"partial, {progress.offset} of {progress.size} bytes" if progress else "absent"
            raise RejectedError(f"recording {recording_id.hex()} is not whole but {state}")
        return manifest

    def _here(self, recording_id: bytes) -> StoredRecording:
        manifest = self.manifest(recording_id)
        if manifest is None:
            raise RejectedError(f"recording {recording_id.hex()} is not whole here")
        return manifest

    def _with_blob(self, recording_id: bytes, index: int) -> StoredRecording:
        manifest = self._here(recording_id)
        if not 0 <= index < len(manifest.leaves):
            raise RejectedError(
                f"recording {recording_id.hex()} has {len(manifest.leaves)} blobs, got {index}"
            )
        return manifest

    def _forget_gone(self, manifest: StoredRecording) -> None:
        """Take volumes that lost the whole file out of the manifest, while another copy is left."""
        left = without_gone(self._shelves, manifest)
        if left and left != manifest.copies:
            self._replace(manifest, left)

    def _replace(self, manifest: StoredRecording, copies: tuple[Copy, ...]) -> StoredRecording:
        manifest = replace(manifest, copies=copies)
        self._shelves.catalogue.replace(manifest)
        self._backlogs.note(manifest)
        return manifest

    def _let_go(self, recording_id: bytes, manifest: StoredRecording | None) -> None:
        if manifest is not None:
            self._backlogs.note(manifest)
        self._writers.leave(recording_id)
