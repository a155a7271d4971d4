"""Moves the readings of old trips from the index into cold files.

A file is written whole first. Then its trips are flipped, some thousand readings in a transaction:
the index notes up to which reading a trip is in the file, and deletes these rows. So each reading
counts in one place, even after a kill: the next pass removes a file that no trip is in, and goes on
with a file whose trips were being flipped.
"""

import logging
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Final

from contracts.errors import UnavailableError
from contracts.runtime.connection import Connection
from contracts.runtime.files import disk_errors
from contracts.runtime.sqlite import transaction
from gateway.index.asking import ColdPlace, moved_rows
from gateway.index.coldfile import (
    ColdError,
    ColdHead,
    ColdTrip,
    head_of,
    opened,
    put_readings,
    put_trip,
    rows_in,
)
from gateway.index.flipping import flip_some
from gateway.index.readings import Row
from gateway.index.standing import HOLDS_OF_TRIP, in_force
from gateway.index.store import IndexStore

FILE_READINGS: Final = 1_000_000
"""A file takes no further trip once it has so many readings: 65 to 190 MB."""
FREE_BYTES_MIN: Final = 256 << 20
"""Room that a new file leaves on the disk of cold files."""
DAY_S: Final = 86_400
_NEVER: Final = (1 << 63) - 1
"""The block in which a trip ended that has not."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Pass:
    """What one look at all trips in the index found and did.

    Attributes:
        trips: Trips that have readings in the index.
        open: Of these, trips that have not ended.
        held: Trips under a legal hold.
        young: Trips that ended, or were read, less than the set days ago.
        due: Trips that are old; only a look that moves nothing counts them.
        failed: Trips that wait because a cold file does not answer.
        moved: Trips that were moved.
        readings: Readings that were moved.
        files: Files that were written.
        timeless: Whether the ledger records no times.
        took_s: How long it took.
    """

    trips: int = 0
    open: int = 0
    held: int = 0
    young: int = 0
    due: int = 0
    failed: int = 0
    moved: int = 0
    readings: int = 0
    files: int = 0
    timeless: bool = False
    took_s: float = 0.0

    def __str__(self) -> str:
        """Say it in words, also why trips stay."""
        if self.timeless:
            return "no trip was moved: the ledger records no times, so no trip is known to be old"
        stay = {
            "have not ended": self.open,
            "are under a hold": self.held,
            "are too young": self.young,
            "wait for a cold file that does not answer": self.failed,
        }
        why = ", ".join(f"{count} {what}" for what, count in stay.items() if count)
        into = f"{self.files} cold files" if self.files else "a cold file that was there"
        did = (
            f"moved {self.moved} trips with {self.readings} readings into {into}"
            if self.moved
            else "no trip was moved"
        )
        stays = self.open + self.held + self.young + self.failed
        return f"{did}, in {self.took_s:.0f} s; {stays} stay in the index" + (why and f": {why}")


class Mover:
    """Moves old trips, at most one pass at a time.

    Args:
        store: The index.
        days: A trip is old so long after it ended and after its last reading, by the ledger's time.
        rest: Called after each short piece of work with the seconds that it took.
        stopping: Whether to end early.
    """

    def __init__(
        self,
        store: IndexStore,
        days: int,
        rest: Callable[[float], None] = lambda _: None,
        stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._days = days
        self._rest = rest
        self._stopping = stopping

    def run(self) -> Pass:
        """Look at all trips once, and move those that are old.

        Raises:
            UnavailableError: A disk is full, failed or away; what was moved before stays moved.
        """
        began_s = time.monotonic()
        done = Pass()
        self._check_folder()
        self._go_on(done)
        due = self._due(done)
        for trip in due:
            if self._stopping():
                break
            self._write(chain([trip], due), done)
        self._remove_empty()
        done.took_s = time.monotonic() - began_s
        return done

    def look(self) -> Pass:
        """Look at all trips, and move nothing."""
        found = Pass()
        found.due = sum(1 for _ in self._due(found))
        return found

    def _check_folder(self) -> None:
        with self._store.connection() as db:
            generation = head_of(db, 0).generation
            some = db.execute("SELECT 1 FROM cold_trips LIMIT 1").fetchone()
        folder = self._store.cold.of(generation)
        self._store.cold.look()
        with disk_errors("look into", folder):
            is_there = folder.is_dir()
        if some and not is_there:
            raise UnavailableError(
                f"expected cold files in {folder}, which is missing, so nothing is moved there: "
                "mount its disk, put it back, or run wayseal-gateway reindex"
            )

    def _due(self, done: Pass) -> Iterator[int]:
        """Yield the numbers of trips that are old, ascending, and count the others."""
        with self._store.connection() as db:
            upto = _old_block(db, self._days)
        done.timeless = upto is None
        after = -1
        while not self._stopping():
            began_s = time.monotonic()
            with self._store.connection() as db:
                row = db.execute(
                    "SELECT trip FROM kept_readings WHERE trip > ? ORDER BY trip LIMIT 1", (after,)
                ).fetchone()
                if row is None:
                    return
                (after,) = row
                name, ended, read = db.execute(_STANDS, (after,)).fetchone()
                held = in_force(db.execute(HOLDS_OF_TRIP, (name,)).fetchall())
            done.trips += 1
            if ended == _NEVER:
                done.open += 1
            elif upto is None or max(ended, read) > upto:
                done.young += 1
            elif held:
                done.held += 1
            else:
                yield after
                continue
            self._rest(time.monotonic() - began_s)

    def _write(self, due: Iterator[int], done: Pass) -> None:
        """Write one file of old trips, and flip them."""
        cold = self._store.cold
        with self._store.connection() as db:
            (newest,) = db.execute("SELECT ifnull(max(file), 0) FROM cold_trips").fetchone()
            head = head_of(db, 0)
        file = max([newest, *cold.numbers(head.generation)]) + 1
        head = head._replace(file=file)
        with disk_errors("ask for free space of", cold.folder):
            at = next(each for each in (cold.folder, *cold.folder.parents) if each.is_dir())
            free = shutil.disk_usage(at).free
        if free < FREE_BYTES_MIN:
            raise UnavailableError(
                f"expected {FREE_BYTES_MIN} bytes of free room in {cold.folder} for a cold file, "
                f"got {free}; the trips stay in the index"
            )

        def fill(made: Connection) -> None:
            readings = 0
            for trip in due:
                began_s = time.monotonic()
                readings += self._copy(trip, made, done)
                self._rest(time.monotonic() - began_s)
                if readings >= FILE_READINGS or self._stopping():
                    return

        cold.write(head, fill)
        done.files += 1
        self._flip(head, done)

    def _copy(self, trip: int, made: Connection, done: Pass) -> int:
        """Copy a trip's readings into a file that is being written; return how many."""
        blocks: list[str] = []
        try:
            digest = put_readings(made, self._pieces(trip, blocks))
        except ColdError as error:
            _log.error("trip number %d stays in the index: %s", trip, error)
            made.execute("DELETE FROM kept_readings WHERE trip = ?", (trip,))
            done.failed += 1
            return 0
        for block_id in blocks:
            put_trip(
                made,
                ColdTrip(trip, digest.rows, digest.sha256, digest.last, digest.block_num, block_id),
            )
        return digest.rows

    def _pieces(self, trip: int, blocks: list[str]) -> Iterator[list[Row]]:
        """Yield a trip's readings as they are at one moment; note the id of the newest's block."""
        with self._store.connection() as db:
            db.execute("BEGIN")
            try:
                blocks += [
                    block_id
                    for (block_id,) in db.execute(
                        "SELECT block_id FROM kept_readings JOIN blocks USING (block_num)"
                        " WHERE trip = ? ORDER BY position DESC LIMIT 1",
                        (trip,),
                    )
                ]
                row = db.execute("SELECT * FROM cold_trips WHERE trip = ?", (trip,)).fetchone()
                if row is not None:
                    place = ColdPlace(*row)
                    head = head_of(db, place.file)
                    yield from moved_rows(self._store.cold, head, place, place.last)
                yield from rows_in(db, trip)
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")

    def _go_on(self, done: Pass) -> None:
        """Flip what is left of the newest file: a kill may have come between."""
        with self._store.connection() as db:
            head = head_of(db, 0)
        files = self._store.cold.numbers(head.generation)
        if files:
            try:
                self._flip(head._replace(file=files[-1]), done)
            except ColdError as error:
                _log.error("%s", error)

    def _flip(self, head: ColdHead, done: Pass) -> None:
        path = self._store.cold.path(head)
        with opened(path, head) as looked:
            trips = looked.execute("SELECT * FROM trips ORDER BY trip").fetchall()
        for trip in map(ColdTrip._make, trips):
            moved = 0
            while not self._stopping() and self._has(path, head, trip):
                began_s = time.monotonic()
                with self._store.connection() as db, transaction(db):
                    more = flip_some(db, head, trip)
                self._rest(time.monotonic() - began_s)
                moved += more
                if not more:
                    break
            done.readings += moved
            done.moved += bool(moved)

    def _has(self, path: Path, head: ColdHead, trip: ColdTrip) -> bool:
        """Say whether a file still has a trip of its list: it may have been made again since."""
        with opened(path, head) as looked:
            row = looked.execute("SELECT * FROM trips WHERE trip = ?", (trip.trip,)).fetchone()
        return bool(row == trip)

    def _remove_empty(self) -> None:
        """Remove the files of this generation that no trip is in any more."""
        with self._store.connection() as db:
            head = head_of(db, 0)
            used = {file for (file,) in db.execute("SELECT DISTINCT file FROM cold_trips")}
        for file in self._store.cold.numbers(head.generation):
            if file not in used and not self._stopping():
                self._store.cold.remove(head._replace(file=file))


