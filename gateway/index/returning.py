"""What a fork undoes of old trips: the readings before it come back from their cold files."""

import sqlite3
from typing import Final

from contracts.runtime.connection import Connection
from gateway.index.asking import ColdPlace, moved_rows
from gateway.index.coldfile import ColdError, head_of
from gateway.index.coldfolder import ColdFiles
from gateway.index.readings import insert_readings

_TABLES: Final = ("cold_trips", "cold_devices", "cold_signs")


def bring_back(db: Connection, cold: ColdFiles, block_num: int) -> None:
    """Bring back the readings up to a block of each trip that was moved with later ones.

    Args:
        db: The index, in a transaction that removes every block above `block_num`.
        cold: Its cold files.
        block_num: The last block that stays.

    Raises:
        sqlite3.DatabaseError: A file did not answer: the index has to be made again.
    """
    undone = db.execute("SELECT * FROM cold_trips WHERE block_num > ?", (block_num,)).fetchall()
    for place in map(ColdPlace._make, undone):
        stays = "SELECT 1 FROM names WHERE number = ? AND block_num <= ?"
        if db.execute(stays, (place.trip, block_num)).fetchone():
            _bring_back(db, cold, place, block_num)
        for table in _TABLES:
            db.execute(f"DELETE FROM {table} WHERE trip = ?", (place.trip,))  # noqa: S608


def _bring_back(db: Connection, cold: ColdFiles, place: ColdPlace, block_num: int) -> None:
    head = head_of(db, place.file)
    try:
        for rows in moved_rows(cold, head, place, place.last):
            insert_readings(db, [row for row in rows if row[-1] <= block_num])
    except ColdError as error:
        raise sqlite3.DatabaseError(f"a fork undid readings of an old trip, and {error}") from error
