"""SQLite as every process of ours uses it: write-ahead log, explicit transactions, our own errors.

`VersionedDatabase` keeps what must not be lost.

Source: SQLite, "PRAGMA synchronous" and "Write-Ahead Logging", durability.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, Final, Self

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.runtime.connection import Connect, Connection, ForeignErrors, Synchronous
from contracts.runtime.files import sync_directory
from contracts.runtime.schema import Schema

BUSY_S: Final = 30
"""Longest wait for another connection that writes, seconds."""
_AGAIN_S: Final = 0.01
PAGE_BYTES: Final = 4096
"""SQLite's own default, and a page of memory."""


class VersionedDatabase:
    """A SQLite file of one schema whose commits survive a power cut; safe in several threads.

    Attributes:
        path: The file.
    """

    def __init__(
        self,
        path: Path,
        schema: Schema,
        fill: Callable[[Connection], object] = lambda _: None,
        *,
        connect_to: Connect | None = None,
        foreign: ForeignErrors | None = None,
        mend: Callable[[str], bool] = lambda _: False,
    ) -> None:
        """Open the file at `path`, or create it. An older version takes all missing steps or none.

        Args:
            path: The file.
            schema: What it must be.
            fill: Adds the first rows, in the transaction that creates the tables.
            connect_to: Opens the file; by default `connect`.
            foreign: The errors of its connections, unless they are those of `sqlite3`.
            mend: Called without a connection when the file is found damaged, with the reason; puts
                a sound file in its place, or returns False.

        Raises:
            WaysealError: `schema.refused`: it is damaged, of another kind or of a newer version.
            UnavailableError: It cannot be opened.
        """
        self.path = path
        self._schema = schema
        self._lock = threading.RLock()
        self._in_transaction = False
        self._fill = fill
        self._connect_to = connect_to or connect
        self._foreign = foreign
        self._mend = mend
        self._generation = 0
        self._must_open = True
        with self._translated():
            self._opened()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._must_open = False
            with as_sqlite3(self._foreign):
                self._connection.close()

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows that a statement selects.

        Raises:
            WaysealError: `schema.refused`: the file is damaged.
            UnavailableError: The medium failed.
        """
        with self._lock, self._translated():
            try:
                with as_sqlite3(self._foreign):
                    return self._opened().execute(sql, values).fetchall()
            except sqlite3.Error as error:
                if self._in_transaction or not self._mended(error):
                    raise  # in a transaction: it is undone first, see there
                with as_sqlite3(self._foreign):
                    return self._connection.execute(sql, values).fetchall()

    @property
    def changes(self) -> int:
        """Return how many rows this process has changed since the file was opened."""
        ((count,),) = self.query("SELECT total_changes()")
        return int(count)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Commit durably what the block executes, all or nothing.

        Raises:
            WaysealError: `schema.refused`: the file is damaged.
            UnavailableError: The disk is full or the medium failed, a damaged file was mended, or
                the file was removed; nothing was changed.
        """
        with self._lock, self._translated():
            try:
                with as_sqlite3(self._foreign), transaction(self._opened()):
                    self._in_transaction = True
                    yield self._connection
                    self._in_place.require()
            except sqlite3.Error as error:
                self._in_transaction = False
                if self._mended(error):
                    raise UnavailableError(
                        f"{self._schema.what} {self.path} was damaged and is mended: try again"
                    ) from error
                raise
            finally:
                self._in_transaction = False

    def check(self) -> None:
        """Read the whole file, so that damage is found and mended before anybody needs the rows.

        Raises:
            WaysealError: `schema.refused`: the file is damaged and cannot be mended.
            UnavailableError: The medium failed.
        """
        with self._translated():
            with self._lock:
                generation = self._generation
            try:
                self._read_all()
            except sqlite3.Error as error:
                with self._lock:
                    if generation != self._generation:
                        return  # another thread has mended it since
                    if not self._mended(error):
                        raise

    def _read_all(self) -> None:
        """Read the file by its own connection, so that nobody waits for it."""
        with self._lock:  # not while a mend has the file away
            self._opened()
            self._in_place.require()  # or a new file would be made
            connection = self._connect_to(self.path, Synchronous.FULL)
        with as_sqlite3(self._foreign), closing(connection):
            found = connection.execute("PRAGMA quick_check(1)").fetchall()
        if found != [("ok",)]:
            raise sqlite3.DatabaseError(f"its pages contradict each other: {found[0][0]}")

    def _opened(self) -> Connection:
        """Return the connection; open the file first, again if a mend left it closed."""
        if self._must_open:
            try:
                self._open()
            except sqlite3.Error as error:
                if not is_damage(error) or not self._mend(str(error)):
                    raise
                self._generation += 1
                self._open()
        return self._connection

    def _open(self) -> None:
        self._connection = self._connect_to(self.path, Synchronous.FULL)
        try:
            with as_sqlite3(self._foreign), transaction(self._connection):
                self._schema.bring_up(self._connection, self.path, self._fill)
            sync_directory(self.path.parent)
            self._in_place = _InPlace(self._schema.what, self.path)
        except BaseException:
            self._connection.close()
            raise
        self._must_open = False

    def _mended(self, error: sqlite3.Error) -> bool:
        """Have a damaged file mended and open it again; return whether that was done."""
        if not is_damage(error):
            return False
        self._must_open = True
        with as_sqlite3(self._foreign):
            self._connection.close()
        mended = self._mend(str(error))
        self._generation += mended
        self._open()
        return mended

    def _translated(self) -> AbstractContextManager[None]:
        return translated(f"{self._schema.what} {self.path}", damaged=self._schema.refused)


