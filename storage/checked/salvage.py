"""Copies the rows of a damaged database into a new one; a damaged page hurts its own rows alone.

Two connections read the damaged file: one verifies each page, the other reads what is there. A
table that the first reads to its end is sound. Otherwise the second tells the keys of its rows, and
the first is asked for each row alone. A row on a damaged page is kept only if its own content
proves it, such as by a signature.
"""

import shutil
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self

from contracts.runtime.connection import Connection
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import VersionedDatabase, as_sqlite3, transaction
from storage.checked.connection import (
    APSW,
    CHECKSUM_BYTES,
    connect_checked,
    open_checked,
    page_checksum,
    reading_damaged,
)

Row = tuple[Any, ...]
NAMED_MAX: Final = 5
"""Lost rows of a table that are named by their keys."""
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class Proofs:
    """How a kind of database proves or restores rows by their content.

    Attributes:
        rows: By table: returns the row to keep for one that was read from a damaged page, or None
            if nothing proves it. Columns are those of the table, in order.
        finish: Called with the new database, once all rows are in it.
    """

    rows: Mapping[str, Callable[[Row], Row | None]] = field(default_factory=dict)
    finish: Callable[[Connection], object] = lambda _: None


@dataclass(slots=True)
class Salvaged:
    """What became of the rows of a damaged database.

    Attributes:
        kept: How many rows are in the new file.
        lost: By table, the keys of the rows that are not.
    """

    kept: int = 0
    lost: dict[str, list[Row]] = field(default_factory=dict)

    def __str__(self) -> str:
        """Say it in words."""
        said = [f"{self.kept} rows are kept"]
        for table, keys in self.lost.items():
            named = ", ".join("/".join(map(_shown, key)) for key in keys[:NAMED_MAX])
            more = ", …" if len(keys) > NAMED_MAX else ""
            said.append(f"{len(keys)} of {table} are lost: {named}{more}")
        return "; ".join(said)


def salvage(damaged: Path, new: Path, schema: Schema, proofs: Proofs) -> Salvaged:
    """Make a database at `new` with every good row of the one at `damaged`, which stays.

    Raises:
        sqlite3.DatabaseError: Nothing can be read.
        sqlite3.OperationalError: The damaged file cannot be read now, or the new one not written.
        UnavailableError: The new file cannot be written.
        OSError: As for `sqlite3.OperationalError`.
    """
    with as_sqlite3(APSW), _readable(damaged) as source, _Pair(source) as pair:
        version = pair.version()
        if not 1 <= version <= schema.version:
            raise sqlite3.DatabaseError(f"it says that it is of version {version}")
        made = replace(schema, steps=schema.steps[:version])
        VersionedDatabase(new, made, connect_to=connect_checked, foreign=APSW).close()
        with closing(open_checked(new)) as target:
            found = Salvaged()
            # No log: a commit is in the file itself, or fails for want of room.
            if target.execute("PRAGMA journal_mode = DELETE").fetchall() != [("delete",)]:
                raise sqlite3.OperationalError(f"{new} keeps its write-ahead log")
            with transaction(target), _without_triggers(target):
                for table in _tables(target):
                    _copy(pair, target, table, proofs, found)
                _copy_sequences(pair.strict, target)
                proofs.finish(target)
            return found


class _Pair:
    """Both connections to a damaged file."""

    def __init__(self, path: Path) -> None:
        self.strict: Connection = open_checked(path)
        self.raw: Connection = open_checked(path, verify=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for each in (self.strict, self.raw):
            with suppress(sqlite3.Error), as_sqlite3(APSW):
                each.close()

    def version(self) -> int:
        with reading_damaged():
            return int(self.raw.execute("PRAGMA user_version").fetchone()[0])


@dataclass(frozen=True, slots=True)
class _Table:
    """One table: how to select its rows, and one row by its key."""

    name: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]

    @property
    def source(self) -> str:
        """Return the table, read without any of its indexes, which may be damaged."""
        return self.name if self.keys != ("rowid",) else f"{self.name} NOT INDEXED"

    def select(self, what: Sequence[str]) -> str:
        return f"SELECT {', '.join(what)} FROM {self.source}"  # noqa: S608 - our own tables

    def by_key(self) -> str:
        wanted = " AND ".join(f"{key} = ?" for key in self.keys)
        return f"{self.select(self.columns)} WHERE {wanted}"

    def insert(self) -> str:
        marks = ",".join("?" * len(self.columns))
        names = ", ".join(self.columns)
        return f"INSERT OR REPLACE INTO {self.name} ({names}) VALUES ({marks})"  # noqa: S608


