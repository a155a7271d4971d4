"""SQLite as device and gateway use it: a write-ahead log, explicit transactions, our own errors.

Source: SQLite, "PRAGMA synchronous" and "Write-Ahead Logging", durability.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Final

from contracts.errors import RejectedError, UnavailableError, WaysealError

BUSY_S: Final = 30
"""Longest wait for another connection that writes, seconds."""


class Synchronous(StrEnum):
    """What a power cut may take: nothing that was committed, or the last commits."""

    FULL = "FULL"
    NORMAL = "NORMAL"


def connect(path: Path, synchronous: Synchronous) -> sqlite3.Connection:
    """Open the database at `path`, or make it; any one thread at a time may use the connection.

    Raises:
        sqlite3.Error: As SQLite says it; see `translated`.
    """
    connection = sqlite3.connect(
        path, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
    except BaseException:
        connection.close()
        raise
    return connection


def open_versioned(path: Path, what: str, steps: Sequence[str]) -> sqlite3.Connection:
    """Open the database at `path`, or make it; one of an older version is brought to this one.

    All steps are taken or none. A commit survives a power cut.

    Args:
        path: The file.
        what: Names the database in messages.
        steps: The SQL that makes each version out of the one before; a new file takes them all.

    Raises:
        UnavailableError: It cannot be opened, is no sound database, or is of a newer version.
    """
    with translated(f"{what} {path}", damaged=UnavailableError):
        connection = connect(path, Synchronous.FULL)
        try:
            _bring_up(connection, f"{what} {path}", steps)
        except BaseException:
            connection.close()
            raise
    return connection


def _bring_up(connection: sqlite3.Connection, what: str, steps: Sequence[str]) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not 0 <= version <= len(steps):
        raise UnavailableError(f"{what} has schema {version}, this version reads {len(steps)}")
    if version < len(steps):
        script = "".join(steps[version:])
        connection.executescript(f"BEGIN; {script} PRAGMA user_version={len(steps)}; COMMIT;")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is executed inside as one, or leave no trace of it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back on some errors
            connection.execute("ROLLBACK")
        raise


@contextmanager
def translated(what: str, *, damaged: type[WaysealError] = RejectedError) -> Iterator[None]:
    """Turn SQLite's errors into ours.

    Args:
        what: Names the database in messages.
        damaged: What a file that is no sound database means; for a cache, that it can come back.

    Raises:
        UnavailableError: The disk is full, the medium failed, or another connection is writing.
    """
    try:
        yield
    except (sqlite3.OperationalError, OSError) as error:
        raise UnavailableError(f"{what}: {error}") from error
    except sqlite3.Error as error:
        raise damaged(f"{what}: {error}") from error
