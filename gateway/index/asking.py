"""Questions about the readings of one trip, wherever they lie: in the index, a cold file, or both.

A question asks a table `readings`. It stands for the rows of `kept_readings` in the index and, up
to the position that `cold_trips` names, for those in the trip's cold file. Index and file are read
in one transaction of the index, and files never change, so a move that is under way is not seen.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from contracts.runtime.connection import Connection
from contracts.runtime.sqlite import as_sqlite3
from gateway.index.coldfile import (
    ColdError,
    ColdHead,
    ColdTrip,
    attach,
    check_head,
    damaged,
    head_of,
    opened,
    rows_in,
)
from gateway.index.coldfolder import ColdFiles
from gateway.index.readings import Row
from gateway.index.schema import readings_in
from storage.checked.connection import APSW

EVERY_TRIP: Final = "readings AS (SELECT * FROM all_readings)"


class ColdPlace(NamedTuple):
    """A row of `cold_trips`: where the readings of a trip lie up to position `last`."""

    trip: int
    file: int
    readings: int
    sha256: bytes
    file_last: int
    last: int
    block_num: int


def cold_place(db: Connection, trip_id: str) -> ColdPlace | None:
    """Return where the readings of a trip were moved; None if all are in the index."""
    row = db.execute(
        "SELECT * FROM cold_trips WHERE trip = (SELECT number FROM names WHERE name = ?)",
        (trip_id,),
    ).fetchone()
    return None if row is None else ColdPlace(*row)


def ask(
    db: Connection,
    cold: ColdFiles,
    trip_id: str,
    sql: str,
    values: tuple[object, ...],
    tables: str = EVERY_TRIP,
) -> list[tuple[Any, ...]]:
    """Return all rows of a question about one trip's readings.

    Args:
        db: A connection to the index.
        cold: Its cold files.
        trip_id: The trip.
        sql: The question. It asks a table `readings` and names the trip.
        values: For the placeholders in `sql`.
        tables: Common table expressions before the question; they make `readings` of
            `all_readings`.

    Raises:
        ColdError: The trip's file is missing, damaged, or another one.
        sqlite3.Error: The index did not answer.
    """
    db.execute("BEGIN")
    place = None
    try:
        place = cold_place(db, trip_id)
        if place is None:
            return _asked(db, "SELECT * FROM warm_readings", sql, values, tables)
        with _attached(db, cold, place):
            return _asked(db, _union(db, place), sql, values, tables)
    except ColdError as error:
        raise ColdError(f"the readings of trip {trip_id} are not whole: {error}") from error
    finally:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if place is not None and _is_attached(db):
            db.execute("DETACH cold")


def _is_attached(db: Connection) -> bool:
    return any(name == "cold" for _, name, _ in db.execute("PRAGMA database_list").fetchall())


def _asked(
    db: Connection, source: str, sql: str, values: tuple[object, ...], tables: str
) -> list[tuple[Any, ...]]:
    return db.execute(f"WITH all_readings AS ({source}), {tables} {sql}", values).fetchall()


def _union(db: Connection, place: ColdPlace) -> str:
    """Return the source of a trip that was moved.

    A trip that has nothing in the index is asked like any other: a page begins at its first row.
    """
    moved = (
        f"{readings_in('cold')} WHERE kept.trip = {place.trip} AND kept.position <= {place.last}"
    )
    some = db.execute("SELECT 1 FROM kept_readings WHERE trip = ? LIMIT 1", (place.trip,))
    if some.fetchone() is None:
        return moved
    return f"{readings_in('main')} WHERE kept.trip = {place.trip} UNION ALL {moved}"


@contextmanager
def _attached(db: Connection, cold: ColdFiles, place: ColdPlace) -> Iterator[None]:
    head = head_of(db, place.file)
    path = cold.path(head)
    try:
        with as_sqlite3(APSW):
            attach(db, path)
            check_head(db, "cold", path, head)
            check_trip(db, "cold", path, place)
            yield
    except sqlite3.Error:
        # The error does not say which file: what the question reads of this one is read alone.
        for _ in moved_rows(cold, head, place):
            pass
        raise


def check_trip(db: Connection, database: str, path: Path, place: ColdPlace) -> None:
    """Check that a cold file has the readings of a trip that the index expects in it.

    Raises:
        ColdError: It has other readings of that trip, or does not have the trip.
    """
    row: Any = db.execute(
        f"SELECT * FROM {database}.trips WHERE trip = ?",  # noqa: S608
        (place.trip,),
    ).fetchone()
    found = None if row is None else ColdTrip(*row)
    if found is None or (found.readings, found.sha256) != (place.readings, place.sha256):
        raise damaged(
            path,
            f"expected {place.readings} readings with SHA-256 {place.sha256.hex()[:16]}…, got "
            + ("none" if found is None else f"{found.readings} with {found.sha256.hex()[:16]}…"),
        )


def moved_rows(
    cold: ColdFiles, head: ColdHead, place: ColdPlace, upto: int | None = None
) -> Iterator[list[Row]]:
    """Yield a trip's rows of `kept_readings` from its cold file by position, some at a time.

    Errors of the caller between two rows are not taken for errors of the file.

    Args:
        cold: The files.
        head: The first row that the file must have.
        place: The trip.
        upto: The last position; None: to the end.

    Raises:
        ColdError: The file is missing, damaged, or has other readings of the trip.
    """
    path = cold.path(head)
    with opened(path, head) as file:
        check_trip(file, "main", path, place)
        yield from rows_in(file, place.trip, upto)
