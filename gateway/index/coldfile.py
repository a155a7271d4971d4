"""A cold file: readings of old trips, written once and then never changed.

So a question reads it without a lock, a kill leaves the file whole or not there at all, and a file
may lie on a disk that is slow or read-only. An index names its files by its own generation:
files of another index, or of an older one, are never taken for its own.
"""

import hashlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from contracts.errors import UnavailableError
from contracts.runtime.connection import Connection
from contracts.runtime.sqlite import as_sqlite3, translated
from gateway.index.readings import Row, insert_readings
from gateway.index.schema import COLD_SCHEMA, VERSION
from storage.checked.connection import (
    APSW,
    create_unchanging,
    has_checksums,
    open_checked,
    unchanging,
)

ROWS_AT_ONCE: Final = 4096
"""Readings in memory at once."""
REINDEX: Final = "run wayseal-gateway reindex"
REMEDY: Final = f"put it back as it was, or {REINDEX}"
_MAGIC: Final = b"SQLite format 3\x00"
_PAGE_SIZE: Final = slice(16, 18)
_PAGE_COUNT: Final = slice(28, 32)


class ColdError(UnavailableError):
    """Readings lie in a cold file that cannot be believed."""


class ColdTrip(NamedTuple):
    """A trip in a cold file.

    Attributes:
        trip: Its number in the index.
        readings: How many of it are in the file.
        sha256: Of their rows; see `Digest`.
        last: The position of the last.
        block_num: The block of the last.
        block_id: That block's id.
    """

    trip: int
    readings: int
    sha256: bytes
    last: int
    block_num: int
    block_id: str


class ColdHead(NamedTuple):
    """The first row of a cold file: its version, and the index that owns it."""

    version: int
    generation: str
    file: int
    genesis: str


class Digest:
    """The SHA-256 of rows of `kept_readings`, one after the other as Python's `repr` writes them.

    Attributes:
        rows: How many.
        last: The position of the last one.
        block_num: Its block.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.rows = 0
        self.last = 0
        self.block_num = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows, in the order of their positions."""
        self._hash.update("".join(map(repr, rows)).encode())
        self.rows += len(rows)
        if rows:
            self.last, self.block_num = rows[-1][1], rows[-1][-1]

    @property
    def sha256(self) -> bytes:
        """Return the digest of the rows so far."""
        return self._hash.digest()


def write_file(part: Path, head: ColdHead, fill: Callable[[Connection], None]) -> None:
    """Write a cold file.

    Args:
        part: Its path, until it is whole.
        head: Its first row: version and owner.
        fill: Adds trips and their readings.

    Raises:
        UnavailableError: The disk is full or failed.
    """
    with translated(f"cold file {part}"), as_sqlite3(APSW):
        part.unlink(missing_ok=True)  # of a process that was killed
        with closing(create_unchanging(part)) as db:
            db.execute(f"BEGIN; {COLD_SCHEMA}").fetchall()
            db.execute("INSERT INTO head VALUES (?, ?, ?, ?)", head)
            fill(db)
            db.execute("COMMIT")


def put_readings(db: Connection, pieces: Iterable[Sequence[Row]]) -> Digest:
    """Add a trip's readings, by position, to a file that is being written; return their digest."""
    digest = Digest()
    for rows in pieces:
        insert_readings(db, rows)
        digest.add(rows)
    return digest


def put_trip(db: Connection, trip: ColdTrip) -> None:
    """Note in a file that is being written which trip it has."""
    db.execute("INSERT INTO trips VALUES (?, ?, ?, ?, ?, ?)", trip)


def rows_in(db: Connection, trip: int, upto: int | None = None) -> Iterator[list[Row]]:
    """Yield a trip's rows of `kept_readings` by position, some at a time, up to a position."""
    after = -1
    sql = (
        "SELECT * FROM kept_readings WHERE trip = ? AND position > ? AND position <= ?"
        " ORDER BY position LIMIT ?"
    )
    most = (1 << 63) - 1 if upto is None else upto
    while rows := db.execute(sql, (trip, after, most, ROWS_AT_ONCE)).fetchall():
        yield rows
        after = rows[-1][1]


@contextmanager
def opened(path: Path, head: ColdHead) -> Iterator[Connection]:
    """Open a cold file for reading.

    Args:
        path: The file.
        head: The first row that it must have.

    Raises:
        ColdError: It is missing, damaged, or another file.
    """
    try:
        check_there(path)
        with as_sqlite3(APSW), closing(open_checked(path, readonly=True, unshared=True)) as db:
            check_head(db, "main", path, head)
            yield db
    except OSError as error:
        raise _unreadable(path, error) from error
    except sqlite3.Error as error:
        raise damaged(path, error) from error


def attach(db: Connection, path: Path) -> None:
    """Attach a cold file to an index's connection, as `cold`.

    Raises:
        ColdError: It is missing, or its first page is damaged.
        sqlite3.Error: It cannot be opened.
    """
    check_there(path)
    db.execute("ATTACH ? AS cold", (unchanging(path),))


def check_there(path: Path) -> None:
    """Check that a file is there and as long as its first page says.

    Raises:
        ColdError: It is not.
    """
    try:
        with path.open("rb") as file:
            head = file.read(100)
        found = path.stat().st_size
        if head[: len(_MAGIC)] != _MAGIC or not has_checksums(path):
            raise damaged(path, "its first page is damaged")
    except FileNotFoundError as error:
        away = "" if path.parents[1].is_dir() else "mount its disk, "
        raise ColdError(f"cold file {path} is missing: {away}{REMEDY}") from error
    except OSError as error:
        raise _unreadable(path, error) from error
    except sqlite3.Error as error:
        raise damaged(path, error) from error
    page = int.from_bytes(head[_PAGE_SIZE], "big")
    expected = int.from_bytes(head[_PAGE_COUNT], "big") * (65536 if page == 1 else page)
    if found != expected:
        raise damaged(path, f"expected {expected} bytes, got {found}")


def check_head(db: Connection, database: str, path: Path, expected: ColdHead) -> None:
    """Check that a file is the one that its place and name say.

    Raises:
        ColdError: It is another one.
    """
    row: Any = db.execute(f"SELECT * FROM {database}.head").fetchone()  # noqa: S608
    if row != expected:
        got = ColdHead(*row) if row else None
        raise ColdError(
            f"cold file {path} is not of this index: expected {expected}, got {got}: {REMEDY}"
        )


def head_of(db: Connection, file: int) -> ColdHead:
    """Return what a cold file of an index must say of itself; `db` is the index."""
    ((generation, genesis),) = db.execute(
        "SELECT generation, (SELECT block_id FROM blocks WHERE block_num = 0) FROM cold_home"
    ).fetchall()
    return ColdHead(VERSION, generation, file, genesis or "")


def damaged(path: Path, fault: object) -> ColdError:
    """Return the error for a file that does not answer."""
    return ColdError(f"cold file {path} is damaged: {fault}: {REMEDY}")


def _unreadable(path: Path, fault: OSError) -> ColdError:
    """Return the error for a file that may be whole, but cannot be read now."""
    return ColdError(
        f"cold file {path} cannot be read: {fault.strerror}: look at its disk and rights, {REMEDY}"
    )
