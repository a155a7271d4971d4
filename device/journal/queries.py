"""Questions that recorder, offload and status all ask the journal."""

from contracts.records.recording import RecordingDigest
from device.journal.database import Database
from device.journal.trip import Recording


def recordings_of(database: Database, trip_id: str) -> list[Recording]:
    """Return the recordings of a trip, in the order in which they were made."""
    rows = database.all(
        "SELECT trip_id, sha256, size, tree_root, name, media_type, duration_ms, source_sha256 "
        "FROM recordings WHERE trip_id = ? ORDER BY number",
        trip_id,
    )
    return [Recording(row[0], RecordingDigest(row[1], row[2], row[3]), *row[4:]) for row in rows]


def journal_bytes(database: Database) -> int:
    """Return how many bytes of signed transactions and batches wait for a receipt."""
    (used,) = database.one(
        "SELECT (SELECT COALESCE(SUM(LENGTH(wire)), 0) FROM batches)"
        " + (SELECT COALESCE(SUM(LENGTH(wire)), 0) FROM pending)"
    )
    return int(used)


def video_bytes(database: Database) -> int:
    """Return how many bytes of recordings wait for a receipt."""
    (used,) = database.one("SELECT COALESCE(SUM(size), 0) FROM recordings")
    return int(used)
