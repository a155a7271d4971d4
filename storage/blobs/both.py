"""Two blob stores as one: each blob is kept in both.

For a site that wants the blobs of its recordings on its own disks as well as in the cluster of all
sites. A blob counts as stored once both stores have it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import chain
from typing import Final

from contracts.errors import RejectedError, WaysealError
from storage.blobs.port import Blob, BlobStore, OpenDeletions, Replica, Returned

POOL_THREADS: Final = 4
"""Parallel puts into the far store: as many as a recording store has threads."""


class MirroredBlobs:
    """Keeps each blob in two stores.

    Args:
        near: Is read first.
        far: Is read if the blob in the near store is missing, unreadable or damaged.
    """

    def __init__(self, near: BlobStore, far: BlobStore) -> None:
        self._near = near
        self._far = far
        self._pool = ThreadPoolExecutor(POOL_THREADS, "mirror")

    @property
    def name(self) -> str:
        """See `BlobStore.name`."""
        return "both"

    @property
    def durability(self) -> str:
        """See `BlobStore.durability`: both, joined by `+`."""
        return f"{self._near.durability}+{self._far.durability}"

    def check(self) -> None:
        """See `BlobStore.check`: both must work."""
        self._near.check()
        self._far.check()

    def put(self, recording_id: bytes, blob: Blob) -> None:
        """See `BlobStore.put`: into both at the same time."""
        self._both(lambda store: store.put(recording_id, blob))

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """See `BlobStore.put_many`: into both at the same time."""
        self._both(lambda store: store.put_many(recording_id, blobs))

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        """See `BlobStore.get`.

        A blob that does not match the hash it carries is returned only if the other store has
        nothing better. With `fresh`, the blob must be the same in both.
        """
        if fresh:
            return self._in_both(recording_id, index)
        failed: WaysealError | None = None
        near: Blob | None = None
        try:
            near = self._near.get(recording_id, index)
        except WaysealError as error:
            failed = error
        if near is not None and near.holds(near.leaf_hash):
            return near
        try:
            far = self._far.get(recording_id, index)
        except WaysealError:
            if near is None:  # the far store may have it
                raise
            return near
        if far is None and failed is not None:
            raise failed
        return far or near

    def replicas(self, recording_id: bytes, index: int) -> Iterator[Replica]:
        """See `BlobStore.replicas`: the replicas of both stores."""
        for store in (self._near, self._far):
            try:
                yield from store.replicas(recording_id, index)
            except WaysealError as error:
                yield Replica(store.name, None, error)

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        """See `BlobStore.leaves`: of the blobs that are in both."""
        far = self._far.leaves(recording_id)
        near = self._near.leaves(recording_id)
        return {index: leaf for index, leaf in near.items() if far.get(index) == leaf}

    def put_manifest(self, recording_id: bytes, manifest: bytes) -> None:
        """See `BlobStore.put_manifest`."""
        self._both(lambda store: store.put_manifest(recording_id, manifest))

    def delete_manifest(self, recording_id: bytes) -> None:
        """See `BlobStore.delete_manifest`: both stores are tried, even if one fails."""
        self._both(lambda store: store.delete_manifest(recording_id))

    def manifest(self, recording_id: bytes) -> bytes | None:
        """See `BlobStore.manifest`: from either store.

        A recording that is whole in one store must not be taken for a leftover: another site may
        have put it into the far one. `leaves` tells which blobs are in both.
        """
        near = self._near.manifest(recording_id)
        return near if near is not None else self._far.manifest(recording_id)

    def recordings(self) -> Iterator[bytes]:
        """See `BlobStore.recordings`: recordings that may have blobs in either store."""
        yield from dict.fromkeys(chain(self._near.recordings(), self._far.recordings()))

    def delete(self, recording_id: bytes) -> None:
        """See `BlobStore.delete`: both stores are tried, even if one fails."""
        self._both(lambda store: store.delete(recording_id))

    def repeat_deletions(self, stop: Callable[[], bool]) -> OpenDeletions:
        """See `BlobStore.repeat_deletions`: of the store that has more of them."""
        both = [store.repeat_deletions(stop) for store in (self._near, self._far)]
        return max(both, key=lambda each: each.count)

    def returned(self, stop: Callable[[], bool]) -> Iterator[Returned]:
        """See `BlobStore.returned`: of both stores."""
        for store in (self._near, self._far):
            yield from store.returned(stop)

    def close(self) -> None:
        """See `BlobStore.close`."""
        self._pool.shutdown()
        self._near.close()
        self._far.close()

    def _in_both(self, recording_id: bytes, index: int) -> Blob | None:
        """Return the blob that both stores have; None if one of them has none.

        Raises:
            RejectedError: The stores have different blobs, or one of them has invalid bytes.
        """
        near = self._near.get(recording_id, index, fresh=True)
        far = self._far.get(recording_id, index, fresh=True)
        if near is None or far is None:
            return None
        if near != far:
            raise RejectedError(
                f"blob {index} is not the same in {self._near.name} and {self._far.name}"
            )
        return near

    def _both(self, work: Callable[[BlobStore], None]) -> None:
        """Run the work on both stores at once; return or raise once both are done."""
        far = self._pool.submit(work, self._far)
        try:
            work(self._near)
        finally:
            wait([far])
        far.result()
