"""The digests of recordings that are committed, and which of them count.

Anyone may sign the hash of anything. Nothing on the ledger binds a hash to a size and a tree root,
so two digests of one recording can contradict each other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from contracts.proto.payload_pb2 import RecordVideo
from gateway.index.store import IndexStore
from gateway.records.pages import Listed, listed
from gateway.records.registry import NotOnLedgerError
from storage.recordings.manifest import StoredRecording

DIGEST_COLUMNS: Final = "action, transaction_id, block_num FROM videos"


@dataclass(frozen=True, slots=True)
class DigestRecord:
    """A recording's digest as its device signed it, and where the ledger has it."""

    digest: RecordVideo
    transaction_id: str
    block_num: int

    @classmethod
    def from_row(cls, action: bytes, transaction_id: str, block_num: int) -> Self:
        """Build it from `DIGEST_COLUMNS`."""
        return cls(RecordVideo.FromString(action), transaction_id, block_num)

    def fits(self, stored: StoredRecording) -> bool:
        """Say whether the digest has the size and the tree root of the stored bytes."""
        return stored.fits(self.digest.size, self.digest.tree_root)


@dataclass(frozen=True, slots=True)
class CountingDigests:
    """The digests that count for a recording.

    Attributes:
        digests: Oldest first, at least one.
        stored: The bytes that they fit; None when these are not here.
    """

    digests: tuple[DigestRecord, ...]
    stored: StoredRecording | None


class Digests:
    """Answers questions about committed digests."""

    def __init__(self, index: IndexStore) -> None:
        self._index = index

    def listed(self, after: int, count: int, *, newest_first: bool = False) -> Listed[DigestRecord]:
        """Return a page of all digests, in the ledger's order."""
        sql, read = f"SELECT rowid AS at, {DIGEST_COLUMNS}", DigestRecord.from_row
        return listed(
            self._index, sql, (), read, after=after, count=count, newest_first=newest_first
        )

    def of_recording(self, sha256: bytes) -> list[DigestRecord]:
        """Return every digest of a recording, oldest first, whether or not it counts."""
        sql = f"SELECT {DIGEST_COLUMNS} WHERE sha256 = ? ORDER BY rowid"
        return [DigestRecord.from_row(*row) for row in self._index.query(sql, sha256)]

    def of_trip(self, trip_id: str) -> list[DigestRecord]:
        """Return every digest on a trip, oldest first, whether or not it counts."""
        sql = f"SELECT {DIGEST_COLUMNS} WHERE trip_id = ? ORDER BY rowid"
        return [DigestRecord.from_row(*row) for row in self._index.query(sql, trip_id)]

    def trip_ids(self, sha256: bytes) -> set[str]:
        """Return the trips that have a digest of a recording, whether or not it counts."""
        rows = self._index.query("SELECT DISTINCT trip_id FROM videos WHERE sha256 = ?", sha256)
        return {str(trip_id) for (trip_id,) in rows}

    def that_count(
        self, sha256: bytes, find: Callable[[bytes], StoredRecording | None]
    ) -> CountingDigests:
        """Return the digests that count for a recording.

        Digests that fit the stored bytes count. Without bytes nobody can tell which of two
        contradicting digests is false, so then all digests must agree.

        Args:
            sha256: Of the recording.
            find: Returns what is known of its bytes, or None when they are not here; asked only
                for a recording that is on the ledger.

        Raises:
            NotOnLedgerError: No digest is committed, or none counts.
        """
        found = self.of_recording(sha256)
        if not found:
            raise NotOnLedgerError(f"no recording {sha256.hex()!r} on the ledger")
        stored = find(sha256)
        if stored is None:
            if len({(each.digest.size, each.digest.tree_root) for each in found}) > 1:
                raise NotOnLedgerError(
                    f"the bytes of recording {sha256.hex()} are not here, and the digests on the "
                    f"ledger contradict each other; each trip lists its own"
                )
            return CountingDigests(tuple(found), None)
        fitting = tuple(each for each in found if each.fits(stored))
        if not fitting:
            raise NotOnLedgerError(
                f"recording {sha256.hex()}: no digest on the ledger has the size and the tree "
                f"root of the bytes that are here"
            )
        return CountingDigests(fitting, stored)
