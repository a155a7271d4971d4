"""Adapter: SQLite with a checksum in each page, verified whenever a page is read from its file.

The only importer of apsw, which brings SQLite's checksum VFS; Python's own `sqlite3` cannot load
it. Connections are apsw's own and raise its errors; `as_sqlite3(APSW)` turns them into those of
`sqlite3`, so that callers handle the errors of one library. A page that does not fit its checksum
is damage: `sqlite3.DatabaseError`, as for any file that is not a sound database.

The last 8 bytes of a page are its checksum. Other programs can read such a file, but a page that
they write has no valid checksum.

Source: SQLite, "The Checksum VFS Shim" (cksumvfs) and "Database File Format", 1.3.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import apsw
import apsw.sqlite_extra

from contracts.runtime.connection import Connection, ForeignErrors, Synchronous
from contracts.runtime.sqlite import BUSY_S, as_sqlite3

CHECKSUM_BYTES: Final = 8
"""At the end of each page, also the number that byte 20 of the file has."""
LOG_KEPT_BYTES: Final = 64 << 20
"""What stays of a write-ahead log that was longer; a start reads the whole log for damage."""
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


def open_checked(
    path: Path, *, readonly: bool = False, verify: bool = True, unshared: bool = False
) -> apsw.Connection:
    """Open a connection that verifies each page; any one thread at a time may use it.

    Args:
        path: The file; created if missing.
        readonly: Whether to refuse writes; a missing file is then an error.
        verify: Whether to read pages whose checksum is wrong too, when False.
        unshared: With `readonly`, whether nobody has the file open: it is read without locks.

    Raises:
        sqlite3.Error: It cannot be opened. The connection itself raises what `APSW` names.
    """
    _load()
    name = str(path)
    flags = (
        apsw.SQLITE_OPEN_READONLY
        if readonly
        else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
    )
    if unshared:
        name = unchanging(path)
    flags |= apsw.SQLITE_OPEN_URI  # also for the names of files that are attached later
    with as_sqlite3(APSW):
        connection = apsw.Connection(name, flags=flags, vfs=_VFS)
        connection.set_busy_timeout(BUSY_S * 1000)
        if not verify:
            connection.execute("PRAGMA checksum_verification = OFF").fetchall()
    return connection


def unchanging(path: Path) -> str:
    """Return the name by which SQLite reads a file that nobody changes: without locks or a log."""
    return f"{path.absolute().as_uri()}?mode=ro&immutable=1"


def create_unchanging(path: Path) -> apsw.Connection:
    """Create a file, with checksums, that is written once and then never changed.

    It has no journal: a kill leaves half a file, which its writer must not have published.

    Raises:
        sqlite3.Error: See `open_checked`.
    """
    connection = open_checked(path)
    try:
        with as_sqlite3(APSW):
            _reserve_checksums(connection)
            connection.execute("PRAGMA journal_mode = OFF").fetchall()
            connection.execute("PRAGMA synchronous = OFF").fetchall()
            # The VFS adds checksums from the first page on: pages of a transaction that outgrows
            # its cache are written before that page, so it is written now.
            connection.execute("PRAGMA user_version = 1").fetchall()
    except BaseException:
        connection.close()
        raise
    return connection


def connect_checked(path: Path, synchronous: Synchronous) -> Connection:
    """Open or create the database at `path`; a new file gets checksums.

    Raises:
        sqlite3.Error: See `open_checked`.
    """
    connection = open_checked(path)
    try:
        with as_sqlite3(APSW):
            if connection.execute("PRAGMA page_count").fetchone() == (0,):
                _reserve_checksums(connection)
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute(f"PRAGMA synchronous = {synchronous}").fetchall()
            connection.execute(f"PRAGMA journal_size_limit = {LOG_KEPT_BYTES}").fetchall()
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
        with as_sqlite3(APSW):
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
    with as_sqlite3(APSW), closing(open_checked(path, verify=False)) as connection:
        _reserve_checksums(connection)
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        connection.execute("VACUUM").fetchall()


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
        return True  # SQLite names its fault
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


def pages_read(connection: Connection) -> int:
    """Return how many pages a connection from here has read from its file since it was opened.

    Each is also verified. Pages that are in the connection's own cache are not read.
    """
    if not isinstance(connection, apsw.Connection):
        raise TypeError(f"expected a connection of apsw, got {type(connection).__name__}")
    (read, _) = connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)
    return int(read)


def _load() -> None:
    """Load the checksum VFS into apsw's SQLite, once for this process."""
    with _loading:
        if _VFS in apsw.vfs_names():
            return
        with apsw.Connection(":memory:") as scratch:
            apsw.sqlite_extra.load(scratch, _EXTENSION)
        scratch.close()


def _reserve_checksums(connection: apsw.Connection) -> None:
    """Give the pages room for their checksums: at once for a new file, else at a VACUUM."""
    connection.reserve_bytes("main", CHECKSUM_BYTES)


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


APSW: Final = ForeignErrors(apsw.Error, _as_sqlite3)
"""What every call of a connection from here may raise."""
