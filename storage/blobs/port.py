"""Port: where the blobs of recordings rest.

Every store passes the suite in tests/unit/test_storage_blobs.py.

Order: none between blobs; they may be put in any order, from several threads,
and those of one recording need not be put by one call. Two threads never put
the same recording (its one writer sees to that).
Durability: when a put returns, its blobs survive a power cut.
Idempotence: a put replaces what was there, so writing twice is harmless.
Atomicity: per blob; a reader sees the old blob, the new one or none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from contracts.chunktree import BLOB_BYTES, HASH_BYTES, leaf_hash
from contracts.errors import RejectedError


@dataclass(frozen=True, slots=True)
class Blob:
    """One blob and the leaf hash that it carries.

    What comes back from a store may have rotten: `holds` tells.

    Attributes:
        index: Place in the recording, from 0.
        data: 1..BLOB_BYTES bytes.
        leaf_hash: 32 bytes, RFC 6962.
    """

    index: int
    data: bytes
    leaf_hash: bytes

    def __post_init__(self) -> None:
        """Check the ranges, so that no store needs to."""
        if self.index < 0:
            raise RejectedError(f"blob index must be at least 0, got {self.index}")
        if not 1 <= len(self.data) <= BLOB_BYTES:
            raise RejectedError(f"blob must have 1..{BLOB_BYTES} bytes, got {len(self.data)}")
        if len(self.leaf_hash) != HASH_BYTES:
            raise RejectedError(
                f"leaf hash must have {HASH_BYTES} bytes, got {len(self.leaf_hash)}"
            )

    def holds(self, expected: bytes) -> bool:
        """Say whether data and carried hash both agree with the `expected` leaf hash."""
        return self.leaf_hash == expected and leaf_hash(self.data) == expected


class BlobStore(Protocol):
    """Keeps blobs by recording id (32 bytes) and index.

    All methods may raise UnavailableError: the medium or peer failed or is full. A put that
    raises may have stored some of its blobs, each of them whole.
    """

    @property
    def name(self) -> str:
        """Name of this copy in manifests, receipts and reports."""
        ...

    def put(self, recording_id: bytes, blob: Blob) -> None:
        """Store one blob; return once it is durable."""
        ...

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """Store several blobs of one recording; return once all are durable.

        Cheaper than as many puts: the waiting is shared.
        """
        ...

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        """Return the blob as it is stored, or None when there is none; the caller verifies it.

        Args:
            recording_id: 32 bytes.
            index: Place in the recording.
            fresh: Read the medium, not a cache, where the store can.

        Raises:
            RejectedError: What is stored there has not even the form of a blob.
        """
        ...

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        """Return the carried leaf hash of every blob that is there, by index; data is not read."""
        ...

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every recording of which there may be blobs, in no order."""
        ...

    def delete(self, recording_id: bytes) -> None:
        """Remove every blob of the recording durably; none being there is fine."""
        ...
