"""The journal's file: one SQLite database; a commit counts once it is on the medium."""

from functools import partial
from pathlib import Path
from typing import Any, Final

from contracts.errors import RejectedError
from contracts.records.recording import RecordingDigest
from contracts.runtime.connection import Connection
from contracts.runtime.files import disk_errors, make_private
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import VersionedDatabase, connect
from device.journal.trip import Recording

_FIRST: Final = """
CREATE TABLE device (device_id TEXT NOT NULL, public_key TEXT NOT NULL);
CREATE TABLE trips (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  trip_id TEXT NOT NULL UNIQUE,
  input_id BLOB NOT NULL,
  start BLOB NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'sealed', 'receipted')),
  reported INTEGER NOT NULL DEFAULT 0,
  readings INTEGER NOT NULL DEFAULT 0,
  head_sha256 BLOB NOT NULL DEFAULT x'',
  last_transaction_id TEXT NOT NULL,
  clock BLOB NOT NULL,
  seal_transaction_id TEXT NOT NULL DEFAULT '',
  receipt BLOB
);
-- Signed transactions that wait for their batch to fill.
CREATE TABLE pending (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  trip_id TEXT NOT NULL REFERENCES trips (trip_id),
  monotonic_ms INTEGER,
  wire BLOB NOT NULL
);
CREATE TABLE batches (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  batch_id TEXT NOT NULL UNIQUE,
  trip_id TEXT NOT NULL REFERENCES trips (trip_id),
  digest_of BLOB,
  wire BLOB NOT NULL,
  held INTEGER NOT NULL DEFAULT 0,
  refused TEXT
);
CREATE INDEX batches_by_trip ON batches (trip_id);
CREATE TABLE recordings (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  trip_id TEXT NOT NULL REFERENCES trips (trip_id),
  sha256 BLOB NOT NULL,
  size INTEGER NOT NULL,
  tree_root BLOB NOT NULL,
  name TEXT NOT NULL,
  media_type TEXT NOT NULL,
  duration_ms INTEGER NOT NULL,
  source_sha256 BLOB NOT NULL,
  UNIQUE (trip_id, sha256)
);
"""
_RUNS_AND_JOINED_TRIPS: Final = """
-- Durable readings, unsigned and in the order of their chain, that wait for their run to end.
CREATE TABLE waiting (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  trip_id TEXT NOT NULL REFERENCES trips (trip_id),
  record BLOB NOT NULL
);
ALTER TABLE trips ADD COLUMN run_ended INTEGER NOT NULL DEFAULT 0;
ALTER TABLE trips ADD COLUMN joined_at_ms INTEGER;
ALTER TABLE pending ADD COLUMN readings INTEGER NOT NULL DEFAULT 0;
UPDATE pending SET readings = 1 WHERE monotonic_ms IS NOT NULL;
"""
_PROVISIONAL_RECEIPTS: Final = """
-- What the receipt of a sealed trip lacks, in words: with such a receipt nothing may be deleted.
CREATE TABLE lacking (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  trip_id TEXT NOT NULL REFERENCES trips (trip_id),
  what TEXT NOT NULL
);
"""
_TRIPS_IN_A_ROW: Final = """
-- How many numbered trips this device has started with its key, and the SHA-256 of the latest seal
-- of one. `key_was_older`: the key was there when the journal was made, so an earlier journal of
-- the key may be lost.
CREATE TABLE series (
  only INTEGER PRIMARY KEY CHECK (only = 0),
  last_number INTEGER NOT NULL DEFAULT 0,
  seal_sha256 BLOB NOT NULL DEFAULT x'',
  key_was_older INTEGER NOT NULL DEFAULT 0
);
INSERT INTO series (only) VALUES (0);
"""
_SEGMENTS: Final = """
-- When a segment of a live camera began, UTC milliseconds; 0 if the recording began with the trip.
ALTER TABLE recordings ADD COLUMN started_at_ms INTEGER NOT NULL DEFAULT 0;
"""
_MARKED: Final = """
-- Whether there was a tamper sign in a recording: then it is offloaded before others.
ALTER TABLE recordings ADD COLUMN marked INTEGER NOT NULL DEFAULT 0;
"""
_OWED: Final = """
-- Remarks (canonical bytes) that a reading of the trip has to say, because the card shows no longer
-- what they tell of: a film's lost end, say. The commit of that reading deletes them.
CREATE TABLE owed (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  trip_id TEXT NOT NULL REFERENCES trips (trip_id),
  remark BLOB NOT NULL,
  UNIQUE (trip_id, remark)
);
"""
_VERSIONS: Final = (
    *(_FIRST, _RUNS_AND_JOINED_TRIPS, _PROVISIONAL_RECEIPTS, _TRIPS_IN_A_ROW, _SEGMENTS, _MARKED),
    _OWED,
)
JOURNAL: Final = Schema(
    "journal",
    _VERSIONS,
    application_id=0x57534A31,
    refused=RejectedError,
)
PAGE_BYTES: Final = 1024
"""A reading changes four pages, of which little is new: small ones halve what its commit writes to
the card (docs/performance.md)."""


