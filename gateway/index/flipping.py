"""Lets readings of a trip count in its cold file, and no longer in the index."""

from typing import Final

from contracts.runtime.connection import Connection
from gateway.index.coldfile import ColdHead, ColdTrip, head_of

FLIPPED_AT_ONCE: Final = 1024
"""Readings that leave the index in one transaction: it keeps a block waiting for some 10 ms."""


def flip_some(db: Connection, head: ColdHead, trip: ColdTrip) -> int:
    """Let some of a trip's readings count in a cold file, and delete them in the index.

    Args:
        db: The index, in a transaction.
        head: Of the file, which is whole and durable.
        trip: What the file has of the trip.

    Returns:
        How many; 0: there are no more, a fork has undone them since they were copied, or the index
        is another one by now.
    """
    if head_of(db, head.file) != head:
        return 0
    on_chain = "SELECT 1 FROM blocks WHERE block_num = ? AND block_id = ?"
    if db.execute(on_chain, (trip.block_num, trip.block_id)).fetchone() is None:
        return 0
    (nth,) = db.execute(
        "SELECT max(position) FROM (SELECT position FROM kept_readings WHERE trip = ?"
        " AND position <= ? ORDER BY position LIMIT ?)",
        (trip.trip, trip.last, FLIPPED_AT_ONCE),
    ).fetchone()
    if nth is None:
        return 0
    (following,) = db.execute(  # the first of a transaction has its id, so they stay together
        "SELECT min(position) FROM kept_readings WHERE trip = ? AND position > ? AND position <= ?"
        " AND behind = 0",
        (trip.trip, nth, trip.last),
    ).fetchone()
    upto = trip.last if following is None else following - 1
    these = "FROM kept_readings WHERE trip = ?1 AND position <= ?2"
    db.execute(
        "REPLACE INTO cold_trips SELECT trip, ?3, ?4, ?5, ?6, position, block_num"
        f" {these} ORDER BY position DESC LIMIT 1",
        (trip.trip, upto, head.file, trip.readings, trip.sha256, trip.last),
    )
    db.execute(
        "INSERT INTO cold_devices SELECT trip, device, count(*), max(sequence), max(utc_ms),"
        f" max(block_num) {these} GROUP BY device ON CONFLICT (trip, device) DO UPDATE SET"
        " readings = readings + excluded.readings,"
        " last_sequence = max(last_sequence, excluded.last_sequence),"
        " last_utc_ms = max(last_utc_ms, excluded.last_utc_ms),"
        " block_num = max(block_num, excluded.block_num)",
        (trip.trip, upto),
    )
    db.execute(
        "INSERT INTO cold_signs SELECT trip, device, sequence, position, utc_ms, tamper_flags,"
        f" block_num {these} AND tamper_flags > 0",
        (trip.trip, upto),
    )
    db.execute(f"DELETE {these}", (trip.trip, upto))
    return int(db.execute("SELECT changes()").fetchone()[0])
