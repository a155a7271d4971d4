"""Port: where the blobs of recordings rest.

Every store passes the suite in tests/support/storage/blobsuite.py.

Order: blobs may be put in any order, from several threads and in several calls. Two threads never
put the same recording (the recording's lock prevents it).
Durability: when a put returns, its blobs survive a power cut.
Idempotence: a put replaces the blob, so writing twice is harmless.
Atomicity: per blob; a reader sees the old blob, the new one or none.
Wholeness: a recording is whole in a store once its manifest is there, which is put after all its
blobs. Blobs without a manifest are a partial recording; `delete` removes the manifest first.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from contracts.chunktree import BLOB_BYTES, HASH_BYTES, leaf_hash
from contracts.errors import RejectedError, WaysealError

MANIFEST_BYTES_MAX: Final = 4 << 20
"""Enough for the manifest of a recording of RECORDING_BYTES_MAX."""


@dataclass(frozen=True, slots=True)
class Blob:
    """One blob and the leaf hash that it carries.

    A blob from a store may be damaged: check it with `holds`.

    Attributes:
        index: In the recording, from 0.
        data: 1..BLOB_BYTES bytes. A put may get a view of memory that changes once the put has
            returned or failed; a `get` returns `bytes`.
        leaf_hash: 32 bytes, RFC 6962.
    """

    index: int
    data: bytes | memoryview
    leaf_hash: bytes

    def __post_init__(self) -> None:
        """Check the ranges."""
        if self.index < 0:
            raise RejectedError(f"blob index must be at least 0, got {self.index}")
        if not 1 <= len(self.data) <= BLOB_BYTES:
            raise RejectedError(f"blob must have 1..{BLOB_BYTES} bytes, got {len(self.data)}")
        if len(self.leaf_hash) != HASH_BYTES:
            raise RejectedError(
                f"leaf hash must have {HASH_BYTES} bytes, got {len(self.leaf_hash)}"
            )

    def holds(self, expected: bytes) -> bool:
        """Return whether the data and the carried hash both match the `expected` leaf hash."""
        return self.leaf_hash == expected and leaf_hash(self.data) == expected


@dataclass(frozen=True, slots=True)
class Replica:
    """One replica's answer to a request for a blob.

    Attributes:
        name: Which replica, for reports: `files`, or `cassandra 10.0.0.1`.
        blob: The blob, unverified; None if it is missing or could not be read.
        error: Why it could not be read, or that it does not have the form of a blob.
    """

    name: str
    blob: Blob | None
    error: WaysealError | None = None


@dataclass(frozen=True, slots=True)
class OpenDeletions:
    """Deletions that some replica has not confirmed yet.

    Attributes:
        count: How many.
        since_ms: When the oldest was deleted, by the wall clock; None if there are none.
        reason: Why the last one that was repeated is still open; empty if none was.
    """

    count: int = 0
    since_ms: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Returned:
    """What a replica still has, or has again, of a deleted recording.

    Attributes:
        recording_id: 32 bytes; empty if the replica could not be asked.
        name: Which replica, as in `Replica`.
        detail: What it has, or why it could not be asked.
        repaired: Whether every replica has confirmed since then that it is deleted.
    """

    recording_id: bytes
    name: str
    detail: str
    repaired: bool = False


class BlobStore(Protocol):
    """Keeps blobs by recording id (32 bytes) and index.

    All methods may raise UnavailableError: the medium or peer failed or is full. A put that raises
    may have stored some of its blobs completely.
    """

    @property
    def name(self) -> str:
        """Name of this store in manifests, receipts and reports: `files`, `cassandra`."""
        ...

    @property
    def durability(self) -> str:
        """What a put guarantees: `fsync`, a consistency level, or both joined by `+`."""
        ...

    def check(self) -> None:
        """Check that the medium or peer works now; writes nothing.

        Raises:
            RejectedError: It cannot work with these settings; processes check this at their start.
            UnavailableError: It does not work now.
        """
        ...

    def put(self, recording_id: bytes, blob: Blob) -> None:
        """Store one blob; return once it is durable.

        Repairs use it: replicas that are up have the blob on return, so a survey finds it there.
        """
        ...

    def put_many(self, recording_id: bytes, blobs: Sequence[Blob]) -> None:
        """Store several blobs of one recording; return once all are durable.

        Cheaper than single puts, because the waiting is shared.
        """
        ...

    def get(self, recording_id: bytes, index: int, *, fresh: bool = False) -> Blob | None:
        """Return the blob as it is stored, or None; the caller verifies it.

        Args:
            recording_id: 32 bytes.
            index: In the recording.
            fresh: Read the medium, not a cache, if the store can; of several replicas ask as many
                as the settings say, not only the nearest; with two stores, read both.

        Raises:
            RejectedError: The stored bytes do not have the form of a blob, or with `fresh` the two
                stores have different blobs.
        """
        ...

    def replicas(self, recording_id: bytes, index: int) -> Iterator[Replica]:
        """Yield every replica's answer for one blob, read from its medium.

        For the scrub, and for readers whose `get` returned a damaged blob. A put of the right blob
        mends all replicas. A failing replica is yielded with its error; at least one is yielded.
        """
        ...

    def leaves(self, recording_id: bytes) -> Mapping[int, bytes]:
        """Return the carried leaf hash of every stored blob by index, without reading the data."""
        ...

    def put_manifest(self, recording_id: bytes, manifest: bytes) -> None:
        """Mark the recording as whole here, durably; replaces an older manifest.

        Args:
            recording_id: 32 bytes.
            manifest: 1..MANIFEST_BYTES_MAX bytes, opaque to the store.
        """
        ...

    def delete_manifest(self, recording_id: bytes) -> None:
        """Delete the manifest durably; the blobs stay. A missing one is fine."""
        ...

    def manifest(self, recording_id: bytes) -> bytes | None:
        """Return the manifest as it is stored; None if the recording is not whole here."""
        ...

    def recordings(self) -> Iterator[bytes]:
        """Yield the id of every recording that may have blobs, in no order."""
        ...

    def delete(self, recording_id: bytes) -> None:
        """Delete the manifest and every blob of the recording durably; an unknown one is fine."""
        ...

    def repeat_deletions(self, stop: Callable[[], bool]) -> OpenDeletions:
        """Repeat the deletions that some replica has not confirmed; return those that remain.

        `stop` is called between two deletions, and True ends it.
        """
        ...

    def returned(self, stop: Callable[[], bool]) -> Iterator[Returned]:
        """Delete again what a replica has of any deleted recording; yield it.

        A replica that was away during a deletion may bring the recording back long after. `stop` is
        called between two recordings, and True ends it.
        """
        ...

    def close(self) -> None:
        """Close connections and threads; closing twice is harmless."""
        ...
