"""A blob store that fails when it is told to."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from contracts.errors import UnavailableError
from storage.blobs.port import Blob, BlobStore, OpenDeletions, Replica, Returned


class FaultyBlobs:
    """Passes everything on to another store while it works.

    Attributes:
        down: Whether nothing works.
        puts_left: Calls of `put_many` that still work; None for any number.
        forgotten: Blobs that were put and do not show.
    """

    def __init__(self, inner: BlobStore) -> None:
        self._inner = inner
        self.down = False
        self.puts_left: int | None = None
        self.forgotten: set[int] = set()

    @property
    def name(self) -> str:
        """See `BlobStore.name`."""
        return self._inner.name

    @property
    def durability(self) -> str:
        """See `BlobStore.durability`."""
        return self._inner.durability

    def check(self) -> None:
        """See `BlobStore.check`."""
        self._works().check()

    def put(self, recording_id: bytes, blob: Blob) -> None:
        """See `BlobStore.put`."""
        self.put_many(recording_id, [blob])

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """See `BlobStore.put_many`."""
        if self.puts_left is not None:
            if not self.puts_left:
                raise UnavailableError("the blob store takes no more")
            self.puts_left -= 1
        self._works().put_many(recording_id, blobs)

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        """See `BlobStore.get`."""
        return self._works().get(recording_id, index, fresh=fresh)

    def replicas(self, recording_id: bytes, index: int) -> Iterator[Replica]:
        """See `BlobStore.replicas`."""
        return self._works().replicas(recording_id, index)

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        """See `BlobStore.leaves`."""
        there = self._works().leaves(recording_id)
        return {at: leaf for at, leaf in there.items() if at not in self.forgotten}

    def put_manifest(self, recording_id: bytes, manifest: bytes) -> None:
        """See `BlobStore.put_manifest`."""
        self._works().put_manifest(recording_id, manifest)

    def delete_manifest(self, recording_id: bytes) -> None:
        """See `BlobStore.delete_manifest`."""
        self._works().delete_manifest(recording_id)

    def manifest(self, recording_id: bytes) -> bytes | None:
        """See `BlobStore.manifest`."""
        return self._works().manifest(recording_id)

    def recordings(self) -> Iterator[bytes]:
        """See `BlobStore.recordings`."""
        return self._works().recordings()

    def delete(self, recording_id: bytes) -> None:
        """See `BlobStore.delete`."""
        self._works().delete(recording_id)

    def repeat_deletions(self, stop: Callable[[], bool]) -> OpenDeletions:
        """See `BlobStore.repeat_deletions`."""
        return self._works().repeat_deletions(stop)

    def returned(self, stop: Callable[[], bool]) -> Iterator[Returned]:
        """See `BlobStore.returned`."""
        return self._works().returned(stop)

    def close(self) -> None:
        """See `BlobStore.close`."""
        self._inner.close()

    def _works(self) -> BlobStore:
        if self.down:
            raise UnavailableError("the blob store is down")
        return self._inner
