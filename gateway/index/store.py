"""The index's file: each block goes in with its height in one transaction.

A page that does not fit its checksum is never believed: the file is dropped and made again from the
ledger, in the background. Until the new one is at the ledger's head, it answers no questions.
"""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any, Final, NamedTuple

from contracts.errors import UnavailableError
from contracts.records.clock import now_ms
from contracts.runtime.connection import Connection, Synchronous
from contracts.runtime.files import sync_directory
from contracts.runtime.sqlite import as_sqlite3, is_damage, transaction, translated
from gateway.index import asking
from gateway.index.coldfile import ColdError
from gateway.index.coldfolder import ColdFiles
from gateway.index.projection import Rows
from gateway.index.readings import NewReadings, add_readings
from gateway.index.rebuilding import Rebuild, RebuildingError
from gateway.index.returning import bring_back
from gateway.index.schema import SCHEMA, VERSION, sort_in
from storage.checked.connection import APSW, connect_checked, has_checksums
from storage.checked.wal import damage_in_wal

REBUILDING: Final = 0x7762
"""`PRAGMA application_id` of an index that has not been at the ledger's head since it was dropped.
It outlasts a restart."""
FILES: Final = ("", "-wal", "-shm")
"""What a database's files end with."""
COLD: Final = "cold"
"""Beside an index, the folder of its cold files, unless the settings name another."""
OFFERED: Final = "index-next.db"
"""Beside an index, one that may take its place: see `gateway/index/reindexing.py`."""

_log = logging.getLogger(__name__)


class Head(NamedTuple):
    """The newest block of the index."""

    block_num: int
    block_id: str


