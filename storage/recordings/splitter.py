"""Cuts the stream of a recording into blobs and stores them in groups, in a thread pool."""

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Final, NamedTuple

from contracts.chunktree import BLOB_BYTES, leaf_hash
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob
from storage.recordings.places import Places
from storage.stages import Stage, timed

# Measured on ext4 over virtio, 1 GiB twice: groups of 8 took 2.3 s, of 4 2.9 s, of 1 3.8 s; 16 gain
# little more and double the memory.
GROUP_BLOBS: Final = 8
GROUPS_IN_FLIGHT: Final = 2
_LENT_BLOBS: Final = range(1, GROUP_BLOBS + 1)

_log: Final = logging.getLogger(__name__)


class _Cut(NamedTuple):
    """A blob that was cut from the stream, and its leaf hash if that is known."""

    number: int
    data: bytes | memoryview
    leaf: bytes | None = None


class BlobSplitter:
    """Hashes the leaves of a stream and stores its blobs.

    If the blob store is `needed`, its failures are raised. Otherwise the first one is kept in
    `failure`, no more blobs are stored, and hashing goes on, because there is another copy.

    Args:
        places: The blobs go to their blob store.
        recording_id: 32 bytes.
        pool: Runs the hashing and waits for the store.
        needed: Whether the blobs are the only copy.

    Attributes:
        failure: Why some blobs are not stored; None as long as all are.

    Raises:
        UnavailableError: The blob store is needed and did not answer.
    """

    def __init__(
        self, places: Places, recording_id: bytes, pool: Executor, *, needed: bool
    ) -> None:
        self._places = places
        self._blobs = places.blobs
        self._stages = places.stages
        self._recording_id = recording_id
        self._pool = pool
        self._needed = needed
        self._tail = bytearray()
        self._group: list[_Cut] = []
        self._done: list[Callable[[], None]] = []
        self._count = 0
        self._jobs: deque[Future[list[bytes]]] = deque()
        self._leaves: list[bytes] = []
        self._known: dict[int, bytes] = {}
        self.failure: WaysealError | None = None
        try:
            self._known = dict(self._blobs.leaves(recording_id))
        except WaysealError as error:
            self._fail(error)

    def feed(
        self,
        data: bytes | bytearray | memoryview,
        leaves: Sequence[bytes] = (),
        done: Callable[[], None] | None = None,
    ) -> None:
        """Take the next bytes; wait while too many groups are in flight.

        A whole blob in one `bytes` object is not copied; nor are whole blobs in a buffer of at most
        GROUP_BLOBS that is lent until `done` is called. Other input is copied.

        Args:
            data: The bytes.
            leaves: The leaf hashes of the blobs of full size that they begin with, if known.
            done: Called, in any thread, once the buffer is needed no more.

        Raises:
            UnavailableError: The blob store is needed and failed, now or on an earlier group.
        """
        known = iter(leaves)
        if isinstance(data, bytes) and len(data) == BLOB_BYTES and not self._tail:
            self._add(data, next(known, None))
        elif done is not None and not self._tail and len(data) // BLOB_BYTES in _LENT_BLOBS:
            self._lend(memoryview(data), known, done)
            return
        else:
            self._copy(memoryview(data), known)
        if done is not None:
            done()

    def settle(self) -> None:
        """Store all bytes so far, an incomplete blob included, and wait until they are durable.

        Raises:
            UnavailableError: The blob store is needed and failed.
        """
        self._submit()
        if self._tail:
            self._store([_Cut(self._count, bytes(self._tail))])
        self._collect(0)

    def finish(self) -> tuple[bytes, ...]:
        """Store the rest, wait until all blobs are durable, and return all leaf hashes.

        Raises:
            UnavailableError: The blob store is needed and failed.
        """
        if self._tail:
            self._add(bytes(self._tail))
            self._tail.clear()
        self._submit()
        self._collect(0)
        return tuple(self._leaves)

    def abandon(self) -> None:
        """Wait until nothing is in flight; ignore failures."""
        while self._jobs:
            self._jobs.popleft().exception()

    def _lend(self, view: memoryview, known: Iterator[bytes], done: Callable[[], None]) -> None:
        """Take whole blobs without a copy; they share a group, after which the buffer is free."""
        whole = len(view) // BLOB_BYTES
        if len(self._group) + whole > GROUP_BLOBS:
            self._submit()
        self._tail += view[whole * BLOB_BYTES :]
        self._done.append(done)
        for start in range(0, whole * BLOB_BYTES, BLOB_BYTES):
            self._add(view[start : start + BLOB_BYTES], next(known, None))

    def _copy(self, view: memoryview, known: Iterator[bytes]) -> None:
        while view:
            taken = view[: BLOB_BYTES - len(self._tail)]
            view = view[len(taken) :]
            if len(taken) == BLOB_BYTES:
                self._add(bytes(taken), next(known, None))
                continue
            self._tail += taken
            if len(self._tail) == BLOB_BYTES:
                self._add(bytes(self._tail))
                self._tail.clear()

    def _add(self, data: bytes | memoryview, leaf: bytes | None = None) -> None:
        self._group.append(_Cut(self._count, data, leaf))
        self._count += 1
        if len(self._group) == GROUP_BLOBS:
            self._submit()

    def _submit(self) -> None:
        self._collect(GROUPS_IN_FLIGHT - 1)
        if self._group:
            self._jobs.append(self._pool.submit(self._store, self._group, self._done))
            self._group, self._done = [], []

    def _collect(self, left: int) -> None:
        """Take the leaves of the oldest groups, until at most `left` groups are in flight."""
        while len(self._jobs) > left:
            self._leaves += self._jobs.popleft().result()

    def _store(
        self,
        group: Sequence[_Cut],
        lent: Sequence[Callable[[], None]] = (),
    ) -> list[bytes]:
        size = sum(len(each.data) for each in group if each.leaf is None)
        with timed(self._stages, Stage.HASH, size):
            blobs = [
                Blob(each.number, each.data, each.leaf or leaf_hash(each.data)) for each in group
            ]
        if self.failure is None:
            missing = [blob for blob in blobs if not self._is_there(blob)]
            try:
                if missing:
                    self._put(missing)
            except WaysealError as error:
                self._fail(error)
        leaves = [blob.leaf_hash for blob in blobs]
        for done in lent:
            done()
        return leaves

    def _is_there(self, blob: Blob) -> bool:
        """Return whether the store has the blob with these bytes; its listed hash proves nothing.

        Storing it again would be as safe, but a read takes one replica, while a put takes all of
        them and their disks: an upload that is resumed late may have gigabytes there.
        """
        if self._known.get(blob.index) == blob.leaf_hash:
            with suppress(WaysealError):  # a blob that cannot be read is stored again
                return self._blobs.get(self._recording_id, blob.index, fresh=True) == blob
        return False

    def _put(self, blobs: list[Blob]) -> None:
        """Store blobs, unless a site has sealed the recording with other ones.

        Only the digest at the end of the upload shows which bytes are right; wrong blobs in the
        store are then repaired. Until then no upload may overwrite blobs that may be right.
        """
        self._check_not_sealed(blobs)
        with timed(self._stages, Stage.BLOBS, sum(len(blob.data) for blob in blobs)):
            self._blobs.put_many(self._recording_id, blobs)
        self._known.update((blob.index, blob.leaf_hash) for blob in blobs)

    def _check_not_sealed(self, blobs: list[Blob]) -> None:
        """Check that the blobs are the sealed ones, if the recording is sealed.

        The seal may have lost its blobs, or come from an earlier upload of ours that failed at its
        end; then the same bytes complete the upload.
        """
        try:
            sealed = self._places.shared(self._recording_id)
        except RejectedError as damaged:
            raise UnavailableError(f"it is not overwritten: {damaged}") from damaged
        if sealed is None:
            return
        for blob in blobs:
            if sealed.leaves[blob.index : blob.index + 1] != (blob.leaf_hash,):
                raise UnavailableError(
                    f"recording {self._recording_id.hex()} is whole in {self._blobs.name}, "
                    f"with another blob {blob.index}: it is not overwritten"
                )

    def _fail(self, error: WaysealError) -> None:
        if self._needed:
            raise error
        if self.failure is None:
            _log.warning(
                "recording %s goes to its volume alone: %s",
                self._recording_id.hex(),
                error,
                extra={"recording_id": self._recording_id.hex()},
            )
        self.failure = error
