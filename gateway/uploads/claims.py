"""Whose upload is whose: a partial recording belongs to the device that began it.

The first device that announces a recording uploads it under its own id. Any other
device with a signed digest of the same hash uploads under its own name, so that
false bytes or a false size hurt only their sender. The first whose bytes have the hash
makes the recording whole for all.
"""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from contracts.errors import RejectedError, UnavailableError
from contracts.records.clock import now_ms
from contracts.runtime.schema import Schema
from gateway.uploads.limits import DEVICE_PARTIAL_BYTES_MAX
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

DEVICE_PARTIALS_MAX: Final = 64
"""Partial uploads of one device."""
FINISHED_MAX: Final = 65_536
"""Whole recordings whose metadata are kept, the newest ones."""

_TABLE: Final = """
CREATE TABLE claims (
  recording BLOB NOT NULL,
  device_id TEXT NOT NULL,
  upload BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  since_ms INTEGER NOT NULL,
  PRIMARY KEY (recording, device_id)
) WITHOUT ROWID;
CREATE INDEX claims_by_device ON claims (device_id);
"""
_METADATA: Final = """
ALTER TABLE claims ADD COLUMN metadata TEXT NOT NULL DEFAULT '';
CREATE TABLE finished (
  number INTEGER PRIMARY KEY,
  recording BLOB NOT NULL,
  device_id TEXT NOT NULL,
  metadata TEXT NOT NULL,
  UNIQUE (recording, device_id)
);
"""
SCHEMA: Final = Schema("list of uploads", (_TABLE, _METADATA))
_COLUMNS: Final = "recording, device_id, upload, size, since_ms, metadata"


class QuotaError(UnavailableError):
    """The device has as many partial uploads as it may."""


class ConflictError(RejectedError):
    """The request does not fit the upload's state.

    Attributes:
        expected: The upload's offset or size in bytes.
        actual: The request's.
    """

    def __init__(self, what: str, expected: int, actual: int) -> None:
        super().__init__(f"{what}: expected {expected}, got {actual}")
        self.expected = expected
        self.actual = actual


@dataclass(frozen=True, slots=True)
class Claim:
    """One device's partial upload of one recording.

    Attributes:
        recording: SHA-256 that the whole file must have, 32 bytes.
        device_id: The device; for uploads by an operator, the name of the token.
        upload: The id that the store knows the upload by, 32 bytes.
        size: Bytes that the whole file must have.
        since_ms: When it was begun, ms since the epoch.
        metadata: The device's Upload-Metadata about it; empty if unknown.
    """

    recording: bytes
    device_id: str
    upload: bytes
    size: int
    since_ms: int
    metadata: str = ""

    @property
    def is_staged(self) -> bool:
        """Say whether another device's upload has the recording's own id."""
        return self.upload != self.recording


