"""What the scrub found, and how far it came: one SQLite file that a power cut does not touch.

A finding is written down before anything is mended, and its outcome after; so
what was mended is in the report even if the process was killed in between.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.sqlite import open_versioned, transaction, translated

ROUNDS_KEPT: Final = 100

_FIRST: Final = """
CREATE TABLE rounds (
  round INTEGER PRIMARY KEY AUTOINCREMENT,
  begun_ms INTEGER NOT NULL,
  ended_ms INTEGER,
  stage TEXT NOT NULL DEFAULT 'recordings',
  recording BLOB NOT NULL DEFAULT x'',
  blob INTEGER NOT NULL DEFAULT 0,
  recordings INTEGER NOT NULL DEFAULT 0,
  blobs INTEGER NOT NULL DEFAULT 0,
  bytes INTEGER NOT NULL DEFAULT 0,
  found INTEGER NOT NULL DEFAULT 0,
  mended INTEGER NOT NULL DEFAULT 0,
  not_mended INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE findings (
  finding INTEGER PRIMARY KEY AUTOINCREMENT,
  round INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  recording BLOB NOT NULL,
  blob INTEGER NOT NULL,
  copy TEXT NOT NULL,
  kind TEXT NOT NULL,
  outcome TEXT NOT NULL,
  detail TEXT NOT NULL,
  UNIQUE (round, recording, blob, copy)
);
"""
_NOT_READ: Final = """
ALTER TABLE rounds ADD COLUMN not_read INTEGER NOT NULL DEFAULT 0;
"""
_STEPS: Final = (_FIRST, _NOT_READ)
"""What makes each version out of the one before; a new report takes them all."""
_ROUND: Final = (
    "round, begun_ms, ended_ms, stage, recording, blob, recordings, blobs, bytes,"
    " not_read, found, mended, not_mended"
)


class Stage(StrEnum):
    """What a round looks at: first what is known, then what nobody knows."""

    RECORDINGS = "recordings"
    ORPHANS = "orphans"


class Outcome(StrEnum):
    """What became of a finding."""

    OPEN = "open"
    """Found, and not yet mended: the process is at it, was killed there, or somebody writes it."""
    MENDED = "mended"
    NOT_MENDED = "not-mended"
    TO_BE_FILLED = "to-be-filled"
    """A whole file is gone; the backlog makes it again."""
    NAMED = "named"
    """Nothing to mend: somebody must know."""


@dataclass(frozen=True, slots=True)
class Found:
    """Something that is not as it should be.

    Attributes:
        recording_id: 32 bytes.
        index: Of the blob; `NO_BLOB` for the recording as a whole.
        copy: Which copy, or which replica of it.
        kind: `rotten`, `missing`, `unread`, …
        detail: What was expected and what is there.
    """

    recording_id: bytes
    index: int
    copy: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of one finding, and what is to be said of it."""

    outcome: Outcome
    detail: str


@dataclass(frozen=True, slots=True)
class Round:
    """One walk through everything.

    Attributes:
        number: Counts the rounds.
        begun_ms: By the wall clock.
        ended_ms: By the wall clock; None while it goes on.
        stage: What it is at.
        recording_id: The recording that it is at; empty before the first.
        index: The next blob of it.
        recordings: Looked at to their end.
        blobs: Looked at.
        bytes_read: Of all their copies.
        not_read: Copies of blobs that gave nothing: a disk, a node or a volume did not answer.
        found: Findings.
        mended: Of these, mended.
        not_mended: Of these, those that no copy could mend.
    """

    number: int
    begun_ms: int
    ended_ms: int | None
    stage: Stage
    recording_id: bytes
    index: int
    recordings: int
    blobs: int
    bytes_read: int
    not_read: int
    found: int
    mended: int
    not_mended: int


class Journal:
    """The scrub's report and cursor; used by several threads, one at a time.

    Args:
        path: The file; made when it is missing.

    Raises:
        UnavailableError: It cannot be opened, or is of a newer version.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._db = open_versioned(path, "scrub report", _STEPS)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def begin(self, now_ms: int) -> Round:
        """Begin a round, and forget those that are too old to keep; return the one under way."""
        with self._transaction() as db:
            if self.current() is None:
                db.execute("INSERT INTO rounds (begun_ms) VALUES (?)", (now_ms,))
                for table in ("rounds", "findings"):
                    db.execute(
                        f"DELETE FROM {table} WHERE round <= "  # noqa: S608 - our own tables
                        "(SELECT max(round) FROM rounds) - ?",
                        (ROUNDS_KEPT,),
                    )
        return self.rounds(1)[0]

    def current(self) -> Round | None:
        """Return the round that has not ended, or None."""
        newest = self.rounds(1)
        return newest[0] if newest and newest[0].ended_ms is None else None

    def rounds(self, limit: int) -> list[Round]:
        """Return the last rounds, newest first."""
        rows = self.query(f"SELECT {_ROUND} FROM rounds ORDER BY round DESC LIMIT ?", limit)  # noqa: S608
        return [Round(row[0], row[1], row[2], Stage(row[3]), *row[4:]) for row in rows]

    def save(self, at: Round) -> None:
        """Make cursor and counts of the round under way durable."""
        with self._transaction() as db:
            self._save(db, at)

    def end(self, at: Round, now_ms: int) -> None:
        """End the round."""
        with self._transaction() as db:
            self._save(db, at)
            db.execute("UPDATE rounds SET ended_ms = ? WHERE round = ?", (now_ms, at.number))

    def find(
        self, at: Round, found: Sequence[Found], now_ms: int, outcome: Outcome = Outcome.OPEN
    ) -> None:
        """Write findings down, each once a round, with cursor and counts."""
        with self._transaction() as db:
            self._save(db, at)
            before = db.total_changes
            db.executemany(
                "INSERT INTO findings (round, at_ms, recording, blob, copy, kind, outcome, detail)"
                " VALUES (:round, :at_ms, :recording_id, :index, :copy, :kind, :outcome, :detail)"
                " ON CONFLICT DO NOTHING",
                [
                    {**asdict(each), "round": at.number, "at_ms": now_ms, "outcome": outcome}
                    for each in found
                ],
            )
            self._count(db, at.number, "found", db.total_changes - before)

    def open_at(self, at: Round, recording_id: bytes, index: int) -> list[str]:
        """Return the copies whose findings at this place have no outcome yet."""
        rows = self.query(
            "SELECT copy FROM findings WHERE round = ? AND recording = ? AND blob = ?"
            " AND outcome = ?",
            *(at.number, recording_id, index, Outcome.OPEN),
        )
        return [str(copy) for (copy,) in rows]

    def open_blobs(self, at: Round) -> list[tuple[bytes, int]]:
        """Return recording and index of each blob with findings that have no outcome yet."""
        rows = self.query(
            "SELECT DISTINCT recording, blob FROM findings"
            " WHERE round = ? AND outcome = ? AND blob >= 0 ORDER BY recording, blob",
            *(at.number, Outcome.OPEN),
        )
        return [(bytes(recording_id), int(index)) for recording_id, index in rows]

    def settle(
        self, at: Round, recording_id: bytes, index: int, outcomes: Mapping[str, Verdict]
    ) -> dict[str, Verdict]:
        """Give the open findings of one place their outcome; return it, by copy.

        Args:
            at: The round.
            recording_id: 32 bytes.
            index: Of the blob, or `NO_BLOB`.
            outcomes: By copy; those that are not named were mended, or hold again.
        """
        where = "WHERE round = ? AND recording = ? AND blob = ? AND outcome = ?"
        place = (at.number, recording_id, index, Outcome.OPEN)
        settled: dict[str, Verdict] = {}
        with self._transaction() as db:
            for finding, copy, detail in db.execute(
                f"SELECT finding, copy, detail FROM findings {where}",  # noqa: S608
                place,
            ).fetchall():
                verdict = outcomes.get(copy, Verdict(Outcome.MENDED, detail))
                db.execute(
                    "UPDATE findings SET outcome = ?, detail = ? WHERE finding = ?",
                    (verdict.outcome, verdict.detail, finding),
                )
                settled[copy] = verdict
            for column in (Outcome.MENDED, Outcome.NOT_MENDED):
                count = sum(verdict.outcome is column for verdict in settled.values())
                self._count(db, at.number, column.replace("-", "_"), count)
        return settled

    def forget(self, at: Round, recording_id: bytes, index: int, copies: Iterable[str]) -> None:
        """Take back open findings of one place: what they are about was deleted meanwhile."""
        with self._transaction() as db:
            for copy in copies:
                gone = db.execute(
                    "DELETE FROM findings WHERE round = ? AND recording = ? AND blob = ?"
                    " AND copy = ? AND outcome = ?",
                    (at.number, recording_id, index, copy, Outcome.OPEN),
                ).rowcount
                self._count(db, at.number, "found", -gone)

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a question."""
        with self._lock, self._translated():
            return self._db.execute(sql, values).fetchall()

    def _save(self, db: sqlite3.Connection, at: Round) -> None:
        db.execute(
            "UPDATE rounds SET stage = :stage, recording = :recording_id, blob = :index,"
            " recordings = :recordings, blobs = :blobs, bytes = :bytes_read, not_read = :not_read"
            " WHERE round = :number",
            asdict(at),
        )

    def _count(self, db: sqlite3.Connection, number: int, column: str, more: int) -> None:
        db.execute(
            f"UPDATE rounds SET {column} = {column} + ? WHERE round = ?",  # noqa: S608
            (more, number),
        )

    def _translated(self) -> AbstractContextManager[None]:
        return translated("scrub report", damaged=UnavailableError)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._translated(), transaction(self._db):
            yield self._db
