"""Cold files: readings of old trips, each file written once and then never changed.

So a question reads it without a lock, a kill leaves the file whole or not there at all, and a file
may lie on a disk that is slow or read-only. An index names its files by a generation of its own:
files of another index, or of an older one, are never taken for its own.
"""

import hashlib
import re
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from contracts.errors import UnavailableError
from contracts.runtime.connection import Connection
from contracts.runtime.files import (
    created,
    disk_errors,
    give_to_owner_of,
    make_directory,
    sync_directory,
)
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
from storage.volumes.marker import Identity

ROWS_AT_ONCE: Final = 4096
"""Readings in memory at once."""
REINDEX: Final = "type wayseal-gateway reindex"
REMEDY: Final = f"put it back as it was, or {REINDEX}"
_NAME: Final = re.compile(r"(\d{6,})\.db")
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
    """What a cold file says of itself: the version, and whose file it is."""

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


class ColdFiles:
    """The folder of the cold files; a folder below it for each generation.

    Args:
        folder: Where they lie.
        memory: File in which the gateway remembers that it has used the folder, if that is on a
            disk that may be away, or that another gateway may see; its own id is beside it.
    """

    def __init__(self, folder: Path, memory: Path | None = None) -> None:
        self.folder = folder
        self._memory = memory
        self._identity = None if memory is None else Identity(folder, memory)

    def look(self) -> None:
        """Check that the folder is there if it was used, and that it is ours; write nothing.

        Raises:
            UnavailableError: It is away, another one, or another gateway's.
        """
        if self._identity is not None:
            with self._named():
                self._identity.look()
                self._identity.look_for_owner()

    def _take(self) -> None:
        """Make and mark the folder if it was never used; check it as `look` does."""
        if self._identity is None or self._memory is None:
            _make(self.folder)
            return
        with self._named():
            known = self._identity.known
            if not known:
                _make(self.folder)
                make_directory(self._memory.parent)
            self._identity.check()
            if not known:
                self._give(self._memory.parent)
                self._give(self.folder)

    def _give(self, folder: Path) -> None:
        """Let the gateway's user read the marks, if root made them."""
        with disk_errors("give away", folder):
            for each in folder.glob(".wayseal-*"):
                give_to_owner_of(folder, each)

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except UnavailableError as error:
            raise UnavailableError(
                f"folder of cold files {self.folder}: {error}; mount its disk if it is away"
            ) from error

    def of(self, generation: str) -> Path:
        """Return the folder of a generation."""
        return self.folder / generation

    def path(self, generation: str, file: int) -> Path:
        """Return where a file lies."""
        return self.of(generation) / f"{file:06}.db"

    def numbers(self, generation: str) -> list[int]:
        """Return the numbers of the files that are there, ascending.

        Raises:
            UnavailableError: The folder cannot be read.
        """
        folder = self.of(generation)
        with disk_errors("list", folder):
            names = [each.name for each in folder.iterdir()] if folder.is_dir() else []
        return sorted(int(found[1]) for found in map(_NAME.fullmatch, names) if found)

    def remove(self, generation: str, file: int) -> None:
        """Remove a file that no trip is in any more.

        Raises:
            UnavailableError: It cannot be removed.
        """
        path = self.path(generation, file)
        with disk_errors("remove", path):
            path.unlink(missing_ok=True)

    def remove_others(self, generation: str) -> int:
        """Remove the files of every other generation, and halves of files; return how many.

        In a folder that this gateway never used, those of others stay.

        Raises:
            UnavailableError: One cannot be removed, or the folder is away or another gateway's.
        """
        removed = 0
        if self._identity is not None and not self._identity.known:
            return removed
        self.look()
        with disk_errors("clear", self.folder):
            for folder in self.folder.iterdir() if self.folder.is_dir() else ():
                if not re.fullmatch(r"[0-9a-f]{16}", folder.name):
                    continue
                for each in folder.iterdir():
                    if folder.name != generation or each.name.startswith("."):
                        each.unlink()
                        removed += 1
                if folder.name != generation:
                    folder.rmdir()
        return removed

    def remove_all(self, generation: str) -> None:
        """Remove the files of one generation.

        Raises:
            UnavailableError: One cannot be removed.
        """
        folder = self.of(generation)
        with disk_errors("clear", folder):
            if folder.is_dir():
                for each in folder.iterdir():
                    each.unlink()
                folder.rmdir()

    def write(self, head: ColdHead, fill: Callable[[Connection], None]) -> Path:
        """Write a file; it appears under its name once it is whole and durable.

        Args:
            head: Which file.
            fill: Adds trips and their readings.

        Raises:
            UnavailableError: The disk is full, failed or away, or another gateway's; nothing of it
                stays.
        """
        path = self.path(head.generation, head.file)
        self._take()
        _make(path.parent)
        with created(path) as part:
            _fill(part, head, fill)
        return path

    def replace(self, head: ColdHead, fill: Callable[[Connection], None]) -> None:
        """Write a file in the place of one that is damaged or missing, as `write` does.

        Raises:
            UnavailableError: The disk is full, failed or away; nothing is changed.
        """
        path = self.path(head.generation, head.file)
        fresh = path.with_name(f".remade-{path.name}")
        self.look()
        with disk_errors("replace", path):
            if not path.parent.is_dir():
                raise UnavailableError(f"{path.parent} is missing: mount its disk, or {REINDEX}")
            fresh.unlink(missing_ok=True)
            with created(fresh) as part:
                _fill(part, head, fill)
            fresh.replace(path)
            sync_directory(path.parent)


def _make(folder: Path) -> None:
    with disk_errors("make", folder):
        if not folder.is_dir():
            make_directory(folder)
            give_to_owner_of(folder.parent, folder)
            sync_directory(folder.parent)


def _fill(part: Path, head: ColdHead, fill: Callable[[Connection], None]) -> None:
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
        head: What it must say of itself.

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
