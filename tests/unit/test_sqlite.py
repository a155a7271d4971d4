"""A database of a version: made, brought up in whole steps, and left alone when it is newer."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from contracts.errors import UnavailableError
from contracts.sqlite import open_versioned

FIRST = "CREATE TABLE holds (name TEXT NOT NULL);"
SECOND = "ALTER TABLE holds ADD COLUMN since_ms INTEGER NOT NULL DEFAULT 7;"
BROKEN = "ALTER TABLE holds ADD COLUMN until_ms INTEGER; ALTER TABLE goods ADD COLUMN more;"


def columns(database: sqlite3.Connection) -> list[str]:
    return [name for _, name, *_ in database.execute("PRAGMA table_info(holds)")]


def version(database: sqlite3.Connection) -> int:
    return int(database.execute("PRAGMA user_version").fetchone()[0])


def test_a_new_file_takes_all_steps_and_no_step_twice(tmp_path: Path) -> None:
    for _ in range(2):
        with closing(open_versioned(tmp_path / "a.db", "holds", (FIRST, SECOND))) as database:
            assert (columns(database), version(database)) == (["name", "since_ms"], 2)


def test_an_older_file_keeps_what_it_has(tmp_path: Path) -> None:
    with closing(open_versioned(tmp_path / "a.db", "holds", (FIRST,))) as database:
        database.execute("INSERT INTO holds VALUES ('case')")
    with closing(open_versioned(tmp_path / "a.db", "holds", (FIRST, SECOND))) as database:
        assert database.execute("SELECT * FROM holds").fetchall() == [("case", 7)]


def test_a_step_that_fails_leaves_the_version_before(tmp_path: Path) -> None:
    open_versioned(tmp_path / "a.db", "holds", (FIRST,)).close()
    with pytest.raises(UnavailableError, match=r"^holds .*a\.db: no such table: goods$"):
        open_versioned(tmp_path / "a.db", "holds", (FIRST, BROKEN))
    with closing(open_versioned(tmp_path / "a.db", "holds", (FIRST,))) as database:
        assert (columns(database), version(database)) == (["name"], 1)


@pytest.mark.parametrize("other", [2, -1])
def test_another_version_is_refused(tmp_path: Path, other: int) -> None:
    with closing(open_versioned(tmp_path / "a.db", "holds", (FIRST,))) as database:
        database.execute(f"PRAGMA user_version = {other}")
    with pytest.raises(
        UnavailableError, match=rf"^holds .*a\.db has schema {other}, this version reads 1$"
    ):
        open_versioned(tmp_path / "a.db", "holds", (FIRST,))


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all" * 100)
    with pytest.raises(UnavailableError, match=r"^holds .*a\.db: file is not a database$"):
        open_versioned(tmp_path / "a.db", "holds", (FIRST,))
