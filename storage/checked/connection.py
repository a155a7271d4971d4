"""Adapter: SQLite with a checksum in each page, verified whenever a page is read from its file.

The only importer of apsw, which brings SQLite's checksum VFS; Python's own `sqlite3` cannot load
it. A page that does not fit its checksum is damage: `sqlite3.DatabaseError`, as for any file that
is not a sound database. So callers handle the errors of one library.

The last 8 bytes of a page are its checksum. Other programs can read such a file, but a page that
they write has no valid checksum.

Source: SQLite, "The Checksum VFS Shim" (cksumvfs) and "Database File Format", 1.3.
"""

import sqlite3
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

import apsw
import apsw.sqlite_extra

from contracts.runtime.connection import Synchronous
from contracts.runtime.sqlite import BUSY_S

CHECKSUM_BYTES: Final = 8
"""At the end of each page, also the number that byte 20 of the file has."""
_PAGE_BYTES_MIN: Final = 512
_EXTENSION: Final = "cksumvfs"
_VFS: Final = "cksmvfs"
_DAMAGE: Final = {
    apsw.SQLITE_CORRUPT,
    apsw.SQLITE_NOTADB,
    apsw.SQLITE_IOERR_DATA,
    apsw.SQLITE_IOERR_CORRUPTFS,
    apsw.SQLITE_IOERR_SHORT_READ,
}
_OF_CONTENT: Final = {apsw.SQLITE_ERROR, apsw.SQLITE_TOOBIG, apsw.SQLITE_IOERR_READ}
_loading: Final = threading.Lock()


class CheckedCursor:
    """The rows of one statement; see `contracts.runtime.sqlite.Cursor`."""

    def __init__(self, cursor: apsw.Cursor, rowcount: int) -> None:
        self._cursor = cursor
        self.rowcount = rowcount

    def __iter__(self) -> Iterator[Any]:
        """Yield the rows that are left."""
        while (row := self.fetchone()) is not None:
            yield row

    def fetchone(self) -> Any:  # noqa: ANN401 - a row has columns of any type, as in sqlite3
        """Return the next row, or None after the last one."""
        with _translated():
            return self._cursor.fetchone()

    def fetchmany(self, size: int) -> list[Any]:
        """Return the next rows, at most `size`."""
        with _translated():
            return list(islice(self._cursor, size))

    def fetchall(self) -> list[Any]:
        """Return all rows that are left."""
        with _translated():
            return self._cursor.fetchall()


class CheckedConnection:
    """A connection that verifies each page; see `contracts.runtime.sqlite.Connection`.

    Any one thread at a time may use it.

    Args:
        path: The file; created if missing, with checksums.
        readonly: Whether to refuse writes; a missing file is then an error.
        verify: Whether to read pages whose checksum is wrong too, when False.
        unshared: With `readonly`, whether nobody has the file open: it is read without locks.

    Raises:
        sqlite3.Error: It cannot be opened.
    """

    def __init__(
        self, path: Path, *, readonly: bool = False, verify: bool = True, unshared: bool = False
    ) -> None:
        _load()
        flags = (
            apsw.SQLITE_OPEN_READONLY
            if readonly
            else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        )
        with _translated():
            name = str(path)
            if unshared:
                name, flags = (
                    f"{path.absolute().as_uri()}?immutable=1",
                    flags | apsw.SQLITE_OPEN_URI,
                )
            self._db = apsw.Connection(name, flags=flags, vfs=_VFS)
            self._db.set_busy_timeout(BUSY_S * 1000)
            if not verify:
                self._db.execute("PRAGMA checksum_verification = OFF").fetchall()

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        return self._db.in_transaction

    @property
    def total_changes(self) -> int:
        """How many rows were changed since the connection was opened."""
        return self._db.total_changes()

    def execute(self, sql: str, parameters: Any = (), /) -> CheckedCursor:  # noqa: ANN401
        """Execute statements up to the first row."""
        with _translated():
            before = self._db.total_changes()
            cursor = self._db.execute(sql, parameters)
            return CheckedCursor(cursor, self._db.total_changes() - before)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> None:
        """Execute one statement for each of many values."""
        with _translated():
            self._db.executemany(sql, parameters)

    def reserve_checksums(self) -> None:
        """Give the pages room for their checksums: at once for a new file, else at a VACUUM."""
        with _translated():
            self._db.reserve_bytes("main", CHECKSUM_BYTES)

    def close(self) -> None:
        """Close it; a transaction that is open is rolled back."""
        with _translated():
            self._db.close()


