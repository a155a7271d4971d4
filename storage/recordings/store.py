"""The store of recordings: written once, read near, verified on the way out.

Each recording rests twice: as 1 MiB blobs and as a whole file on a volume. It
is whole exactly when its manifest exists, which is written last; until then it
is partial, visible as such and never served.
"""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError
from storage.blobs.port import BlobStore
from storage.recordings.catalogue import Catalogue
from storage.recordings.manifest import Progress, StoredRecording, check_recording
from storage.recordings.reader import OnDamage, VerifyReport, log_damage, read_range, verify_copies
from storage.recordings.writer import RecordingWriter, Shelves
from storage.volumes.directory import VolumeDirectory

POOL_THREADS: Final = 4


class RecordingStore:
    """Recordings over one blob store and one volume; safe to use from many threads.

    One process at a time owns the directories.

    Args:
        root: Directory for manifests and progress records; made when it is missing.
        blobs: One copy.
        volume: The other one, nearer.
        on_damage: Told of every blob that a copy could not serve while reading.

    Raises:
        UnavailableError: A directory cannot be made or read.
    """

    def __init__(
        self,
        root: Path,
        blobs: BlobStore,
        volume: VolumeDirectory,
        on_damage: OnDamage = log_damage,
    ) -> None:
        self._shelves = Shelves(Catalogue(root), blobs, volume)
        self._on_damage = on_damage
        self._pool = ThreadPoolExecutor(POOL_THREADS, "blobs")
        self._lock = threading.Lock()
        self._taken: set[bytes] = set()
        for recording_id in self._shelves.catalogue.leaving():
            self._finish_leaving(recording_id)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def begin(self, recording_id: bytes, size: int) -> RecordingWriter:
        """Begin to write a recording, or go on where it is durable; close the writer after use.

        Going on reads and hashes again what the volume has.

        Args:
            recording_id: SHA-256 that the whole file will have, 32 bytes.
            size: Bytes that the whole file will have, 0..RECORDING_BYTES_MAX.

        Raises:
            RejectedError: It was begun with another size, or is whole.
            UnavailableError: Another writer is at it, or the medium failed or is full.
        """
        check_recording(recording_id, size)
        self._take(recording_id)
        try:
            return RecordingWriter(
                self._shelves,
                self._resumable(recording_id, size),
                self._pool,
                lambda: self._taken.discard(recording_id),
            )
        except BaseException:
            self._taken.discard(recording_id)
            raise

    def manifest(self, recording_id: bytes) -> StoredRecording | None:
        """Return what is known of a whole recording; None when it is not whole.

        Raises:
            RejectedError: The manifest is damaged.
            UnavailableError: The medium failed.
        """
        check_recording(recording_id)
        return self._shelves.catalogue.manifest(recording_id)

    def progress(self, recording_id: bytes) -> Progress | None:
        """Return how far a partial recording is durable; None when it is whole or unknown.

        Raises:
            UnavailableError: The medium failed.
        """
        check_recording(recording_id)
        progress = self._shelves.catalogue.progress(recording_id)
        if progress is None or self._shelves.catalogue.is_whole(recording_id):
            return None
        return self._truthful(progress)

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every whole recording, in ascending order."""
        return self._shelves.catalogue.whole()

    def partial(self) -> Iterator[Progress]:
        """Yield how far each recording has come that is not whole, in ascending order of id."""
        return map(self._truthful, self._shelves.catalogue.partial())

    def read(self, recording_id: bytes, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        """Return an iterator over the bytes start..stop, a blob or less at a time.

        Each blob comes from the volume, or else from the blob store, and is verified before any
        byte of it leaves. Nothing is repaired; `on_damage` is told what did not hold.

        Raises:
            RejectedError: The recording is not whole, the range lies outside it, or (while
                iterating) no copy of a blob holds.
            UnavailableError: As before, but a copy did not answer.
        """
        manifest = self._require(recording_id)
        stop = manifest.size if stop is None else stop
        if not 0 <= start <= stop <= manifest.size:
            raise RejectedError(f"range {start}..{stop} of a recording of {manifest.size} bytes")
        return read_range(self._shelves, manifest, start, stop, self._on_damage)

    def verify(self, recording_id: bytes) -> VerifyReport:
        """Read every byte of every copy and report what does not hold.

        Raises:
            RejectedError: The recording is not whole, or its manifest is damaged.
            UnavailableError: The medium failed as a whole.
        """
        return verify_copies(self._shelves, self._require(recording_id))

    def delete(self, recording_id: bytes) -> None:
        """Remove a recording, whole or partial, and all its copies; an unknown one is fine.

        Raises:
            UnavailableError: It is being written, or the medium failed; deleting again goes on.
        """
        check_recording(recording_id)
        with self._taking(recording_id):
            self._shelves.catalogue.start_leaving(recording_id)
            self._finish_leaving(recording_id)

    def close(self) -> None:
        """Wait for the blob writes under way; close the writers before."""
        self._pool.shutdown()

    def _resumable(self, recording_id: bytes, size: int) -> Progress:
        catalogue = self._shelves.catalogue
        if catalogue.is_whole(recording_id):
            raise RejectedError(f"recording {recording_id.hex()} is whole and written once")
        progress = catalogue.progress(recording_id)
        if progress is None:
            self._shelves.volume.require_room(size)
            progress = Progress(recording_id, size, 0)
            catalogue.record(progress)
        if progress.size != size:
            raise RejectedError(
                f"recording {recording_id.hex()} was begun with {progress.size} bytes, got {size}"
            )
        return progress

    def _truthful(self, progress: Progress) -> Progress:
        """Never promise more than the volume has: it may have lost what the record names."""
        length = self._shelves.volume.length(progress.recording_id)
        if length >= progress.offset:
            return progress
        return Progress(progress.recording_id, progress.size, length)

    def _require(self, recording_id: bytes) -> StoredRecording:
        manifest = self.manifest(recording_id)
        if manifest is None:
            progress = self.progress(recording_id)
            state = f"partial, {progress.offset} of {progress.size} bytes" if progress else "absent"
            raise RejectedError(f"recording {recording_id.hex()} is not whole but {state}")
        return manifest

    def _finish_leaving(self, recording_id: bytes) -> None:
        self._shelves.discard(recording_id)
        self._shelves.catalogue.drop_progress(recording_id)
        self._shelves.catalogue.end_leaving(recording_id)

    def _take(self, recording_id: bytes) -> None:
        with self._lock:
            if recording_id in self._taken:
                raise UnavailableError(f"recording {recording_id.hex()} is being written")
            self._taken.add(recording_id)

    @contextmanager
    def _taking(self, recording_id: bytes) -> Iterator[None]:
        self._take(recording_id)
        try:
            yield
        finally:
            self._taken.discard(recording_id)
