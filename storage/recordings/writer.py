"""Writes one recording once: hash, blobs and the whole file in one pass over its bytes.

The caller's thread hashes the whole file in order, and the leaves with it where one pass can do
both, while a thread of the volume writes the same piece. Blobs go to a thread pool in small groups,
which hashes the other leaves and waits for the fsyncs. Memory is bounded for every size of
recording: `GROUPS_IN_FLIGHT + 1` groups, 24 MiB for each upload, and 2 MiB for the part; the sender
of an upload has two more pieces of 4 MiB.

If the blob store fails, the upload goes to the volume alone and the blobs follow later. If the
volume fails, the request ends, because only the progress record then says what is durable; `begin`
continues from there. A failure or a kill costs the bytes since the last `sync`.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Final, Self

from contracts.chunktree import BLOB_BYTES, root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.hashing.onepass import recording_hash
from storage.recordings.manifest import Progress, StoredRecording
from storage.recordings.places import Places
from storage.recordings.splitter import BlobSplitter
from storage.recordings.uploadstart import UploadStart
from storage.stages import Stage, timed
from storage.volumes.volumepart import VolumePart

_log: Final = logging.getLogger(__name__)


class DigestError(RejectedError):
    """The bytes do not have the SHA-256 of the recording id; none of them is kept.

    Attributes:
        expected: The declared SHA-256, 32 bytes.
        actual: SHA-256 of the received bytes, 32 bytes.
    """

    def __init__(self, size: int, expected: bytes, actual: bytes) -> None:
        super().__init__(
            f"the {size} bytes received have SHA-256 {actual.hex()}, "
            f"expected {expected.hex()}; nothing is kept"
        )
        self.expected = expected
        self.actual = actual


class RecordingWriter:
    """Takes the bytes of one recording in order; used from one thread at a time.

    After an error, close the writer and `begin` again where the recording is durable.

    Args:
        places: Where the recording is written.
        opening: Where the upload starts; the writer closes its part.
        pool: Hashes and stores blobs.
        on_close: Called once when the writer is closed, with the manifest if the recording is whole
            now.
        digest: SHA-256 that the bytes must have; by default the recording id.
    """

    def __init__(
        self,
        places: Places,
        opening: UploadStart,
        pool: Executor,
        on_close: Callable[[StoredRecording | None], None],
        digest: bytes | None = None,
    ) -> None:
        self._places = places
        self._id = opening.recording_id
        self._digest = digest or opening.recording_id
        self._size = opening.size
        self._part = opening.part
        self._on_close = on_close
        self._hash = recording_hash()
        self._offset = 0
        self._durable = -1
        self._stored: StoredRecording | None = None
        self._failed = self._closed = False
        with ExitStack() as opened:  # closes everything again if an error ends the block
            if self._part is not None:
                opened.callback(self._part.close)
            needed = self._part is None
            self._splitter = BlobSplitter(places, self._id, pool, needed=needed)
            opened.callback(self._splitter.abandon)
            for piece in opening.kept:
                self._take(piece, to_part=opening.copies_kept)
            self._make_durable()
            self._opened = opened.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def offset(self) -> int:
        """Bytes written so far; `sync` makes them durable."""
        return self._offset

    @property
    def size(self) -> int:
        """Bytes of the whole recording."""
        return self._size

    @property
    def rests(self) -> bool:
        """Return whether it may wait for more: nothing failed, all is synced, not whole yet."""
        usable = not (self._failed or self._closed) and self._stored is None
        return usable and self._durable == self.offset

    def write(
        self, data: bytes | bytearray | memoryview, done: Callable[[], None] | None = None
    ) -> None:
        """Write the next bytes; cheapest are whole blobs: `bytes` objects, or views with `done`.

        Never change a buffer after an error: a volume that stalls may still read it.

        Args:
            data: The bytes.
            done: Called once they are needed no more, in any thread; not after an error. Until then
                the buffer must not change. Without it, a buffer that can change is copied.

        Raises:
            RejectedError: The bytes exceed the recording's size; none of them is written.
            UnavailableError: The only possible copy cannot be written.
        """
        self._check_usable()
        if self.offset + len(data) > self._size:
            raise RejectedError(
                f"recording {self._id.hex()} has {self._size} bytes, "
                f"got {len(data)} more at {self.offset}"
            )
        with self._failing():
            self._take(data, to_part=True, done=done)

    def sync(self) -> int:
        """Make all bytes so far durable, record that, and return the offset.

        Raises:
            UnavailableError: The medium failed or is full; the offset of the last sync still holds.
        """
        self._check_usable()
        if self._stored is None and self._durable != self.offset:
            with self._failing():
                self._make_durable()
        return self.offset

    def finish(self) -> StoredRecording:
        """Check the digest and make the recording whole; finishing twice is harmless.

        The manifest is written last, and names the copies that are there.

        Raises:
            DigestError: The bytes have another SHA-256 than the recording id: nothing is kept and
                the upload starts over at 0.
            RejectedError: Bytes are missing; the upload can continue.
            UnavailableError: No copy could be made durable; the synced bytes are kept.
        """
        self._check_usable()
        if self._stored is not None:
            return self._stored
        self._require_all()
        with self._failing():
            leaves = self._checked_leaves()
            stored = StoredRecording(self._id, self._size, root_hash(leaves), leaves, ())
            stored = replace(stored, copies=self._copies(stored))
            self._places.catalogue.complete(stored)
            self._stored = stored
        return self._stored

    def check(self) -> None:
        """Check that all bytes are here and have the digest; nothing more may be written then.

        Raises:
            DigestError: As `finish`.
            RejectedError: Bytes are missing; the upload can continue.
            UnavailableError: The bytes could not be made durable; the synced ones are kept.
        """
        self._check_usable()
        self._require_all()
        with self._failing():
            self._checked_leaves()

    def close(self) -> None:
        """Close the writer; bytes that were not synced are lost. Closing twice is harmless."""
        if not self._closed:
            self._closed = True
            self._opened.close()
            self._on_close(self._stored)

    def _require_all(self) -> None:
        if self.offset != self._size:
            raise RejectedError(
                f"recording {self._id.hex()} has {self._size} bytes, {self.offset} were received"
            )

    def _checked_leaves(self) -> tuple[bytes, ...]:
        leaves = self._splitter.finish()
        self.sync()
        if self._hash.digest() != self._digest:
            self._start_over()
        return leaves

    def _take(
        self,
        data: bytes | bytearray | memoryview,
        *,
        to_part: bool,
        done: Callable[[], None] | None = None,
    ) -> None:
        part = self._part if to_part else None
        writing = self._begin_append(part, data) if part else None
        try:
            start_s = time.perf_counter()
            leaves = self._hashed(data)
            hashed = len(data) + len(leaves) * BLOB_BYTES
            self._places.stages.took(Stage.HASH, time.perf_counter() - start_s, hashed)
        finally:
            if part and writing:
                part.wait(writing)
        self._splitter.feed(data, leaves, done)  # now nothing but the blobs needs the buffer
        self._offset += len(data)

    def _hashed(self, data: bytes | bytearray | memoryview) -> Sequence[bytes]:
        """Hash the next bytes; return the leaf hashes of their first blobs, as far as known."""
        if self._offset % BLOB_BYTES == 0:
            return self._hash.update_blobs(data)
        self._hash.update(data)
        return ()

    def _begin_append(self, part: VolumePart, data: bytes | bytearray | memoryview) -> Future[None]:
        start_s, size = time.perf_counter(), len(data)

        def tell(_: Future[None]) -> None:
            self._places.stages.took(Stage.VOLUME, time.perf_counter() - start_s, size)

        writing = part.begin_append(data)
        writing.add_done_callback(tell)
        return writing

    def _make_durable(self) -> None:
        volume = ""
        if self._part is not None:
            with timed(self._places.stages, Stage.VOLUME):
                self._part.sync()
            volume = self._part.volume.name
        else:
            self._splitter.settle()
        record = Progress(self._id, self._size, self.offset, volume)
        if self._places.catalogue.progress(self._id) != record:
            self._places.catalogue.record(record)
        self._durable = self.offset

    def _copies(self, stored: StoredRecording) -> tuple[Copy, ...]:
        """Publish the part and seal the blobs; return the complete copies."""
        copies = []
        if self._part is not None:
            with timed(self._places.stages, Stage.VOLUME):
                self._part.publish()
            copies.append(Copy(Place.VOLUME, self._part.volume.name, FSYNC))
        if self._splitter.failure is None:
            try:
                with timed(self._places.stages, Stage.BLOBS):
                    copies.append(self._places.seal_blobs(stored))
            except WaysealError as error:
                if self._part is None:
                    raise
                _log.warning(
                    "recording %s is on its volume alone: %s",
                    self._id.hex(),
                    error,
                    extra={"recording_id": self._id.hex()},
                )
        return tuple(copies)

    def _start_over(self) -> None:
        # Delete the copies first: on a full disk this makes room for the record.
        try:
            self._places.remove_unfinished(self._id)
        except UnavailableError as error:
            _log.warning(
                "recording %s starts over: %s",
                self._id.hex(),
                error,
                extra={"recording_id": self._id.hex()},
            )
        self._places.catalogue.record(Progress(self._id, self._size, 0))
        raise DigestError(self._size, self._digest, self._hash.digest())

    def _check_usable(self) -> None:
        if self._failed or self._closed:
            state = "closed" if self._closed else "broken by an earlier error"
            raise UnavailableError(f"writer of recording {self._id.hex()} is {state}: begin again")

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self._failed = True
            raise
