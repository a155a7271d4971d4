"""Reads cold files to their ends, and says how each stands."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from contracts.runtime.connection import Connection
from gateway.index.asking import ColdPlace, check_trip
from gateway.index.coldfile import (
    ColdError,
    Digest,
    damaged,
    head_of,
    opened,
    rows_in,
)
from gateway.index.store import IndexStore


@dataclass(frozen=True, slots=True)
class ColdState:
    """A cold file as an index knows it.

    Attributes:
        path: Where it lies.
        trips: In it, by the index.
        readings: Of them, by the index.
        size: Its bytes; 0 if it is missing or cannot be read.
        fault: Its fault in words, or "".
    """

    path: Path
    trips: int
    readings: int
    size: int
    fault: str


def states(index: IndexStore) -> Iterator[ColdState]:
    """Yield each cold file of an index, with the faults that a look at its list of trips shows.

    Raises:
        UnavailableError: The index did not answer.
    """
    with index.connection() as db:
        head = head_of(db, 0)
        files = db.execute("SELECT DISTINCT file FROM cold_trips ORDER BY file").fetchall()
    for (file,) in files:
        with index.connection() as db:
            rows = db.execute("SELECT * FROM cold_trips WHERE file = ?", (file,)).fetchall()
        places = list(map(ColdPlace._make, rows))
        head = head._replace(file=file)
        path = index.cold.path(head)
        fault, size = "", 0
        with suppress(OSError):  # the fault says it
            size = path.stat().st_size
        try:
            with opened(path, head) as looked:
                for place in places:
                    check_trip(looked, "main", path, place)
        except ColdError as error:
            fault = str(error)
        readings = sum(place.readings for place in places)
        yield ColdState(path, len(places), readings, size, fault)


def check_file(index: IndexStore, file: int, going_on: Callable[[], bool]) -> None:
    """Read every page of a cold file, and compare each trip's digest.

    Args:
        index: The index.
        file: The file's number.
        going_on: Asked after each trip; the check ends early on False.

    Raises:
        ColdError: It is missing, damaged, or lacks a trip.
        UnavailableError: The index did not answer.
    """
    with index.connection() as db:
        head = head_of(db, file)
        rows = db.execute("SELECT * FROM cold_trips WHERE file = ?", (file,)).fetchall()
    path = index.cold.path(head)
    with opened(path, head) as looked:
        found = looked.execute("PRAGMA quick_check(1)").fetchall()
        if found != [("ok",)]:
            raise sqlite3.DatabaseError(f"its pages contradict each other: {found[0][0]}")
        for place in map(ColdPlace._make, rows):
            if not going_on():
                return
            check_trip(looked, "main", path, place)
            if not is_whole(looked, place):
                raise damaged(path, f"the readings of trip number {place.trip} are others")


def is_whole(db: Connection, place: ColdPlace) -> bool:
    """Say whether an open cold file has the readings of a trip, by their digest.

    Raises:
        sqlite3.Error: A page is damaged.
    """
    digest = Digest()
    for rows in rows_in(db, place.trip):
        digest.add(rows)
    return (digest.rows, digest.sha256) == (place.readings, place.sha256)
