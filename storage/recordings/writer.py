"""Writes one recording once: hash, blobs and the whole file in one pass over its bytes.

The whole-file hash stays in the caller's thread, in order, while a thread of the
volume writes the same piece. Blobs are handed to a pool in small groups, which
hash their leaves and wait for their fsyncs there. What is in memory is bounded by
`GROUPS_IN_FLIGHT + 1` groups, 24 MiB for each upload, and 2 MiB of the part,
whatever the recording's size and whichever of its copies can be made.

A blob store that fails leaves the upload to the volume; the blobs follow later. A
volume that fails ends the request: only the progress record says what is durable
without it, and `begin` goes on from there. What that or a kill costs is what came
since the last `sync`.
"""

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, Self

from contracts.chunktree import root_hash
from contracts.copies import FSYNC, Copy, Place
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.recordings.manifest import Progress, StoredRecording
from storage.recordings.opening import Opening
from storage.recordings.shelves import Shelves
from storage.recordings.splitter import BlobSplitter
from storage.stages import Stage, timed
from storage.volumes.guarded import VolumePart

_log: Final = logging.getLogger(__name__)


class DigestError(RejectedError):
    """The bytes are not those that the recording id stands for; nothing of them is kept.

    Attributes:
        expected: SHA-256 that was declared, 32 bytes.
        actual: SHA-256 of the bytes that came, 32 bytes.
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

    After an error only `close` makes sense: `begin` it again at what is durable.

    Args:
        shelves: Where it goes.
        opening: Where it stands; the writer closes its part.
        pool: For blobs.
        on_close: Called once when the writer lets go of the recording, with its manifest if it
            has become whole.
    """

    def __init__(
        self,
        shelves: Shelves,
        opening: Opening,
        pool: Executor,
        on_close: Callable[[StoredRecording | None], None],
    ) -> None:
        self._shelves = shelves
        self._id = opening.recording_id
        self._size = opening.size
        self._part = opening.part
        self._pool = pool
        self._on_close = on_close
        self._sha256 = hashlib.sha256()
        self._offset = 0
        self._durable = -1
        self._stored: StoredRecording | None = None
        self._failed = self._closed = False
        self._splitter: BlobSplitter | None = None
        try:
            self._open(opening)
        except BaseException:
            self._let_go()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def offset(self) -> int:
        """Bytes taken so far; `sync` makes them durable."""
        return self._offset

    @property
    def size(self) -> int:
        """Bytes that the recording will have."""
        return self._size

    @property
    def rests(self) -> bool:
        """Say whether it can wait for more: nothing failed, nothing is unsynced, not whole yet."""
        usable = not (self._failed or self._closed) and self._stored is None
        return usable and self._durable == self.offset

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Take the next bytes; whole blobs, each in one `bytes`, are cheapest.

        The buffer must stay as it is after an error: a volume that stalls may still read it.

        Raises:
            RejectedError: They reach beyond the recording's size; nothing of them is taken.
            UnavailableError: A copy without which there is none cannot be written.
        """
        self._check_usable()
        if self.offset + len(data) > self._size:
            raise RejectedError(
                f"recording {self._id.hex()} has {self._size} bytes, "
                f"got {len(data)} more at {self.offset}"
            )
        with self._failing():
            self._take(data, to_part=True)

    def sync(self) -> int:
        """Make everything taken so far durable and record it; return that offset.

        Raises:
            UnavailableError: The medium failed or is full; what an earlier sync returned stands.
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
            DigestError: They are not the bytes that the recording id stands for: nothing is
                kept and the upload starts over at 0.
            RejectedError: Bytes are missing; the upload goes on.
            UnavailableError: No copy could be made durable; what was synced stands.
        """
        self._check_usable()
        if self._stored is not None:
            return self._stored
        if self.offset != self._size:
            raise RejectedError(
                f"recording {self._id.hex()} has {self._size} bytes, {self.offset} have come"
            )
        with self._failing():
            leaves = self._opened.finish()
            self.sync()
            if self._sha256.digest() != self._id:
                self._start_over()
            stored = StoredRecording(self._id, self._size, root_hash(leaves), leaves, ())
            stored = replace(stored, copies=self._copies(stored))
            self._shelves.catalogue.complete(stored)
            self._stored = stored
        return self._stored

    def close(self) -> None:
        """Let go of the recording; what was not synced is forgotten. Twice is harmless."""
        if not self._closed:
            self._let_go()
            self._on_close(self._stored)

    @property
    def _opened(self) -> BlobSplitter:
        if self._splitter is None:
            raise UnavailableError(f"writer of recording {self._id.hex()} is not open")
        return self._splitter

    def _open(self, opening: Opening) -> None:
        needed = self._part is None
        self._splitter = BlobSplitter(self._shelves, self._id, self._pool, needed=needed)
        for piece in opening.kept:
            self._take(piece, to_part=opening.copies_kept)
        self._make_durable()

    def _take(self, data: bytes | bytearray | memoryview, *, to_part: bool) -> None:
        part = self._part if to_part else None
        writing = self._begin_append(part, data) if part else None
        try:
            with timed(self._shelves.stages, Stage.HASH, len(data)):
                self._sha256.update(data)
            self._opened.feed(data)
        finally:
            if part and writing:
                part.wait(writing)
        self._offset += len(data)

    def _begin_append(self, part: VolumePart, data: bytes | bytearray | memoryview) -> Future[None]:
        start_s, size = time.perf_counter(), len(data)

        def tell(_: Future[None]) -> None:
            self._shelves.stages.took(Stage.VOLUME, time.perf_counter() - start_s, size)

        writing = part.begin_append(data)
        writing.add_done_callback(tell)
        return writing

    def _make_durable(self) -> None:
        volume = ""
        if self._part is not None:
            with timed(self._shelves.stages, Stage.VOLUME):
                self._part.sync()
            volume = self._part.volume.name
        else:
            self._opened.settle()
        record = Progress(self._id, self._size, self.offset, volume)
        if self._shelves.catalogue.progress(self._id) != record:
            self._shelves.catalogue.record(record)
        self._durable = self.offset

    def _copies(self, stored: StoredRecording) -> tuple[Copy, ...]:
        """Make what came whole, and return the copies that are."""
        copies = []
        if self._part is not None:
            with timed(self._shelves.stages, Stage.VOLUME):
                self._part.publish()
            copies.append(Copy(Place.VOLUME, self._part.volume.name, FSYNC))
        if self._opened.failure is None:
            try:
                with timed(self._shelves.stages, Stage.BLOBS):
                    copies.append(self._shelves.seal_blobs(stored))
            except WaysealError as error:
                if self._part is None:
                    raise
                _log.warning("recording %s is on its volume alone: %s", self._id.hex(), error)
        return tuple(copies)

    def _let_go(self) -> None:
        self._closed = True
        if self._splitter is not None:
            self._splitter.abandon()
        if self._part is not None:
            self._part.close()

    def _start_over(self) -> None:
        # The copies go first: on a full disk that makes the room which the record needs.
        try:
            self._shelves.remove_unfinished(self._id)
        except UnavailableError as error:
            _log.warning("recording %s starts over: %s", self._id.hex(), error)
        self._shelves.catalogue.record(Progress(self._id, self._size, 0))
        raise DigestError(self._size, self._id, self._sha256.digest())

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
