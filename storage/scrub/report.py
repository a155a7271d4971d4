"""The scrub's findings and cursor, in one SQLite file that survives a power cut.

A finding is written down before the repair, and its outcome after it. So every repair is in the
report, even if the process was killed in between.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Protocol

from contracts.runtime.connection import Connection
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import changed_rows
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

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
_DELETIONS: Final = """
ALTER TABLE rounds ADD COLUMN deletions_ms INTEGER;
"""
SCHEMA: Final = Schema("scrub report", (_FIRST, _NOT_READ, _DELETIONS))
_ROUND: Final = (
    "round, begun_ms, ended_ms, stage, recording, blob, recordings, blobs, bytes,"
    " not_read, found, mended, not_mended"
)


class RoundStage(StrEnum):
    """What a round reads: first the known recordings, then bytes that belong to none."""

    RECORDINGS = "recordings"
    ORPHANS = "orphans"


class FindingOutcome(StrEnum):
    """The outcome of a finding."""

    OPEN = "open"
    """Not mended yet: the scrub is at work or was killed, or the recording is being written."""
    MENDED = "mended"
    NOT_MENDED = "not-mended"
    TO_BE_FILLED = "to-be-filled"
    """A whole file is gone; it is in the backlog, to be made again."""
    NAMED = "named"
    """Nothing can be mended; an operator should know of it."""


@dataclass(frozen=True, slots=True)
class ReportEntry:
    """A finding: something stored that is not as it should be.

    Attributes:
        recording_id: 32 bytes.
        index: Of the blob; `NO_BLOB` for the recording as a whole.
        copy: Which copy or replica.
        kind: `rotten`, `missing`, `unread`, `undeleted`, …
        detail: What was expected and what is there.
    """

    recording_id: bytes
    index: int
    copy: str
    kind: str
    detail: str


@dataclass(frozen=True, slots=True)
class Settled:
    """The outcome of one finding, explained in words."""

    outcome: FindingOutcome
    detail: str


@dataclass(frozen=True, slots=True)
class KeptFinding:
    """A finding on record.

    Attributes:
        number: Of the round that found it.
        at_ms: When, by the wall clock.
        found: What was found.
        outcome: What became of it.
    """

    number: int
    at_ms: int
    found: ReportEntry
    outcome: FindingOutcome


@dataclass(frozen=True, slots=True)
class Round:
    """One pass over everything that is stored.

    Attributes:
        number: Counts the rounds.
        begun_ms: By the wall clock.
        ended_ms: By the wall clock; None while the round is under way.
        stage: What it reads now.
        recording_id: Cursor: the recording that is being read; empty before the first.
        index: Cursor: its next blob.
        recordings: Read to their end.
        blobs: Read.
        bytes_read: Of all copies.
        not_read: Copies of blobs that could not be read, since a disk, node or volume was silent.
        found: Findings.
        mended: Findings that were mended.
        not_mended: Findings that no copy could mend.
    """

    number: int
    begun_ms: int
    ended_ms: int | None
    stage: RoundStage
    recording_id: bytes
    index: int
    recordings: int
    blobs: int
    bytes_read: int
    not_read: int
    found: int
    mended: int
    not_mended: int


class Rows(Protocol):
    """Reads a database."""

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows that a statement selects."""
        ...


