"""Makes one cold file again: from what is whole in it, and for the rest from the ledger.

A running gateway goes on beside it. The file is replaced in one step, by one with the same
readings: a question reads the old file or the new one.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Final

from contracts.errors import RejectedError
from contracts.ledger.client import LedgerClient
from contracts.ledger.pages import Committed
from contracts.runtime.connection import Connection
from gateway.index.asking import ColdPlace, cold_place
from gateway.index.coldfile import (
    ColdError,
    ColdHead,
    ColdTrip,
    Digest,
    head_of,
    opened,
    put_readings,
    put_trip,
    rows_in,
)
from gateway.index.projection import project
from gateway.index.readings import Row, insert_readings, rows_of
from gateway.index.store import IndexStore

NEAR_BLOCKS: Final = 50
"""Blocks that are read over, rather than to ask the ledger for a later one by number."""


@dataclass(frozen=True, slots=True)
class Remade:
    """A cold file that was made again.

    Attributes:
        file: Its path.
        kept: Trips whose readings were whole in it.
        fetched: Trips whose readings came from the ledger.
        blocks: That were read for them.
    """

    file: str
    kept: int
    fetched: int
    blocks: int


def remake(
    index: IndexStore, ledger: LedgerClient, trip_id: str, say: Callable[[str], None]
) -> Remade:
    """Make the cold file of a trip again.

    Args:
        index: The index, which may be in use.
        ledger: Its ledger.
        trip_id: The trip.
        say: Told the progress now and then.

    Raises:
        RejectedError: The trip's readings lie in the index itself, or the ledger has others.
        UnavailableError: The ledger did not answer, or a disk is full or failed; the file is as it
            was.
    """
    with index.connection() as db:
        place = cold_place(db, trip_id)
        if place is None:
            known = db.execute("SELECT 1 FROM names WHERE name = ?", (trip_id,)).fetchone()
            raise RejectedError(
                f"trip {trip_id}: "
                + (
                    "all its readings lie in the index, none in a cold file; wayseal-gateway "
                    "reindex makes all of it again"
                    if known
                    else "the index has no readings of it"
                )
            )
        head = head_of(db, place.file)
        rows = db.execute(
            "SELECT * FROM cold_trips WHERE file = ? ORDER BY trip", (place.file,)
        ).fetchall()
    making = _Making(index, ledger, head, [ColdPlace(*row) for row in rows], say)
    index.cold.replace(head, making.fill)
    return Remade(str(index.cold.path(head)), making.kept, len(making.missing), making.blocks)


class _Making:
    """One file that is being made again."""

    def __init__(
        self,
        index: IndexStore,
        ledger: LedgerClient,
        head: ColdHead,
        places: list[ColdPlace],
        say: Callable[[str], None],
    ) -> None:
        self._index = index
        self._ledger = ledger
        self._head = head
        self._places = {place.trip: place for place in places}
        self._say = say
        self.kept = 0
        self.missing: list[ColdPlace] = []
        self.blocks = 0

    def fill(self, made: Connection) -> None:
        """Put every trip into the new file.

        The old file may have trips that the index does not have in it yet: the gateway may be
        letting them count there just now.
        """
        whole = set()
        for trip in self._listed():
            if self._is_expected(trip) and self._keep(made, trip):
                whole.add(trip.trip)
        self.missing = [each for trip, each in self._places.items() if trip not in whole]
        self.kept = len(self._places) - len(self.missing)
        self._say(f"{self.kept} of {len(self._places)} trips are whole, the others are fetched")
        if self.missing:
            self._fetch(made)
        for place in self.missing:
            self._check(made, place)

    def _listed(self) -> list[ColdTrip]:
        """Return the trips that the old file says it has, as far as it can be read."""
        listed: list[ColdTrip] = []
        with suppress(ColdError), self._old() as old:
            listed.extend(map(ColdTrip._make, old.execute("SELECT * FROM trips ORDER BY trip")))
        return listed

    def _is_expected(self, trip: ColdTrip) -> bool:
        place = self._places.get(trip.trip)
        return place is None or (trip.readings, trip.sha256) == (place.readings, place.sha256)

    def _keep(self, made: Connection, trip: ColdTrip) -> bool:
        """Copy a trip from the old file; False if it is not whole there."""
        with suppress(ColdError):
            digest = put_readings(made, self._rows(trip.trip))
            if (digest.rows, digest.sha256) == (trip.readings, trip.sha256):
                put_trip(made, trip)
                return True
        made.execute("DELETE FROM kept_readings WHERE trip = ?", (trip.trip,))
        return False

    def _rows(self, trip: int) -> Iterator[list[Row]]:
        with self._old() as old:
            yield from rows_in(old, trip)

    def _old(self) -> AbstractContextManager[Connection]:
        return opened(self._index.cold.path(self._head), self._head)

    def _fetch(self, made: Connection) -> None:
        """Fetch the readings of the missing trips from the ledger, block by block."""
        wanted = {place.trip: place.file_last for place in self.missing}
        numbers = self._numbers(list(wanted))
        for committed, number in _blocks(self._ledger, numbers):
            added = project(committed, number).readings
            with self._index.connection() as db:
                row = db.execute(
                    "SELECT last FROM positions WHERE block_num = ?", (number,)
                ).fetchone()
                if row is None:
                    continue
                before = row[0] - sum(len(each.readings) for each in added)
                rows = rows_of(db, added, number, before)
            mine = [row for row in rows if row[1] <= wanted.get(row[0], -1)]
            insert_readings(made, sorted(mine, key=lambda row: row[:2]))
            self.blocks += 1
            if self.blocks % 100 == 0:
                self._say(f"{self.blocks} of {len(numbers)} blocks")

    def _numbers(self, trips: list[int]) -> list[int]:
        """Return the numbers of the blocks with batches about trips, ascending."""
        with self._index.connection() as db:
            rows = db.execute(
                "SELECT DISTINCT block_num FROM batches WHERE subject IN (SELECT 'trip ' || name"
                " FROM names WHERE number IN (SELECT value FROM json_each(?))) ORDER BY block_num",
                (json.dumps(trips),),
            ).fetchall()
        return [number for (number,) in rows]

    def _check(self, made: Connection, place: ColdPlace) -> None:
        digest = Digest()
        for rows in rows_in(made, place.trip):
            digest.add(rows)
        if (digest.rows, digest.sha256) != (place.readings, place.sha256):
            raise RejectedError(
                f"trip number {place.trip}: expected {place.readings} readings with SHA-256 "
                f"{place.sha256.hex()[:16]}…, as were moved, got {digest.rows} with "
                f"{digest.sha256.hex()[:16]}… from the ledger: run wayseal-gateway reindex, which "
                "makes all again"
            )
        with self._index.connection() as db:
            (block_id,) = db.execute(
                "SELECT block_id FROM blocks WHERE block_num = ?", (digest.block_num,)
            ).fetchone()
        put_trip(
            made,
            ColdTrip(
                place.trip, digest.rows, digest.sha256, digest.last, digest.block_num, block_id
            ),
        )


def _blocks(ledger: LedgerClient, numbers: list[int]) -> Iterator[tuple[Committed, int]]:
    """Yield blocks with their numbers; the ledger gives those that follow one another at once."""
    pages: Iterator[Committed] = iter(())
    at = -1
    for number in numbers:
        if not at <= number < at + NEAR_BLOCKS or at < 0:
            pages, at = ledger.committed(number), number
        while at <= number:
            committed = next(pages)
            if at == number:
                yield committed, number
            at += 1
