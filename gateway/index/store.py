"""The index's file: blocks go in one by one, each in one transaction with its height."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from contracts.errors import UnavailableError
from gateway.index.projection import Rows
from gateway.index.schema import SCHEMA, TABLES, VERSION


class IndexStore:
    """A SQLite file; one writer, and readers that see whole blocks only."""

    def __init__(self, path: Path) -> None:
        """Open the index at `path`; one of another version is a cache and is made anew.

        Raises:
            UnavailableError: The file cannot be opened.
        """
        self._path = path
        self._local = threading.local()
        self._connections: list[sqlite3.Connection] = []
        with _translated():
            (version,) = self.db.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                self.close()
                for suffix in ("", "-wal", "-shm"):
                    Path(f"{path}{suffix}").unlink(missing_ok=True)
                version = 0
            if version == 0:
                self.db.executescript(f"BEGIN; {SCHEMA} PRAGMA user_version={VERSION}; COMMIT;")

    @property
    def db(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "db", None)
        if connection is None:
            connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
            connection.execute("PRAGMA journal_mode=WAL")
            # A cache: what a power cut takes from it comes back from the ledger.
            connection.execute("PRAGMA synchronous=NORMAL")
            self._local.db = connection
            self._connections.append(connection)
        return connection

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._local = threading.local()

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
        with _translated(), self.db as db:
            db.execute("BEGIN")
            for table, entries in rows.items():
                if entries:
                    marks = ",".join("?" * len(entries[0]))
                    db.executemany(
                        f"INSERT INTO {table} VALUES ({marks})",  # noqa: S608
                        entries,
                    )

    def cut(self, block_num: int) -> None:
        """Take out every block above `block_num`."""
        with _translated(), self.db as db:
            db.execute("BEGIN")
            for table in TABLES:
                db.execute(f"DELETE FROM {table} WHERE block_num > ?", (block_num,))  # noqa: S608

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return all rows of a question."""
        with _translated():
            return self.db.execute(sql, values).fetchall()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise UnavailableError(f"index: {error}") from error
