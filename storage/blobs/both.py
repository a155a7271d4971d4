"""Two blob stores as one: each blob rests in both.

For a site that wants its recordings' blobs on disks of its own beside the cluster
of all sites. What is put is there once it is in both.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import chain
from typing import Final

from contracts.errors import RejectedError, WaysealError
from storage.blobs.port import Blob, BlobStore, Replica

POOL_THREADS: Final = 4
"""Puts into the far store at once: as many as a recording store has threads."""


class MirroredBlobs:
    """Keeps each blob in two stores.

    Args:
        near: Is read first.
        far: Is read when the near one misses, fails or does not hold.
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
        """See `BlobStore.durability`: that of one and of the other."""
        return f"{self._near.durability}+{self._far.durability}"

    def check(self) -> None:
        """See `BlobStore.check`: both must work."""
        self._near.check()
        self._far.check()

    def put(self, recording_id: bytes, blob: Blob) -> None:
        """See `BlobStore.put`."""
        self.put_many(recording_id, [blob])

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """See `BlobStore.put_many`: into both at the same time."""
        self._both(lambda store: store.put_many(recording_id, blobs))

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        """See `BlobStore.get`.

        What does not hold against the hash that it carries comes back only if the other one
        has nothing better; but who asks for it `fresh` gets what is in both, or nothing.
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
            if near is None:  # it may be in the far one: nothing can be said
                raise
            return near
        if far is None and failed is not None:
            raise failed
        return far or near

    def replicas(self, recording_id: bytes, index: int) -> Iterator[Replica]:
        """See `BlobStore.replicas`: those of both."""
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
        """See `BlobStore.delete_manifest`: each is tried, whatever becomes of the other."""
        self._both(lambda store: store.delete_manifest(recording_id))

    def manifest(self, recording_id: bytes) -> bytes | None:
        """See `BlobStore.manifest`: that of either.

        What is whole in one of them must not be taken for a leftover: another site may have put
        it into the far one. Which blobs are in both tells `leaves`.
        """
        near = self._near.manifest(recording_id)
        return near if near is not None else self._far.manifest(recording_id)

    def recordings(self) -> Iterator[bytes]:
        """See `BlobStore.recordings`: of which there may be blobs in one of them."""
        yield from dict.fromkeys(chain(self._near.recordings(), self._far.recordings()))

    def delete(self, recording_id: bytes) -> None:
        """See `BlobStore.delete`: each is tried, whatever becomes of the other."""
        self._both(lambda store: store.delete(recording_id))

    def close(self) -> None:
        """See `BlobStore.close`."""
        self._pool.shutdown()
        self._near.close()
        self._far.close()

    def _in_both(self, recording_id: bytes, index: int) -> Blob | None:
        """Return the blob that either has; None when one of them has none.

        Raises:
            RejectedError: They have two, so one of them is wrong, or what one has is no blob.
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
        """Do it in both at once; return, or raise the first error, once both are done."""
        far = self._pool.submit(work, self._far)
        try:
            work(self._near)
        finally:
            wait([far])
        far.result()