class Database(VersionedDatabase):
    """An open journal; any number of processes may use it.

    Attributes:
        path: Its file.
        device_id: The device whose journal it is.
    """

    def __init__(
        self, path: Path, device_id: str, public_key: str, *, key_was_older: bool = False
    ) -> None:
        """Open the journal at `path`, or create it for this device and key.

        A journal of an older version is upgraded, as a whole or not at all.

        Args:
            path: The file.
            device_id: The device.
            public_key: Its key.
            key_was_older: The key was not made together with this journal; kept in a new journal.

        Raises:
            RejectedError: It is damaged, of a newer version, no journal, or another device's.
            UnavailableError: The medium failed.
        """

        def fill(connection: Connection) -> None:
            connection.execute("INSERT INTO device VALUES (?, ?)", (device_id, public_key))
            connection.execute("UPDATE series SET key_was_older = ?", (key_was_older,))

        self.device_id = device_id
        with disk_errors("make journal", path):
            make_private(path)  # what SQLite puts beside it gets its owner and mode
        super().__init__(path, JOURNAL, fill, connect_to=partial(connect, page_bytes=PAGE_BYTES))
        try:
            self.query("PRAGMA foreign_keys = ON")
            self._check_owner(public_key)
        except BaseException:
            self.close()
            raise

    def one(self, query: str, *values: object) -> Any:  # noqa: ANN401 - SQL rows have no static type
        """Return the only row of a query, as a tuple.

        Raises:
            RejectedError: The query has no row or several, or the file is damaged.
            UnavailableError: The medium failed.
        """
        rows = self.query(query, *values)
        if len(rows) != 1:
            raise RejectedError(f"journal {self.path}: expected one row, got {len(rows)}: {query}")
        return rows[0]

    def _check_owner(self, public_key: str) -> None:
        owner = self.one("SELECT device_id, public_key FROM device")
        if owner != (self.device_id, public_key):
            raise RejectedError(
                f"journal {self.path}: expected device {self.device_id} with key {public_key}, "
                f"it belongs to device {owner[0]} with key {owner[1]}"
            )


def is_known(database: Database, trip_id: str) -> bool:
    """Say whether the journal has a trip, whatever became of it."""
    return bool(database.query("SELECT 1 FROM trips WHERE trip_id = ?", trip_id))


def is_open(database: Database, trip_id: str) -> bool:
    """Say whether a trip is being recorded, or was when the recorder was killed."""
    return bool(database.query("SELECT 1 FROM trips WHERE trip_id = ? AND state = 'open'", trip_id))


def recordings_of(database: Database, trip_id: str) -> list[Recording]:
    """Return the recordings of a trip, in the order in which they were made."""
    rows = database.query(
        "SELECT trip_id, sha256, size, tree_root, name, media_type, duration_ms, source_sha256, "
        "started_at_ms, marked FROM recordings WHERE trip_id = ? ORDER BY number",
        trip_id,
    )
    return [_recording(row) for row in rows]


def _recording(row: Any) -> Recording:  # noqa: ANN401 - SQL rows have no static type
    trip, sha256, size, root, name, media_type, duration_ms, source, started_ms, marked = row
    digest = RecordingDigest(sha256, size, root)
    return Recording(trip, digest, name, media_type, duration_ms, source, started_ms, bool(marked))


def lacking_of(database: Database, trip_id: str) -> list[str]:
    """Return what the provisional receipt of a trip lacks; empty for any other trip."""
    rows = database.query("SELECT what FROM lacking WHERE trip_id = ? ORDER BY number", trip_id)
    return [what for (what,) in rows]