class ScrubRecord:
    """What a scrub's report says; it is only read.

    Args:
        db: The report.
    """

    def __init__(self, db: Rows) -> None:
        self._rows = db

    def current(self) -> Round | None:
        """Return the round that has not ended, or None."""
        newest = self.rounds(1)
        return newest[0] if newest and newest[0].ended_ms is None else None

    def rounds(self, limit: int) -> list[Round]:
        """Return the last rounds, newest first."""
        rows = self.query(f"SELECT {_ROUND} FROM rounds ORDER BY round DESC LIMIT ?", limit)  # noqa: S608
        return [Round(row[0], row[1], row[2], RoundStage(row[3]), *row[4:]) for row in rows]

    def deletions_checked_ms(self) -> int | None:
        """Return when every replica was last asked for all that was ever deleted, or None."""
        at_ms = self.query("SELECT max(deletions_ms) FROM rounds")[0][0]
        return None if at_ms is None else int(at_ms)

    def listed(
        self, after: int, count: int, *, number: int | None, outcome: FindingOutcome | None
    ) -> list[tuple[int, KeptFinding]]:
        """Return up to `count` findings, oldest first, each with its own number.

        Args:
            after: The number after which they begin; 0 begins with the first.
            count: How many, at most.
            number: Only those of this round; None: of all rounds.
            outcome: Only those with this outcome; None: with any.
        """
        rows = self.query(
            "SELECT finding, round, at_ms, outcome, recording, blob, copy, kind, detail"
            " FROM findings WHERE round = ifnull(?, round) AND outcome = ifnull(?, outcome)"
            " AND finding > ? ORDER BY finding LIMIT ?",
            *(number, outcome, after, count),
        )
        return [
            (finding, KeptFinding(of, at_ms, ReportEntry(*found), FindingOutcome(became)))
            for finding, of, at_ms, became, *found in rows
        ]

    def counted(self, numbers: Sequence[int]) -> dict[FindingOutcome, int]:
        """Return how many findings these rounds have, for every outcome."""
        found = dict.fromkeys(FindingOutcome, 0)
        for number in numbers:
            for became, count in self.query(
                "SELECT outcome, count(*) FROM findings WHERE round = ? GROUP BY outcome", number
            ):
                found[FindingOutcome(became)] += count
        return found

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows that a statement selects."""
        return self._rows.query(sql, *values)


class ScrubReport(Kept, ScrubRecord):
    """The scrub's report and cursor; used by several threads, one at a time.

    Args:
        path: The file; created if missing.
        damage: Where damage of the file is noted.

    Raises:
        UnavailableError: It cannot be opened, or is of a newer version.
    """

    def __init__(self, path: Path, damage: DamageNotes | None = None) -> None:
        self._db = open_kept(path, SCHEMA, damage)
        super().__init__(self._db)

    def begin(self, now_ms: int) -> Round:
        """Begin a round unless one is under way, and return it; forget rounds that are too old."""
        with self._db.transaction() as db:
            if self.current() is None:
                db.execute("INSERT INTO rounds (begun_ms) VALUES (?)", (now_ms,))
                for table in ("rounds", "findings"):
                    db.execute(
                        f"DELETE FROM {table} WHERE round <= "  # noqa: S608 - our own tables
                        "(SELECT max(round) FROM rounds) - ?",
                        (ROUNDS_KEPT,),
                    )
            return self.rounds(1)[0]

    def save(self, at: Round) -> None:
        """Make cursor and counts of the round under way durable."""
        with self._db.transaction() as db:
            self._save(db, at)

    def end(self, at: Round, now_ms: int) -> None:
        """End the round."""
        with self._db.transaction() as db:
            self._save(db, at)
            db.execute("UPDATE rounds SET ended_ms = ? WHERE round = ?", (now_ms, at.number))

    def deletions_checked(self, at: Round, now_ms: int) -> None:
        """Note that every replica was asked for all that was ever deleted."""
        with self._db.transaction() as db:
            db.execute("UPDATE rounds SET deletions_ms = ? WHERE round = ?", (now_ms, at.number))

    def find(
        self,
        at: Round,
        found: Sequence[ReportEntry],
        now_ms: int,
        outcome: FindingOutcome = FindingOutcome.OPEN,
    ) -> None:
        """Write down findings, each once a round, together with cursor and counts."""
        with self._db.transaction() as db:
            self._save(db, at)
            before = self._db.changes
            db.executemany(
                "INSERT INTO findings (round, at_ms, recording, blob, copy, kind, outcome, detail)"
                " VALUES (:round, :at_ms, :recording_id, :index, :copy, :kind, :outcome, :detail)"
                " ON CONFLICT DO NOTHING",
                [
                    {**asdict(each), "round": at.number, "at_ms": now_ms, "outcome": outcome}
                    for each in found
                ],
            )
            self._count(db, at.number, "found", self._db.changes - before)

    def open_at(self, at: Round, recording_id: bytes, index: int) -> list[str]:
        """Return the copies of a blob whose findings have no outcome yet."""
        rows = self.query(
            "SELECT copy FROM findings WHERE round = ? AND recording = ? AND blob = ?"
            " AND outcome = ?",
            *(at.number, recording_id, index, FindingOutcome.OPEN),
        )
        return [str(copy) for (copy,) in rows]

    def open_blobs(self, at: Round) -> list[tuple[bytes, int]]:
        """Return recording and index of each blob with findings that have no outcome yet."""
        rows = self.query(
            "SELECT DISTINCT recording, blob FROM findings"
            " WHERE round = ? AND outcome = ? AND blob >= 0 ORDER BY recording, blob",
            *(at.number, FindingOutcome.OPEN),
        )
        return [(bytes(recording_id), int(index)) for recording_id, index in rows]

    def settle(
        self, at: Round, recording_id: bytes, index: int, outcomes: Mapping[str, Settled]
    ) -> dict[str, Settled]:
        """Give the open findings of one blob their outcomes; return them by copy.

        Args:
            at: The round.
            recording_id: 32 bytes.
            index: Of the blob, or `NO_BLOB`.
            outcomes: By copy; copies that are not named were mended, or are intact again.
        """
        settled: dict[str, Settled] = {}
        with self._db.transaction() as db:
            rows = db.execute(
                "SELECT finding, copy, detail FROM findings"
                " WHERE round = ? AND recording = ? AND blob = ? AND outcome = ?",
                (at.number, recording_id, index, FindingOutcome.OPEN),
            ).fetchall()
            for finding, copy, detail in rows:
                each = outcomes.get(copy, Settled(FindingOutcome.MENDED, detail))
                db.execute(
                    "UPDATE findings SET outcome = ?, detail = ? WHERE finding = ?",
                    (each.outcome, each.detail, finding),
                )
                settled[copy] = each
            for column in (FindingOutcome.MENDED, FindingOutcome.NOT_MENDED):
                count = sum(each.outcome is column for each in settled.values())
                self._count(db, at.number, column.replace("-", "_"), count)
        return settled

    def forget(self, at: Round, recording_id: bytes, index: int, copies: Iterable[str]) -> None:
        """Delete open findings of one blob, because its copies were deleted since."""
        with self._db.transaction() as db:
            for copy in copies:
                db.execute(
                    "DELETE FROM findings WHERE round = ? AND recording = ? AND blob = ?"
                    " AND copy = ? AND outcome = ?",
                    (at.number, recording_id, index, copy, FindingOutcome.OPEN),
                )
                self._count(db, at.number, "found", -changed_rows(db))

    def _save(self, db: Connection, at: Round) -> None:
        db.execute(
            "UPDATE rounds SET stage = :stage, recording = :recording_id, blob = :index,"
            " recordings = :recordings, blobs = :blobs, bytes = :bytes_read, not_read = :not_read"
            " WHERE round = :number",
            asdict(at),
        )

    def _count(self, db: Connection, number: int, column: str, more: int) -> None:
        db.execute(
            f"UPDATE rounds SET {column} = {column} + ? WHERE round = ?",  # noqa: S608
            (more, number),
        )
