"""What a reader with grants sees of the index: nothing of any table, unless it is open to all."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from contracts.runtime.connection import Synchronous
from gateway.index.store import IndexStore
from gateway.records.sight import GrantedIndex
from storage.checked.connection import connect_checked

OPEN: Final = {"blocks", "certificates", "keys", "parties", "sites"}
"""Who takes part in a network is no secret within it, nor are the ids of its blocks."""
BLANK: Final = {"TEXT": "x", "INTEGER": 1, "BLOB": b"x", "REAL": 1.0}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[IndexStore]:
    """An index with a row in each table."""
    made = IndexStore(tmp_path / "index.db")
    with closing(made):
        yield made


def filled(path: Path) -> list[str]:
    """Put a row into each table of an index; return the tables."""
    with closing(connect_checked(path, Synchronous.FULL)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        names = [name for (name,) in tables if not name.startswith("sqlite_")]
        for name in names:
            columns = db.execute(f"PRAGMA table_info({name})").fetchall()
            row = [BLANK[column[2].upper() or "BLOB"] for column in columns]
            marks = ", ".join("?" * len(row))
            db.execute(f"INSERT OR IGNORE INTO {name} VALUES ({marks})", row).fetchall()  # noqa: S608
    return names


def test_a_reader_without_grants_sees_only_the_network(index: IndexStore, tmp_path: Path) -> None:
    tables = filled(tmp_path / "index.db")
    granted = GrantedIndex(index, frozenset())
    for table in tables:
        question = f"SELECT count(*) FROM {table}"  # noqa: S608
        assert index.query(question) != [(0,)], f"{table} has no row to hide"
        assert (granted.query(question) != [(0,)]) == (table in OPEN), table
    assert set(tables) > OPEN
