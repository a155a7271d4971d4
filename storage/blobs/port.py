"""Port: where the blobs of recordings rest.

Every store passes the suite in tests/support/blobsuite.py.

Order: none between blobs; they may be put in any order, from several threads,
and those of one recording need not be put by one call. Two threads never put
the same recording (its one writer sees to that).
Durability: when a put returns, its blobs survive a power cut.
Idempotence: a put replaces what was there, so writing twice is harmless.
Atomicity: per blob; a reader sees the old blob, the new one or none.
Wholeness: a recording is whole in a store once its manifest is there, which is
put after all its blobs; blobs without one are a partial recording, and `delete`
takes the manifest first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from contracts.chunktree import BLOB_BYTES, HASH_BYTES, leaf_hash
from contracts.errors import RejectedError, WaysealError

MANIFEST_BYTES_MAX: Final = 4 << 20
"""More than the leaf hashes of RECORDING_BYTES_MAX and the rest."""


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


@dataclass(frozen=True, slots=True)
class Replica:
    """What one replica of a store has in the place of one blob.

    Attributes:
        name: Which replica, for reports: `files`, or `cassandra 10.0.0.1`.
        blob: What is there, unverified; None when there is none or `error` says why not known.
        error: Why it could not be read, or has not even the form of a blob.
    """

    name: str
    blob: Blob | None
    error: WaysealError | None = None


class BlobStore(Protocol):
    """Keeps blobs by recording id (32 bytes) and index.

    All methods may raise UnavailableError: the medium or peer failed or is full. A put that
    raises may have stored some of its blobs, each of them whole.
    """

    @property
    def name(self) -> str:
        """Name of this store in manifests, receipts and reports: `files`, `cassandra`."""
        ...

    @property
    def durability(self) -> str:
        """What a put that returned is worth: `fsync`, a consistency level, or both with a `+`."""
        ...

    def check(self) -> None:
        """Ask the medium or peer whether it works now; writes nothing.

        Raises:
            RejectedError: It will never work as it is set up; said at the start of a process.
            UnavailableError: Not now.
        """
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
            fresh: Read the medium, not a cache, where the store can; for whoever vouches for the
                blob, so with two stores what is in both.

        Raises:
            RejectedError: What is stored there has not even the form of a blob, or `fresh` is
                not the same in two stores.
        """
        ...

    def replicas(self, recording_id: bytes, index: int) -> Iterator[Replica]:
        """Yield what every replica has in the place of one blob, read from its medium.

        For scrubs, and for a reader whose `get` did not hold. A put of the right blob mends all.
        Never raises for one replica; at least one is yielded.
        """
        ...

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        """Return the carried leaf hash of every blob that is there, by index; data is not read."""
        ...

    def put_manifest(self, recording_id: bytes, manifest: bytes) -> None:
        """Mark the recording as whole here, durably; replaces the manifest that was there.

        Args:
            recording_id: 32 bytes.
            manifest: 1..MANIFEST_BYTES_MAX bytes, which mean nothing to the store.
        """
        ...

    def delete_manifest(self, recording_id: bytes) -> None:
        """Take the mark away durably, blobs stay; none being there is fine."""
        ...

    def manifest(self, recording_id: bytes) -> bytes | None:
        """Return the manifest as it is stored, None while the recording is not whole here."""
        ...

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every recording of which there may be blobs, in no order."""
        ...

    def delete(self, recording_id: bytes) -> None:
        """Remove manifest and every blob of the recording durably; none being there is fine."""
        ...

    def close(self) -> None:
        """Let go of connections and threads; closing twice is harmless."""
        ...