def connect_checked(path: Path, synchronous: Synchronous) -> CheckedConnection:
    """Open or create the database at `path`; a new file gets checksums.

    Raises:
        sqlite3.Error: See `contracts.runtime.sqlite.translated`.
    """
    connection = CheckedConnection(path)
    try:
        if connection.execute("PRAGMA page_count").fetchone() == (0,):
            connection.reserve_checksums()
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute(f"PRAGMA synchronous = {synchronous}").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def reading_damaged() -> Iterator[None]:
    """Take every error that the content of a damaged file can cause for damage.

    A table may be missing, a row too long, a sector unreadable. Other errors are of the moment: a
    full disk, too many open files, another connection that writes.

    Raises:
        sqlite3.DatabaseError: The file is damaged.
        sqlite3.OperationalError: It cannot be read now.
    """
    try:
        yield
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode
        if not _OF_CONTENT & {code, code & 0xFF}:
            raise
        raise sqlite3.DatabaseError(str(error)) from error


def give_checksums(path: Path) -> None:
    """Write a file again that has no checksums, with checksums; nobody may have it open.

    Raises:
        sqlite3.OperationalError: The disk is full or failed; the file is as it was.
        sqlite3.DatabaseError: It is damaged.
    """
    connection = CheckedConnection(path, verify=False)
    try:
        connection.reserve_checksums()
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("VACUUM").fetchall()
    finally:
        connection.close()


def has_checksums(path: Path) -> bool:
    """Return whether the file has checksums; nobody in this process may have it open.

    For closing a file takes away every lock that its process has on it (POSIX, fcntl).

    A first page whose checksum would be right with another byte 20 has lost that byte: SQLite would
    not verify anything. One with zeros in place of the checksum was written by another program, as
    in a copy by VACUUM INTO.

    Raises:
        sqlite3.DatabaseError: That byte is damaged.
    """
    with path.open("rb") as file:
        head = file.read(100)
        if not head:
            return False
        size = int.from_bytes(head[16:18], "big")
        page = bytearray(head + file.read(max(size - len(head), 0)))
    if len(page) != size or size < _PAGE_BYTES_MIN or size & (size - 1):
        return True  # SQLite says what is wrong with it
    if head[20] == CHECKSUM_BYTES:
        return any(page[-CHECKSUM_BYTES:])
    page[20] = CHECKSUM_BYTES
    if page_checksum(bytes(page)) == page[-CHECKSUM_BYTES:]:
        raise sqlite3.DatabaseError("the number of reserved bytes in the header is damaged")
    return False


def page_checksum(page: bytes) -> bytes:
    """Return the checksum of a page, of which the last 8 bytes do not count.

    Source: SQLite, ext/misc/cksumvfs.c, cksmCompute.
    """
    first = second = 0
    words = memoryview(page)[:-CHECKSUM_BYTES].cast("I")
    for at in range(0, len(words), 2):
        first = (first + words[at] + second) & 0xFFFFFFFF
        second = (second + words[at + 1] + first) & 0xFFFFFFFF
    return first.to_bytes(4, "little") + second.to_bytes(4, "little")


def _load() -> None:
    """Load the checksum VFS into apsw's SQLite, once for this process."""
    with _loading:
        if _VFS in apsw.vfs_names():
            return
        with apsw.Connection(":memory:") as scratch:
            apsw.sqlite_extra.load(scratch, _EXTENSION)
        scratch.close()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn apsw's errors into those of `sqlite3`."""
    try:
        yield
    except apsw.Error as error:
        raise _as_sqlite3(error) from error


def _as_sqlite3(error: apsw.Error) -> sqlite3.Error:
    code = getattr(error, "extendedresult", getattr(error, "result", 0))
    if _DAMAGE & {code, code & 0xFF}:
        return sqlite3.DatabaseError(f"{error} (damaged: {_name(code)})")
    if isinstance(error, apsw.ConstraintError):
        return sqlite3.IntegrityError(str(error))
    translated = sqlite3.OperationalError(str(error))
    translated.sqlite_errorcode = code
    return translated


def _name(code: int) -> str:
    names = apsw.mapping_extended_result_codes | apsw.mapping_result_codes
    return str(names.get(code, code))