def generation_of(store: IndexStore) -> str:
    """Return the name of the folder of an index's cold files."""
    with store.connection() as db:
        return head_of(db, 0).generation


_STANDS: Final = f"""
SELECT name, min(
  ifnull((SELECT min(block_num) FROM trip_entries
    WHERE trip_id = name AND closed_ms IS NOT NULL), {_NEVER}),
  CASE WHEN EXISTS (SELECT 1 FROM trip_devices AS own LEFT JOIN chains USING (trip_id, device_id)
      WHERE own.trip_id = name AND chains.block_num IS NULL)
    THEN {_NEVER}
    ELSE ifnull((SELECT max(chains.block_num) FROM trip_devices AS own
      JOIN chains USING (trip_id, device_id) WHERE own.trip_id = name), {_NEVER}) END),
  (SELECT block_num FROM kept_readings WHERE trip = number ORDER BY position DESC LIMIT 1)
FROM names WHERE number = ?
"""  # noqa: S608
"""A trip's id, the block in which it ended, and the block of its last reading."""


def _old_block(db: Connection, days: int) -> int | None:
    """Return the newest block that is so many days older than the head; -1 if no block is.

    None: the ledger records no times.
    """
    newest = db.execute("SELECT time_s FROM block_times ORDER BY block_num DESC LIMIT 1").fetchone()
    if newest is None:
        return None
    sql = "SELECT ifnull(max(block_num), -1) FROM block_times WHERE time_s <= ?"
    return int(db.execute(sql, (newest[0] - days * DAY_S,)).fetchone()[0])
