"""Cuts the stream of a recording into blobs and puts them, a group at a time, through a pool."""

import logging
from collections import deque
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Final

from contracts.chunktree import BLOB_BYTES, leaf_hash
from contracts.errors import RejectedError, UnavailableError, WaysealError
from storage.blobs.port import Blob
from storage.recordings.shelves import Shelves
from storage.stages import Stage, timed

# Measured on ext4 over virtio, 1 GiB twice: groups of 8 took 2.3 s, of 4 2.9 s, of 1 3.8 s; 16 gain
# little more and double the memory.
GROUP_BLOBS: Final = 8
GROUPS_IN_FLIGHT: Final = 2

_log: Final = logging.getLogger(__name__)


class BlobSplitter:
    """Hashes the leaves of a stream and puts its blobs.

    With `needed` the blob store's failures are the caller's. Otherwise the first of them is kept
    in `failure` and no more is put, while leaves are hashed on: there is another copy.

    Args:
        shelves: Their blob store is where they go.
        recording_id: 32 bytes.
        pool: Does the hashing and waiting.
        needed: Whether there is no other copy.

    Attributes:
        failure: Why the blobs are not all there; None while they are.

    Raises:
        UnavailableError: The blob store, which is needed, did not answer.
    """

    def __init__(
        self, shelves: Shelves, recording_id: bytes, pool: Executor, *, needed: bool
    ) -> None:
        self._shelves = shelves
        self._blobs = shelves.blobs
        self._stages = shelves.stages
        self._recording_id = recording_id
        self._pool = pool
        self._needed = needed
        self._tail = bytearray()
        self._group: list[tuple[int, bytes]] = []
        self._count = 0
        self._jobs: deque[Future[list[bytes]]] = deque()
        self._leaves: list[bytes] = []
        self._known: dict[int, bytes] = {}
        self.failure: WaysealError | None = None
        try:
            self._known = dict(self._blobs.leaves(recording_id))
        except WaysealError as error:
            self._fail(error)

    def feed(self, data: bytes | bytearray | memoryview) -> None:
        """Take the next bytes; wait while too many groups are in flight.

        Whole blobs that come as `bytes` are kept as they are; all else is copied.

        Raises:
            UnavailableError: The blob store, which is needed, failed, now or on an earlier group.
        """
        if isinstance(data, bytes) and len(data) == BLOB_BYTES and not self._tail:
            self._add(data)
            return
        view = memoryview(data)
        while view:
            taken = view[: BLOB_BYTES - len(self._tail)]
            view = view[len(taken) :]
            if len(taken) == BLOB_BYTES:
                self._add(bytes(taken))
                continue
            self._tail += taken
            if len(self._tail) == BLOB_BYTES:
                self._add(bytes(self._tail))
                self._tail.clear()

    def settle(self) -> None:
        """Put all that came, the beginning of a blob too, and wait until it is durable.

        Raises:
            UnavailableError: The blob store, which is needed, failed.
        """
        self._submit()
        if self._tail:
            self._store([(self._count, bytes(self._tail))])
        self._drain()

    def finish(self) -> tuple[bytes, ...]:
        """Put what is left, wait until all blobs are durable, return all leaf hashes.

        Raises:
            UnavailableError: The blob store, which is needed, failed.
        """
        if self._tail:
            self._add(bytes(self._tail))
            self._tail.clear()
        self._submit()
        self._drain()
        return tuple(self._leaves)

    def abandon(self) -> None:
        """Wait until nothing is in flight any more, whatever its outcome."""
        while self._jobs:
            self._jobs.popleft().exception()

    def _add(self, data: bytes) -> None:
        self._group.append((self._count, data))
        self._count += 1
        if len(self._group) == GROUP_BLOBS:
            self._submit()

    def _submit(self) -> None:
        while len(self._jobs) >= GROUPS_IN_FLIGHT:
            self._leaves += self._jobs.popleft().result()
        if self._group:
            self._jobs.append(self._pool.submit(self._store, self._group))
            self._group = []

    def _drain(self) -> None:
        while self._jobs:
            self._leaves += self._jobs.popleft().result()

    def _store(self, group: list[tuple[int, bytes]]) -> list[bytes]:
        size = sum(len(data) for _, data in group)
        with timed(self._stages, Stage.HASH, size):
            blobs = [Blob(index, data, leaf_hash(data)) for index, data in group]
        if self.failure is None:
            missing = [blob for blob in blobs if not self._is_there(blob)]
            try:
                if missing:
                    self._put(missing)
            except WaysealError as error:
                self._fail(error)
        return [blob.leaf_hash for blob in blobs]

    def _is_there(self, blob: Blob) -> bool:
        """Say whether the blob was there before and reads as it came; its listed hash is a claim.

        Putting again would be as safe, but a read takes one replica, a put all of them and their
        disks: an upload that is resumed late has gigabytes there.
        """
        if self._known.get(blob.index) == blob.leaf_hash:
            with suppress(WaysealError):  # what cannot be read is put anew
                return self._blobs.get(self._recording_id, blob.index, fresh=True) == blob
        return False

    def _put(self, blobs: list[Blob]) -> None:
        """Put blobs, unless a site has sealed the recording with other ones.

        Whose bytes are the recording shows at the end, by its digest; then what is wrong there is
        put anew. Until then nobody, with whatever bytes, writes over what may be right.
        """
        self._check_not_sealed(blobs)
        with timed(self._stages, Stage.BLOBS, sum(len(blob.data) for blob in blobs)):
            self._blobs.put_many(self._recording_id, blobs)
        self._known.update((blob.index, blob.leaf_hash) for blob in blobs)

    def _check_not_sealed(self, blobs: list[Blob]) -> None:
        """Check that blobs are those of the seal, if there is one.

        It may have outlived its blobs, or be ours, from an end that failed: then the same bytes
        bring the upload to its end.
        """
        try:
            sealed = self._shelves.shared(self._recording_id)
        except RejectedError as damaged:
            raise UnavailableError(f"not written over: {damaged}") from damaged
        if sealed is None:
            return
        for blob in blobs:
            if sealed.leaves[blob.index : blob.index + 1] != (blob.leaf_hash,):
                raise UnavailableError(
                    f"recording {self._recording_id.hex()} is whole in {self._blobs.name}, "
                    f"with another blob {blob.index}: not written over"
                )

    def _fail(self, error: WaysealError) -> None:
        if self._needed:
            raise error
        if self.failure is None:
            _log.warning(
                "recording %s goes to its volume alone: %s", self._recording_id.hex(), error
            )
        self.failure = error
