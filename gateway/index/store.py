"""The index's file: blocks go in one by one, each in one transaction with its height."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contracts.errors import UnavailableError
from contracts.sqlite import Synchronous, connect, transaction, translated
from gateway.index.projection import Rows
from gateway.index.schema import SCHEMA, SORT_IN, SORT_IN_BLOCKS, TABLES, VERSION


class IndexStore:
    """A SQLite file; one writer, and readers, in any thread, that see whole blocks only."""

    def __init__(self, path: Path) -> None:
        """Open the index at `path`; a damaged one, or one of another version, is made anew.

        Raises:
            UnavailableError: The file cannot be opened.
        """
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        with translated(f"index {path}", damaged=UnavailableError):
            if not self._is_current():
                self._make_anew()

    def close(self) -> None:
        """Close the connections; nobody uses one any more."""
        while self._idle:
            self._idle.pop().close()

    def head(self) -> tuple[int, str] | None:
        """Return number and id of the newest block that is in, or None."""
        rows = self.query("SELECT block_num, block_id FROM blocks ORDER BY block_num DESC LIMIT 1")
        return (rows[0][0], rows[0][1]) if rows else None

    def block_id(self, block_num: int) -> str | None:
        """Return the id of a block that is in, or None."""
        rows = self.query("SELECT block_id FROM blocks WHERE block_num = ?", block_num)
        return str(rows[0][0]) if rows else None

    def add(self, rows: Rows) -> None:
        """Add one block's rows, all or none."""
        with self._connection() as db, transaction(db):
            for table, entries in rows.items():
                if entries:
                    marks = ",".join("?" * len(entries[0]))
                    db.executemany(
                        f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608
                        entries,
                    )
            (newest,) = db.execute("SELECT IFNULL(MAX(block_num), 0) FROM blocks").fetchone()
            if newest % SORT_IN_BLOCKS == 0:
                for statement in SORT_IN:
                    db.execute(statement)

    def cut(self, block_num: int) -> None:
        """Take out every block above `block_num`."""
        with self._connection() as db, transaction(db):
            for table in TABLES:
                db.execute(f"DELETE FROM {table} WHERE block_num > ?", (block_num,))  # noqa: S608

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a question."""
        with self._connection() as db:
            return db.execute(sql, values).fetchall()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Lend a connection: as many are open as were ever in use at once.

        Not one for each thread: a web server's threads come and go.
        """
        with translated("index", damaged=UnavailableError):
            try:
                connection = self._idle.pop()
            except IndexError:
                # A cache: what a power cut takes from it comes back from the ledger.
                connection = connect(self._path, Synchronous.NORMAL)
            try:
                yield connection
            finally:
                self._idle.append(connection)

    def _is_current(self) -> bool:
        try:
            connection = connect(self._path, Synchronous.NORMAL)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError:
            return False
        self._idle.append(connection)
        return bool(connection.execute("PRAGMA user_version").fetchone() == (VERSION,))

    def _make_anew(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self._path}{suffix}").unlink(missing_ok=True)
        with self._connection() as db:
            db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")
