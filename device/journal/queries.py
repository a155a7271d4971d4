"""Questions that several commands ask the journal."""

from contracts.encoding import parse
from contracts.proto.sawtooth_pb2 import Batch
from contracts.records.recording import RecordingDigest
from device.journal.database import Database
from device.journal.trip import Recording, TripState


def recordings_of(database: Database, trip_id: str) -> list[Recording]:
    """Return the recordings of a trip, in the order in which they were made."""
    rows = database.all(
        "SELECT trip_id, sha256, size, tree_root, name, media_type, duration_ms, source_sha256 "
        "FROM recordings WHERE trip_id = ? ORDER BY number",
        trip_id,
    )
    return [Recording(row[0], RecordingDigest(row[1], row[2], row[3]), *row[4:]) for row in rows]


def newest_start(database: Database) -> bytes | None:
    """Return the signed start, serialised, of the newest trip that this device started.

    None when there is none whose bytes are still here: they go with the receipt.
    """
    trips = database.all(
        "SELECT trip_id FROM trips WHERE joined_at_ms IS NULL AND state <> ? "
        "ORDER BY number DESC LIMIT 1",
        TripState.RECEIPTED,
    )
    for (trip_id,) in trips:
        for (wire,) in database.all(
            "SELECT wire FROM batches WHERE trip_id = ? ORDER BY number LIMIT 1", trip_id
        ):
            return parse(Batch, wire).transactions[0].SerializeToString()
        for (wire,) in database.all(
            "SELECT wire FROM pending WHERE trip_id = ? ORDER BY number LIMIT 1", trip_id
        ):
            return bytes(wire)
    return None


def lacking_of(database: Database, trip_id: str) -> list[str]:
    """Return what the provisional receipt of a trip lacks; nothing of any other trip."""
    rows = database.all("SELECT what FROM lacking WHERE trip_id = ? ORDER BY number", trip_id)
    return [what for (what,) in rows]


def journal_bytes(database: Database) -> int:
    """Return how many bytes of readings, signed or waiting for their run, wait for a receipt."""
    (used,) = database.one(
        "SELECT (SELECT COALESCE(SUM(LENGTH(wire)), 0) FROM batches)"
        " + (SELECT COALESCE(SUM(LENGTH(wire)), 0) FROM pending)"
        " + (SELECT COALESCE(SUM(LENGTH(record)), 0) FROM waiting)"
    )
    return int(used)


def video_bytes(database: Database) -> int:
    """Return how many bytes of recordings wait for a receipt."""
    (used,) = database.one("SELECT COALESCE(SUM(size), 0) FROM recordings")
    return int(used)
