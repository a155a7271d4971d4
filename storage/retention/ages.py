"""How old what is stored is, by a clock that can only be late.

Deleting too late costs room, too early costs evidence. So ages are counted in
the time during which this process ran, by the monotonic clock, and kept in a
file: a wall clock that is set, or was wrong when something came in, makes
nothing older. What a gateway was off does not count.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from contracts.errors import UnavailableError
from contracts.sqlite import open_versioned, transaction, translated

_FIRST: Final = """
CREATE TABLE clock (only INTEGER PRIMARY KEY CHECK (only = 0), elapsed_s REAL NOT NULL);
INSERT INTO clock VALUES (0, 0);
CREATE TABLE released (recording BLOB PRIMARY KEY, since_s REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX released_by_age ON released (since_s, recording);
CREATE TABLE uploads (
  recording BLOB PRIMARY KEY, place INTEGER NOT NULL, since_s REAL NOT NULL
) WITHOUT ROWID;
"""
_STEPS: Final = (_FIRST,)


class Ages:
    """The retention's clock, and since when what is stored waits; used by one thread at a time.

    Args:
        path: The file; made when it is missing.
        monotonic_s: Seconds since any moment.

    Raises:
        UnavailableError: It cannot be opened, or is of another version.
    """

    def __init__(self, path: Path, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._monotonic_s = monotonic_s
        self._read_at_s = monotonic_s()
        self._lock = threading.Lock()
        self._db = open_versioned(path, "retention", _STEPS)
        self._elapsed_s = float(self._query("SELECT elapsed_s FROM clock")[0][0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def advance(self) -> None:
        """Let the clock go on by the time since it last did, durably."""
        now_s = self._monotonic_s()
        elapsed_s = self._elapsed_s + max(0.0, now_s - self._read_at_s)
        self._change("UPDATE clock SET elapsed_s = ?", elapsed_s)
        self._elapsed_s, self._read_at_s = elapsed_s, now_s

    def release(self, recording_id: bytes) -> None:
        """Begin to count a recording's age now, unless that began before."""
        self._change(
            "INSERT INTO released VALUES (?, ?) ON CONFLICT DO NOTHING",
            *(recording_id, self._elapsed_s),
        )

    def released(self) -> dict[bytes, float]:
        """Return the age of every recording that was released, seconds, oldest first."""
        rows = self._query("SELECT recording, since_s FROM released ORDER BY since_s, recording")
        return {bytes(recording): self._elapsed_s - since_s for recording, since_s in rows}

    def standing_s(self, recording_id: bytes, offset: int) -> float:
        """Return for how long an upload has stood at `offset`, as far as was seen, seconds."""
        self._change(
            "INSERT INTO uploads VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE"
            " SET place = ?2, since_s = ?3 WHERE place <> ?2",
            *(recording_id, offset, self._elapsed_s),
        )
        rows = self._query("SELECT since_s FROM uploads WHERE recording = ?", recording_id)
        return self._elapsed_s - float(rows[0][0])

    def uploads(self) -> list[bytes]:
        """Return the uploads of which it is known since when they stand."""
        return [bytes(recording) for (recording,) in self._query("SELECT recording FROM uploads")]

    def forget(self, recording_id: bytes) -> None:
        """Forget what is no longer stored; should it come again, it is new."""
        with self._lock, translated("retention", damaged=UnavailableError), transaction(self._db):
            for table in ("released", "uploads"):
                self._db.execute(f"DELETE FROM {table} WHERE recording = ?", (recording_id,))  # noqa: S608

    def _change(self, sql: str, *values: object) -> None:
        with self._lock, translated("retention", damaged=UnavailableError):
            self._db.execute(sql, values)

    def _query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock, translated("retention", damaged=UnavailableError):
            return self._db.execute(sql, values).fetchall()
