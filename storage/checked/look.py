"""Reads a database that another process may have open, and changes nothing."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from contracts.errors import RejectedError
from contracts.runtime.connection import Connection
from contracts.runtime.schema import Schema
from contracts.runtime.sqlite import as_sqlite3, translated
from storage.checked.connection import APSW, open_checked


class LookedAt:
    """A database that is only read."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def query(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows that a statement selects.

        Raises:
            apsw.Error: Within `looking_at`, it becomes one of ours.
        """
        return self._connection.execute(sql, values).fetchall()


@contextmanager
def looking_at(path: Path, schema: Schema) -> Iterator[LookedAt]:
    """Open the database at `path` for reading, beside a process that has it open or without one.

    Without a write-ahead log nobody has it open: then it is read without locks and without the
    files that readers of such a log share, which would be left behind.

    Raises:
        RejectedError: It is damaged, of another kind, or of another version.
        UnavailableError: It is missing, or the medium failed.
    """
    with beside(schema.what, path) as connection:
        looked = LookedAt(connection)
        _check(path, schema, looked)
        yield looked


@contextmanager
def beside(what: str, path: Path) -> Iterator[Connection]:
    """Open the database at `path` as `looking_at` does, of whatever kind it is.

    Args:
        what: Names the kind in messages.
        path: The file.
    """
    with translated(f"{what} {path}"), as_sqlite3(APSW):
        unshared = not Path(f"{path}-wal").exists()
        with closing(open_checked(path, readonly=True, unshared=unshared)) as connection:
            yield connection


def _check(path: Path, schema: Schema, looked: LookedAt) -> None:
    try:
        version, kind = (
            int(looked.query(f"PRAGMA {name}")[0][0]) for name in ("user_version", "application_id")
        )
    except IndexError as error:
        raise sqlite3.DatabaseError("it has no header") from error
    if (version, kind) != (schema.version, schema.application_id):
        raise RejectedError(
            f"{schema.what} {path}: expected version {schema.version}, got {version}: "
            "another version of the gateway used it last"
        )