class _InPlace:
    """Notices that an open database's files were removed or replaced.

    SQLite goes on writing to the old files, which nobody finds any more once the process ends: all
    that was committed since then would be lost without a word.

    Args:
        what: Names the database in messages.
        path: Its file, which must be open.

    Raises:
        OSError: It cannot be looked at.
    """

    def __init__(self, what: str, path: Path) -> None:
        self._what = what
        self._main = path
        self._log = Path(f"{path}-wal")
        self._known = {path: _identity(path)}

    def require(self) -> None:
        """Check that each file is the one that is open; the log from its first time on.

        Raises:
            UnavailableError: One of them is another one, or missing.
            OSError: It cannot be looked at.
        """
        for path in (self._main, self._log):
            found = _identity(path)
            if self._known.get(path, found) != found:
                raise UnavailableError(
                    f"{self._what}: {path} was removed or replaced while it was in use, so nothing "
                    f"more is kept in it; put the file back, or copy it from "
                    f"/proc/{os.getpid()}/fd before you restart this process"
                )
            if found is not None:
                self._known[path] = found


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def connect(
    path: Path, synchronous: Synchronous, *, page_bytes: int = PAGE_BYTES
) -> sqlite3.Connection:
    """Open or create the database at `path`; any one thread at a time may use the connection.

    Args:
        path: The file.
        synchronous: What a power cut may take.
        page_bytes: Size of the pages of a new file; an old one keeps its own.

    Raises:
        sqlite3.Error: See `translated`.
    """
    connection = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute(f"PRAGMA page_size = {page_bytes}")
        _begin_wal(connection)
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        # Debian's SQLite writes zeros over all that is deleted: a truck would write each trip once
        # more to delete it, while old bytes stay elsewhere on its card anyway.
        connection.execute("PRAGMA secure_delete = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _begin_wal(connection: sqlite3.Connection) -> None:
    """Switch a new file to its write-ahead log; wait while somebody else does.

    Of two that switch at once SQLite refuses one at once, whatever timeout was set.
    """
    give_up_s = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > give_up_s:
                raise
            time.sleep(_AGAIN_S)
        else:
            return


def is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error says that the file is not a sound database."""
    return type(error) is sqlite3.DatabaseError


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """Commit what the block executes, all or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back on some errors
            connection.execute("ROLLBACK")
        raise


@contextmanager
def as_sqlite3(foreign: ForeignErrors | None) -> Iterator[None]:
    """Turn the errors of another library into those of `sqlite3`, within the block."""
    try:
        yield
    except Exception as error:
        if foreign is None or not isinstance(error, foreign.root):
            raise
        raise foreign.as_sqlite3(error) from error


@contextmanager
def translated(what: str, *, damaged: type[WaysealError] = RejectedError) -> Iterator[None]:
    """Turn SQLite's errors into ours.

    Args:
        what: Names the database in messages.
        damaged: The error for a file that is not a sound database.

    Raises:
        UnavailableError: The disk is full, the medium failed, or another connection is writing.
    """
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        raise UnavailableError(f"{what}: {error}") from error
    except sqlite3.Error as error:
        raise damaged(f"{what}: {error}") from error


def changed_rows(connection: Connection) -> int:
    """Return how many rows the last statement changed, without those that triggers changed."""
    return int(connection.execute("SELECT changes()").fetchone()[0])


def used_bytes(query: Callable[[str], list[tuple[Any, ...]]]) -> int:
    """Return how many bytes of a database's file are in use; `query` returns rows."""
    pages, free, size = (
        int(query(f"PRAGMA {name}")[0][0]) for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