class Claims(Kept):
    """The partial uploads of one gateway, in one file; safe to use from several threads.

    Args:
        path: The file.
        bytes_max: Bytes that the partial uploads of one device may have, once whole.
        damage: Where damage of the file is noted.
        is_there: Says whether the store still has an upload. Age deletes uploads there.
    """

    def __init__(
        self,
        path: Path,
        is_there: Callable[[bytes], bool],
        *,
        bytes_max: int = DEVICE_PARTIAL_BYTES_MAX,
        damage: DamageNotes | None = None,
    ) -> None:
        """Open the file, or create it.

        Raises:
            UnavailableError: It cannot be opened, or has a newer version.
        """
        self._db = open_kept(path, SCHEMA, damage)
        self._is_there = is_there
        self._bytes_max = bytes_max
        self._one_by_one = threading.Lock()  # what one claim adds, the next one's quota counts

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def find(self, recording: bytes, device_id: str) -> Claim | None:
        """Return a device's upload of a recording, or None."""
        return next((each for each in self.of(recording) if each.device_id == device_id), None)

    def of(self, recording: bytes) -> list[Claim]:
        """Return all uploads of a recording, the one with its own id first."""
        found = self._select("WHERE recording = ?", recording)
        return sorted(found, key=lambda claim: claim.is_staged)

    def all(self) -> list[Claim]:
        """Return all uploads, oldest first."""
        return self._select("ORDER BY since_ms")

    def metadata(self, recording: bytes, device_id: str) -> str:
        """Return what a device last said about a recording; empty if unknown."""
        rows = self._db.query(
            "SELECT metadata FROM claims WHERE recording = ?1 AND device_id = ?2 UNION ALL "
            "SELECT metadata FROM finished WHERE recording = ?1 AND device_id = ?2",
            *(recording, device_id),
        )
        return str(rows[0][0]) if rows else ""

    def claim(self, recording: bytes, device_id: str, size: int, metadata: str = "") -> Claim:
        """Return a device's upload of a recording; note a new one, or new metadata, durably.

        Raises:
            ConflictError: The device began it with another size.
            QuotaError: The device has too many partial uploads, or too large ones.
            UnavailableError: The medium failed or is full.
        """
        with self._one_by_one:
            return self._claim(recording, device_id, size, metadata)

    def forget(self, claim: Claim) -> None:
        """Forget an upload."""
        with self._db.transaction() as db:
            db.execute("DELETE FROM claims WHERE upload = ?", (claim.upload,))

    def finish(self, recording: bytes, device_id: str, metadata: str) -> None:
        """Forget a device's upload of a recording that is whole; keep what the device said."""
        with self._db.transaction() as db:
            db.execute(
                "DELETE FROM claims WHERE recording = ? AND device_id = ?", (recording, device_id)
            )
            if not metadata:
                return
            db.execute(
                "INSERT OR REPLACE INTO finished (recording, device_id, metadata) VALUES (?,?,?)",
                (recording, device_id, metadata),
            )
            db.execute(
                "DELETE FROM finished WHERE number <= (SELECT max(number) FROM finished) - ?",
                (FINISHED_MAX,),
            )

    def _claim(self, recording: bytes, device_id: str, size: int, metadata: str) -> Claim:
        own = self.find(recording, device_id)
        if own is not None:
            if own.size != size:
                raise ConflictError(f"size of recording {recording.hex()}", own.size, size)
            return self._described(own, metadata)
        self._check_quota(device_id, size)
        with self._db.transaction() as db:
            taken = db.execute("SELECT 1 FROM claims WHERE upload = ?", (recording,)).fetchone()
            upload = _name(recording, device_id) if taken else recording
            made = Claim(recording, device_id, upload, size, now_ms(), metadata)
            db.execute(
                f"INSERT INTO claims ({_COLUMNS}) VALUES (?,?,?,?,?,?)",  # noqa: S608
                (recording, device_id, upload, size, made.since_ms, metadata),
            )
        return made

    def _described(self, claim: Claim, metadata: str) -> Claim:
        """Return the claim with the newest metadata, which are durable."""
        if metadata in ("", claim.metadata):
            return claim
        with self._db.transaction() as db:
            db.execute("UPDATE claims SET metadata = ? WHERE upload = ?", (metadata, claim.upload))
        return replace(claim, metadata=metadata)

    def _check_quota(self, device_id: str, size: int) -> None:
        found = self._select("WHERE device_id = ?", device_id)
        if self._excess(found, device_id, size):
            for claim in found:
                if not self._is_there(claim.upload):
                    self.forget(claim)
            found = self._select("WHERE device_id = ?", device_id)
        why = self._excess(found, device_id, size)
        if why:
            raise QuotaError(why)

    def _excess(self, found: list[Claim], device_id: str, size: int) -> str:
        used = sum(claim.size for claim in found)
        if len(found) >= DEVICE_PARTIALS_MAX:
            return (
                f"{device_id} has {len(found)} partial uploads, at most {DEVICE_PARTIALS_MAX} "
                f"allowed"
            )
        if used + size > self._bytes_max:
            return (
                f"partial uploads of {device_id} have {used} of {self._bytes_max} bytes, "
                f"{size} more do not fit"
            )
        return ""

    def _select(self, where: str, *values: object) -> list[Claim]:
        rows = self._db.query(f"SELECT {_COLUMNS} FROM claims {where}", *values)  # noqa: S608
        return [Claim(*row) for row in rows]


def _name(recording: bytes, device_id: str) -> bytes:
    """Return the name of a device's upload beside another one's; no bytes have it as their hash."""
    return hashlib.sha256(b"wayseal upload\0" + recording + device_id.encode()).digest()
