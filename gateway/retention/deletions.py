"""The durable record of deletions: signed before anything goes, marked when it is gone.

Nothing is ever removed from it. Each deletion names the one before by hash.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from contracts.copies import Copy, Place
from contracts.deletion import deletion_hash, sign_deletion
from contracts.errors import UnavailableError
from contracts.keys import Signer
from contracts.proto.deletion_pb2 import Deletion, DeletionBody
from contracts.sqlite import open_versioned, transaction, translated

_FIRST: Final = """
CREATE TABLE deletions (
  number INTEGER PRIMARY KEY,
  recording BLOB NOT NULL,
  wire BLOB NOT NULL,
  state TEXT NOT NULL,
  ended_ms INTEGER,
  why TEXT NOT NULL DEFAULT ''
);
CREATE INDEX deletions_by_recording ON deletions (recording);
CREATE INDEX deletions_under_way ON deletions (state) WHERE state = 'begun';
"""
_STEPS: Final = (_FIRST,)
COLUMNS: Final = "wire, state, ended_ms, why"


class DeletionState(StrEnum):
    """Where a deletion stands."""

    BEGUN = "begun"
    DONE = "done"
    WITHDRAWN = "withdrawn"
    """Nothing was deleted: a reason to keep it came up in the last moment."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One deletion on record.

    Attributes:
        deletion: As it was signed.
        state: Where it stands.
        ended_ms: When it was done or withdrawn, by the wall clock; None while it goes on.
        why: Why it was withdrawn; else empty.
    """

    deletion: Deletion
    state: DeletionState
    ended_ms: int | None
    why: str

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> "Recorded":
        """Take a row of the columns that questions return."""
        wire, state, ended_ms, why = row
        return cls(Deletion.FromString(wire), DeletionState(state), ended_ms, why)

    @property
    def body(self) -> DeletionBody:
        """Return what the gateway signed."""
        return DeletionBody.FromString(self.deletion.body)

    @property
    def is_of_everything(self) -> bool:
        """Say whether nothing was to remain at this site."""
        return not self.body.remaining


class Deletions:
    """The deletions of one gateway, in one file; used by several threads, one at a time.

    Args:
        path: The file; made when it is missing.
        signer: The gateway's key.

    Raises:
        UnavailableError: It cannot be opened, or is of another version.
    """

    def __init__(self, path: Path, signer: Signer) -> None:
        self._signer = signer
        self._lock = threading.RLock()
        self._db = open_versioned(path, "deletions", _STEPS)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def begin(self, draft: DeletionBody) -> DeletionBody:
        """Number, sign and keep a deletion that is about to start; durable on return.

        Args:
            draft: All but `number` and `before_sha256`.
        """
        body = DeletionBody()
        body.CopyFrom(draft)
        with self._transaction() as db:
            last = db.execute(
                "SELECT number, wire FROM deletions ORDER BY number DESC LIMIT 1"
            ).fetchone()
            body.number = last[0] + 1 if last else 1
            body.before_sha256 = deletion_hash(Deletion.FromString(last[1])) if last else b""
            wire = sign_deletion(self._signer, body).SerializeToString(deterministic=True)
            db.execute(
                "INSERT INTO deletions (number, recording, wire, state) VALUES (?,?,?,?)",
                (body.number, body.recording_sha256, wire, DeletionState.BEGUN),
            )
        return body

    def end(self, number: int, state: DeletionState, ended_ms: int, why: str = "") -> None:
        """Mark a deletion as done or withdrawn."""
        with self._transaction() as db:
            db.execute(
                "UPDATE deletions SET state = ?, ended_ms = ?, why = ? WHERE number = ?",
                (state, ended_ms, why, number),
            )

    def under_way(self) -> list[Recorded]:
        """Return what has begun and not ended: the process is at it, or was killed there."""
        return self._select("WHERE state = 'begun' ORDER BY number")

    def of(self, recording_id: bytes) -> list[Recorded]:
        """Return the deletions of one recording, oldest first; those withdrawn too."""
        return self._select("WHERE recording = ? ORDER BY number", recording_id)

    def took_everything(self, recording_id: bytes) -> Recorded | None:
        """Return the last deletion that left nothing of a recording here, if there was one."""
        gone = [
            each
            for each in self.of(recording_id)
            if each.is_of_everything and each.state is not DeletionState.WITHDRAWN
        ]
        return gone[-1] if gone else None

    def took_volume_copy(self, recording_id: bytes) -> bool:
        """Say whether a whole copy of a recording was deleted on purpose."""
        return any(
            Copy.parse(text).place is Place.VOLUME
            for each in self.of(recording_id)
            if each.state is DeletionState.DONE
            for text in each.body.copies
        )

    def is_under_way(self, recording_id: bytes) -> bool:
        """Say whether a copy of a recording is about to go."""
        return any(each.state is DeletionState.BEGUN for each in self.of(recording_id))

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a question."""
        with self._lock, translated("deletions", damaged=UnavailableError):
            return self._db.execute(sql, values).fetchall()

    def _select(self, where: str, *values: object) -> list[Recorded]:
        rows = self.query(f"SELECT {COLUMNS} FROM deletions {where}", *values)  # noqa: S608
        return [Recorded.from_row(row) for row in rows]

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with (
            self._lock,
            translated("deletions", damaged=UnavailableError),
            transaction(self._db),
        ):
            yield self._db
