"""The ages of stored recordings, by a clock that can only be late.

Deleting too late costs room; deleting too early costs evidence. So ages count the time during
which this process ran, by the monotonic clock, and are kept in a file. A wall clock that is wrong
or set makes nothing older. Time while the gateway is off does not count.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from contracts.runtime.running import RUNNING_TABLE, RunningTime
from contracts.runtime.schema import Schema
from storage.checked.damage import DamageNotes
from storage.checked.kept import Kept, open_kept

_FIRST: Final = f"""{RUNNING_TABLE}
CREATE TABLE released (recording BLOB PRIMARY KEY, since_s REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX released_by_age ON released (since_s, recording);
CREATE TABLE uploads (
  recording BLOB PRIMARY KEY, place INTEGER NOT NULL, since_s REAL NOT NULL
) WITHOUT ROWID;
"""
SCHEMA: Final = Schema("retention", (_FIRST,))


class Ages(Kept):
    """The retention's clock, and the ages of recordings and uploads; safe in several threads.

    Args:
        path: The file; created if missing.
        monotonic_s: Seconds since any moment.
        damage: Where damage of the file is noted; a lost age begins again.

    Raises:
        UnavailableError: It cannot be opened, or is of another version.
    """

    def __init__(
        self,
        path: Path,
        monotonic_s: Callable[[], float] = time.monotonic,
        *,
        damage: DamageNotes | None = None,
    ) -> None:
        self._db = open_kept(path, SCHEMA, damage)
        self._clock = RunningTime(self._db, monotonic_s)

    def advance(self) -> None:
        """Advance the clock by the time since the last call, durably."""
        self._clock.advance()

    def release(self, recording_id: bytes) -> None:
        """Start counting a recording's age now, unless it is counted already."""
        self._db.query(
            "INSERT INTO released VALUES (?, ?) ON CONFLICT DO NOTHING",
            *(recording_id, self._clock.elapsed_s),
        )

    def released(self) -> dict[bytes, float]:
        """Return the age of every recording that was released, seconds, oldest first."""
        rows = self._db.query("SELECT recording, since_s FROM released ORDER BY since_s, recording")
        return {bytes(recording): self._clock.elapsed_s - since_s for recording, since_s in rows}

    def standing_s(self, recording_id: bytes, offset: int) -> float:
        """Return for how long an upload was seen at `offset`, seconds."""
        self._db.query(
            "INSERT INTO uploads VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE"
            " SET place = ?2, since_s = ?3 WHERE place <> ?2",
            *(recording_id, offset, self._clock.elapsed_s),
        )
        rows = self._db.query("SELECT since_s FROM uploads WHERE recording = ?", recording_id)
        return self._clock.elapsed_s - float(rows[0][0])

    def stood_s(self, recording_id: bytes, offset: int) -> float:
        """Return the same without noting it; 0 for an upload that was not seen at `offset` yet."""
        rows = self._db.query(
            "SELECT since_s FROM uploads WHERE recording = ? AND place = ?", recording_id, offset
        )
        return self._clock.elapsed_s - float(rows[0][0]) if rows else 0.0

    def uploads(self) -> list[bytes]:
        """Return the uploads that were seen."""
        return [
            bytes(recording) for (recording,) in self._db.query("SELECT recording FROM uploads")
        ]

    def forget(self, recording_id: bytes) -> None:
        """Forget a recording that is no longer stored; if it comes again, its age starts at 0."""
        with self._db.transaction() as db:
            for table in ("released", "uploads"):
                db.execute(f"DELETE FROM {table} WHERE recording = ?", (recording_id,))  # noqa: S608