class IndexStore:
    """A SQLite file with one writer; readers in any thread see whole blocks only.

    Attributes:
        offered: Where an index is put that may take the place of this one.
        cold: The files of old trips.
        rebuild: What is under way; None when the index may be believed.
        rebuilds: How often it was dropped since the process started.
    """

    def __init__(
        self,
        path: Path,
        *,
        cold: ColdFiles | None = None,
        worked_before: bool = False,
        on_rebuild: Callable[[], None] = lambda: None,
    ) -> None:
        """Open the index at `path`; a damaged one, or one of another version, is made again.

        Args:
            path: The file.
            cold: The files of old trips; by default in the folder `cold` beside it.
            worked_before: Whether the gateway is not new: then a missing file was lost.
            on_rebuild: Called, in any thread, after the file was dropped.

        Raises:
            UnavailableError: The file cannot be opened.
        """
        self._path = path
        self.cold = cold or ColdFiles(path.with_name(COLD))
        self.offered = path.with_name(OFFERED)
        self._on_rebuild = on_rebuild
        self._lock = threading.Lock()
        self._idle: list[Connection] = []
        self._generation = 0
        self._must_make = False
        self.rebuild: Rebuild | None = None
        self.rebuilds = 0
        with translated(f"index {path}", damaged=UnavailableError):
            self._open(worked_before=worked_before)

    def close(self) -> None:
        """Close the connections, which must not be in use."""
        with as_sqlite3(APSW):
            while self._idle:
                self._idle.pop().close()

    def head(self) -> Head | None:
        """Return the newest block, or None while the index is empty."""
        rows = self._rows("SELECT block_num, block_id FROM blocks ORDER BY block_num DESC LIMIT 1")
        return Head(*rows[0]) if rows else None

    def block_id(self, block_num: int) -> str | None:
        """Return the id of the block at that height, or None above the head."""
        rows = self._rows("SELECT block_id FROM blocks WHERE block_num = ?", block_num)
        return str(rows[0][0]) if rows else None

    def add(self, rows: Rows, readings: Iterable[NewReadings] = ()) -> None:
        """Add one block's rows and readings, all of them or none.

        Raises:
            UnavailableError: The block before is missing, because the file was dropped.
        """
        with self.connection() as db, transaction(db):
            if self.rebuild is not None:
                _check_follows(db, rows)
            for table, entries in rows.items():
                if entries:
                    marks = ",".join("?" * len(entries[0]))
                    sql = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608
                    db.executemany(sql, entries)
            (newest,) = db.execute("SELECT IFNULL(MAX(block_num), 0) FROM blocks").fetchone()
            add_readings(db, readings, newest)
            for statement in sort_in(newest):
                db.execute(statement)

    def cut(self, block_num: int) -> None:
        """Remove every block above `block_num`.

        Old trips whose readings are undone in part come back from their cold files first. If one of
        those does not answer, the index is dropped and made again.

        Raises:
            RebuildingError: It is made again.
        """
        with self.connection() as db, transaction(db):
            bring_back(db, self.cold, block_num)
            tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                db.execute(f"DELETE FROM {table} WHERE block_num > ?", (block_num,))  # noqa: S608

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a query.

        Raises:
            RebuildingError: The index is being made again.
            UnavailableError: The file did not answer.
        """
        with self.connection() as db:
            self.require()  # a connection to a new file comes after its rebuild began
            return db.execute(sql, values).fetchall()

    def of_trip(
        self, trip_id: str, sql: str, *values: object, tables: str = asking.EVERY_TRIP
    ) -> list[tuple[Any, ...]]:
        """Return all rows of a question about one trip's readings; see `asking.ask`.

        Raises:
            RebuildingError: The index is being made again.
            UnavailableError: A file did not answer.
        """
        try:
            return self._of_trip(trip_id, sql, values, tables)
        except ColdError:
            # Another index may have come in the place of this one, whose files were removed then.
            return self._of_trip(trip_id, sql, values, tables)

    def require(self) -> None:
        """Check that the index may be believed.

        Raises:
            RebuildingError: It is being made again.
        """
        rebuild = self.rebuild
        if rebuild is not None:
            raise RebuildingError(f"{self.progress(rebuild)}; ask again later")

    def progress(self, rebuild: Rebuild) -> str:
        """Return how far the index has been made again, in words."""
        head = self.head()
        blocks = head.block_num + 1 if head else 0
        of = "an unknown number of" if rebuild.of is None else str(rebuild.of + 1)
        return (
            f"the index is being made again from the ledger, {blocks} of {of} blocks so far, "
            f"because {rebuild.reason}"
        )

    def expect(self, newest: int) -> None:
        """Note the number of the ledger's newest block, up to which a rebuild goes."""
        with self._lock:
            if self.rebuild is not None:
                self.rebuild = Rebuild(self.rebuild.reason, self.rebuild.since_ms, newest)

    def complete(self) -> None:
        """End a rebuild: the index is at the ledger's head."""
        rebuild, generation = self.rebuild, self._generation
        if rebuild is None:
            return
        with self.connection() as db:
            if db.execute("SELECT max(block_num) FROM blocks").fetchone() == (None,):
                return  # it was dropped since its head was asked
            db.execute("PRAGMA application_id = 0")
        with self._lock:
            if generation == self._generation:
                self.rebuild = None
        took_s = (now_ms() - rebuild.since_ms) / 1000
        _log.warning("the index is whole again, after %.0f s", took_s)

    def check(self) -> None:
        """Read every page, so that damage is found before anybody asks for the rows.

        Raises:
            RebuildingError: A page was damaged; the index is being made again.
            UnavailableError: The file did not answer.
        """
        began_s = time.monotonic()
        with self.connection() as db:
            found = db.execute("PRAGMA quick_check(1)").fetchall()
            if found != [("ok",)]:
                raise sqlite3.DatabaseError(f"its pages contradict each other: {found[0][0]}")
        _log.info("the index is sound, checked in %.1f s", time.monotonic() - began_s)

    def settle(self) -> bool:
        """Put all that is in the write-ahead log into the file; False if a reader is in its way.

        Raises:
            UnavailableError: The disk is full, or the medium failed.
        """
        with self.connection() as db:
            (busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy

    def go_on_with(self, other: Path) -> bool:
        """Put another index in the place of this one, in one step; False: a reader is in its way.

        Only the thread that adds blocks may call it. A reader in the middle of a question gets the
        rest of its answer from the old one. A kill leaves one or the other, each whole: the log of
        the old one, which SQLite would take for that of the new one, is empty before it is removed.

        Args:
            other: The file of a whole index that nobody has open.

        Raises:
            UnavailableError: The medium failed; the old one is in use.
        """
        if not self.settle():
            return False
        with translated(f"index {self._path}", damaged=UnavailableError), self._lock:
            self._generation += 1
            self.close()
            for suffix in FILES[1:]:
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
            other.replace(self._path)
            sync_directory(self._path.parent)
            self._must_make = False
            self.rebuild = None
        return True

    def _of_trip(
        self, trip_id: str, sql: str, values: tuple[object, ...], tables: str
    ) -> list[tuple[Any, ...]]:
        with self.connection() as db:
            self.require()
            return asking.ask(db, self.cold, trip_id, sql, values, tables)

    def _rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with self.connection() as db:
            return db.execute(sql, values).fetchall()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection from a pool, which grows to the number in use at once.

        A connection for each thread would be too many: a web server's threads come and go.
        """
        with translated(f"index {self._path}", damaged=UnavailableError):
            generation = self._generation
            try:
                with as_sqlite3(APSW), self._lent() as connection:
                    yield connection
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                if self._drop(generation, str(error)):
                    self._on_rebuild()
                    with self._lock:
                        self._make_again()
                raise RebuildingError(
                    f"the index is damaged and is made again from the ledger: {error}"
                ) from error

    @contextmanager
    def _lent(self) -> Iterator[Connection]:
        with self._lock:
            self._make_again()
            generation = self._generation
            # The index is a cache: rows lost in a power cut come back from the ledger.
            connection = (
                self._idle.pop() if self._idle else connect_checked(self._path, Synchronous.NORMAL)
            )
        try:
            yield connection
        finally:
            with self._lock:
                if generation == self._generation:
                    self._idle.append(connection)
                else:  # of a file that was dropped
                    connection.close()

    def _open(self, *, worked_before: bool) -> None:
        """Open the file; make a missing one, and drop one that may not be believed."""
        if self._path.exists():
            try:
                with as_sqlite3(APSW):
                    reason = self._why_not()
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                reason = str(error)
        elif worked_before:
            reason = "its file is missing"
        else:
            self._make(rebuilding=False)
            return
        if reason:
            self._drop(self._generation, reason)
            with self._lock:
                self._make_again()

    def _why_not(self) -> str:
        """Open the file; return why it must be dropped, or "" if it is good."""
        if not self._path.stat().st_size:
            return "its file is empty"
        if not has_checksums(self._path):
            return "its pages have no checksums"
        if damage := damage_in_wal(self._path):
            return damage
        connection = connect_checked(self._path, Synchronous.NORMAL)
        self._idle.append(connection)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (mark,) = connection.execute("PRAGMA application_id").fetchone()
        if version != VERSION:  # 0: a kill or a full disk came between the file and its tables
            return f"it is of version {version}, and this program's is {VERSION}"
        connection.execute("SELECT max(block_num) FROM blocks").fetchall()
        if mark == REBUILDING:
            self.rebuild = Rebuild("it was dropped before the last start", now_ms())
        return ""

    def _drop(self, generation: int, reason: str) -> bool:
        """Believe the file no longer; False if another thread has dropped it."""
        with self._lock:
            if generation != self._generation:
                return False
            self._generation += 1
            self.rebuilds += 1
            self.rebuild = Rebuild(reason, now_ms())
            self._must_make = True
            self.close()
        _log.error("the index is dropped and made again from the ledger: %s", reason)
        return True

    def _make_again(self) -> None:
        """Put a new file in the place of a dropped one, unless that is done; needs the lock.

        A full disk may prevent it, so each question tries.
        """
        if self._must_make:
            for suffix in FILES:
                Path(f"{self._path}{suffix}").unlink(missing_ok=True)
            self._make(rebuilding=True)
            self._must_make = False

    def _make(self, *, rebuilding: bool) -> None:
        connection = connect_checked(self._path, Synchronous.NORMAL)
        mark = REBUILDING if rebuilding else 0
        try:
            with as_sqlite3(APSW):
                connection.execute(
                    f"BEGIN; {SCHEMA} INSERT INTO cold_home VALUES ('{token_hex(8)}', -1);"  # noqa: S608
                    f" PRAGMA user_version = {VERSION};"
                    f" PRAGMA application_id = {mark}; COMMIT;"
                ).fetchall()
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)


def _check_follows(db: Connection, rows: Rows) -> None:
    """Check that a block goes on top: the file may have been dropped since its head was asked."""
    (newest,) = db.execute("SELECT max(block_num) FROM blocks").fetchone()
    for block_num, *_ in rows.get("blocks", ()):
        if newest is not None and block_num != newest + 1:
            raise UnavailableError(f"expected block {newest + 1} for the index, got {block_num}")
        if newest is None and block_num:
            raise UnavailableError(f"expected block 0 for the empty index, got {block_num}")
