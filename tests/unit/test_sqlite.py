"""A database of a version: created, upgraded in whole steps, refused when it is another."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING

import pytest

from contracts.errors import RejectedError, UnavailableError, WaysealError
from contracts.runtime.connection import Connection, Synchronous
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import VersionedDatabase, connect

if TYPE_CHECKING:
    from collections.abc import Callable

FIRST = "CREATE TABLE holds (name TEXT NOT NULL DEFAULT ';'); -- one; and only\n"
SECOND = "ALTER TABLE holds ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 7;"
BROKEN = "ALTER TABLE holds ADD COLUMN until_ms INTEGER; ALTER TABLE goods ADD COLUMN more;"
ONE, TWO = Schema("holds", (FIRST,)), Schema("holds", (FIRST, SECOND))
OPENERS = 4
MARKED = replace(ONE, application_id=0x57, refused=RejectedError)


def columns(database: VersionedDatabase) -> list[str]:
    return [name for _, name, *_ in database.query("PRAGMA table_info(holds)")]


def version(database: VersionedDatabase) -> int:
    return int(database.query("PRAGMA user_version")[0][0])


def test_a_new_file_takes_all_steps_and_no_step_twice(tmp_path: Path) -> None:
    for _ in range(2):
        with VersionedDatabase(tmp_path / "a.db", TWO) as database:
            assert (columns(database), version(database)) == (["name", "since_ms"], 2)


def test_an_older_file_keeps_what_it_has(tmp_path: Path) -> None:
    with VersionedDatabase(tmp_path / "a.db", ONE) as database:
        database.query("INSERT INTO holds VALUES ('case')")
    with VersionedDatabase(tmp_path / "a.db", TWO) as database:
        assert database.query("SELECT * FROM holds") == [("case", 7)]


def test_a_step_that_fails_leaves_the_version_before(tmp_path: Path) -> None:
    VersionedDatabase(tmp_path / "a.db", ONE).close()
    with pytest.raises(UnavailableError, match=r"^holds .*a\.db: no such table: goods$"):
        VersionedDatabase(tmp_path / "a.db", replace(ONE, steps=(FIRST, BROKEN)))
    with VersionedDatabase(tmp_path / "a.db", ONE) as database:
        assert (columns(database), version(database)) == (["name"], 1)


def test_first_rows_come_with_the_tables_or_neither_does(tmp_path: Path) -> None:
    def fill(connection: Connection) -> None:
        connection.execute("INSERT INTO holds VALUES ('first')")
        if not filled:
            filled.append(1)
            raise KeyboardInterrupt

    filled: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        VersionedDatabase(tmp_path / "a.db", MARKED, fill)
    for _ in range(2):
        with VersionedDatabase(tmp_path / "a.db", MARKED, fill) as database:
            assert database.query("SELECT * FROM holds") == [("first",)]


@pytest.mark.parametrize(
    ("other", "said"), [(2, "got 2: a newer program wrote it"), (0, "got 0"), (-1, "got -1")]
)
def test_another_version_is_refused(tmp_path: Path, other: int, said: str) -> None:
    with VersionedDatabase(tmp_path / "a.db", ONE) as database:
        database.query(f"PRAGMA user_version = {other}")
    with pytest.raises(
        UnavailableError, match=rf"^holds .*a\.db: expected version 1 to 1, {said}$"
    ):
        VersionedDatabase(tmp_path / "a.db", ONE)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    VersionedDatabase(tmp_path / "a.db", ONE).close()
    with pytest.raises(
        RejectedError,
        match=r"a\.db: expected application id 0x57, got 0x0: the file holds something else$",
    ):
        VersionedDatabase(tmp_path / "a.db", MARKED)


@pytest.mark.parametrize("refused", [RejectedError, UnavailableError])
def test_a_file_that_is_no_database_is_named(tmp_path: Path, refused: type[WaysealError]) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(refused, match=r"^holds .*a\.db: file is not a database$"):
        VersionedDatabase(tmp_path / "a.db", replace(ONE, refused=refused))


def test_two_checks_that_find_the_same_damage_mend_once(tmp_path: Path) -> None:
    meanwhile: list[Callable[[], None]] = []
    reasons: list[str] = []

    class Rotten(sqlite3.Connection):
        def execute(self, *_: object) -> sqlite3.Cursor:
            meanwhile.pop()()
            raise sqlite3.DatabaseError("rot")

    def connect_to(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
        return Rotten(path) if meanwhile else connect(path, synchronous)

    def mend(reason: str) -> bool:
        reasons.append(reason)
        return True

    with VersionedDatabase(tmp_path / "a.db", ONE, connect_to=connect_to, mend=mend) as database:
        meanwhile[:] = [lambda: None, database.check]
        database.check()
        assert columns(database) == ["name"]
    assert reasons == ["rot"]


def test_a_mend_that_fails_is_tried_again(tmp_path: Path) -> None:
    full = [True]
    path, copy = tmp_path / "a.db", tmp_path / "copy.db"
    VersionedDatabase(copy, ONE).close()

    def mend(_: str) -> bool:
        if full:
            raise UnavailableError("disk full")
        copy.replace(path)
        return True

    with VersionedDatabase(path, ONE, mend=mend) as database:
        database.query("INSERT INTO holds VALUES ('case')")
    path.write_bytes(path.read_bytes()[:4096] + bytes(path.stat().st_size - 4096))
    with VersionedDatabase(path, ONE, mend=mend) as database:
        for _ in range(2):
            with pytest.raises(UnavailableError, match="disk full"):
                database.query("SELECT * FROM holds")
        full.clear()
        assert database.query("SELECT * FROM holds") == []


def test_a_new_file_is_opened_by_several_at_once(tmp_path: Path) -> None:
    """SQLite refuses one of two that switch a file to its write-ahead log, without waiting."""
    together = Barrier(OPENERS)

    def opened(path: Path) -> list[str]:
        together.wait()
        with VersionedDatabase(path, ONE) as database:
            return columns(database)

    with ThreadPoolExecutor(OPENERS) as pool:
        for number in range(30):
            path = tmp_path / f"{number}.db"
            assert list(pool.map(opened, [path] * OPENERS)) == [["name"]] * OPENERS


def test_what_is_deleted_is_not_written_once_more(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with closing(connect(path, Synchronous.FULL)) as db:
        db.execute("CREATE TABLE batches (number INTEGER PRIMARY KEY, wire BLOB)")
        db.execute("INSERT INTO batches VALUES (1, randomblob(1 << 20))")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        db.execute("DELETE FROM batches WHERE number = 1")
        assert Path(f"{path}-wal").stat().st_size < 1 << 16