def _tables(db: Connection) -> list[_Table]:
    names = db.execute(
        "SELECT name, sql LIKE '%WITHOUT ROWID%' FROM sqlite_master"
        " WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    ).fetchall()
    tables = []
    for name, without_rowid in names:
        about = db.execute(f"PRAGMA table_info({name})").fetchall()
        columns = tuple(row[1] for row in about)
        keys = tuple(row[1] for row in sorted(about, key=lambda row: row[5]) if row[5])
        tables.append(_Table(name, columns, keys if without_rowid else ("rowid",)))
    return tables


def _copy(pair: _Pair, target: Connection, table: _Table, proofs: Proofs, found: Salvaged) -> None:
    rows = 0
    target.execute("SAVEPOINT before")
    try:
        for some in _chunks(pair.strict, table):
            with as_sqlite3(APSW):
                target.executemany(table.insert(), some)
            rows += len(some)
    except sqlite3.OperationalError:  # of the new file, or of the moment
        raise
    except sqlite3.DatabaseError:
        target.execute("ROLLBACK TO before")  # a first row of the schema stays, unless it is found
        rows = _copy_each(pair, target, table, proofs, found)
    target.execute("RELEASE before")
    found.kept += rows


def _copy_sequences(strict: Connection, target: Connection) -> None:
    """Let AUTOINCREMENT go on behind all keys that were ever given, unless that page is damaged."""
    sequences = "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'"
    if not target.execute(sequences).fetchall():
        return
    with _unless_damaged():
        for name, last in strict.execute("SELECT name, seq FROM sqlite_sequence").fetchall():
            target.execute(
                "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (last, name)
            )
            target.execute(
                "INSERT INTO sqlite_sequence SELECT ?1, ?2 WHERE NOT EXISTS"
                " (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
                (name, last),
            )


def _chunks(strict: Connection, table: _Table) -> Iterator[list[Row]]:
    with reading_damaged():
        cursor = iter(strict.execute(table.select(table.columns)))
    while True:
        with reading_damaged():
            some = list(islice(cursor, _CHUNK))
        if not some:
            return
        yield some


def _copy_each(
    pair: _Pair, target: Connection, table: _Table, proofs: Proofs, found: Salvaged
) -> int:
    prove, kept = proofs.rows.get(table.name, lambda _: None), 0
    for key in _keys(pair.raw, table):
        row = _row(pair.strict, table, key)
        if row is None:
            raw = _row(pair.raw, table, key)
            row = _proved(prove, raw) if raw else None
        if row is not None and _inserted(target, table, row):
            kept += 1
        else:
            found.lost.setdefault(table.name, []).append(key)
    return kept


def _inserted(target: Connection, table: _Table, row: Row) -> bool:
    try:
        with as_sqlite3(APSW):
            target.execute(table.insert(), row)
    except (sqlite3.IntegrityError, ValueError, TypeError, OverflowError):
        return False
    return True


def _keys(raw: Connection, table: _Table) -> list[Row]:
    """Return the keys of all rows that can be reached from either end."""
    keys: dict[Row, None] = {}
    for order in ("ASC", "DESC"):
        by = ", ".join(f"{key} {order}" for key in table.keys)
        with _unless_damaged():
            cursor = raw.execute(f"{table.select(table.keys)} ORDER BY {by}")
            while (row := cursor.fetchone()) is not None:
                keys[tuple(row)] = None
    return list(keys)


def _row(db: Connection, table: _Table, key: Row) -> Row | None:
    row = None
    with _unless_damaged():
        row = db.execute(table.by_key(), key).fetchone()
    return tuple(row) if row is not None else None


@contextmanager
def _unless_damaged() -> Iterator[None]:
    """End the block where damage is met."""
    try:
        with reading_damaged():
            yield
    except sqlite3.OperationalError:
        raise
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        return


def _proved(prove: Callable[[Row], Row | None], raw: Row) -> Row | None:
    try:
        return prove(raw)
    except Exception:  # noqa: BLE001 - a damaged row may have any content
        return None


@contextmanager
def _without_triggers(db: Connection) -> Iterator[None]:
    """Take the triggers away for the block: the rows that they made are copied too."""
    triggers = db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        db.execute(f"DROP TRIGGER {name}")
    yield
    for _, sql in triggers:
        db.execute(sql)


@contextmanager
def _readable(path: Path) -> Iterator[Path]:
    """Yield the file, or, if its first page is damaged, a copy with a checksum that fits this page.

    Without its first page no other can be verified. The copy is believed only if SQLite finds all
    its tables and indexes consistent.
    """
    with path.open("rb") as file:
        head = file.read(100)
        size = int.from_bytes(head[16:18], "big")
        page = bytearray(head + file.read(max(size - 100, 0)))
    if len(page) != size or page[:16] != b"SQLite format 3\0":
        raise sqlite3.DatabaseError("its first page is not that of a database")
    page[20] = CHECKSUM_BYTES
    right = page_checksum(bytes(page))
    if page[-CHECKSUM_BYTES:] == right and head[20] == CHECKSUM_BYTES:
        yield path
        return
    copy = path.with_name(f"{path.name}.reading")
    try:
        _copy_with_head(path, copy, bytes(page[:-CHECKSUM_BYTES]) + right)
        with closing(open_checked(copy)) as db, reading_damaged():
            if db.execute("PRAGMA integrity_check(1)").fetchall() != [("ok",)]:
                raise sqlite3.DatabaseError("its first page is damaged")
        yield copy
    finally:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{copy}{suffix}").unlink(missing_ok=True)


def _copy_with_head(path: Path, copy: Path, head: bytes) -> None:
    shutil.copyfile(path, copy)
    with suppress(FileNotFoundError):
        shutil.copyfile(f"{path}-wal", f"{copy}-wal")
    with copy.open("r+b") as file:
        file.write(head)


def _shown(value: object) -> str:
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text[:64]
